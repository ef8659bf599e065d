import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  openSync,
  readdirSync,
  renameSync,
} from "node:fs";
import { dirname, join, parse } from "node:path";
import type { Deps } from "../deps.js";
import { type BrandapiError, ConfigurationError, MirrorUnusable } from "../errors.js";
import { quoteShellWord } from "../util/format-text.js";
import { errorReason, writeHint } from "../util/system-errors.js";
import { connect, findDamage, loadInfo, loadJsonInfo, type Mirror, withMirror } from "./database.js";
import { isWritable, moveLogFiles } from "./mirror-files.js";
import { loadFirstReadAt } from "./runs.js";
import { schemaVersion } from "./schema.js";
import { sqliteProblemKind } from "./sqlite-errors.js";

/**
 * Makes a consistent copy of a mirror, even during a sync, and checks it for damage.
 * @param copyPath the path of the copy (mode 0600), reserved with `reserveTempFile`
 * @param runGracefully wraps the copying, so that a signal does not leave an incomplete copy behind
 * @returns the number of records
 * @throws MirrorUnusable if the file is not a mirror, or if the copy is damaged or incomplete; ConfigurationError if
 * the folder is not writable or the disk is full
 */
export async function copyMirror(
  mirrorPath: string,
  copyPath: string,
  runGracefully: Deps["runGracefully"] = (work) => work(),
): Promise<number> {
  try {
    const summary = await writeCopy(mirrorPath, copyPath, runGracefully);
    await checkCopy(copyPath, summary, mirrorPath);
    return Number.parseInt(summary, 10);
  } catch (error) {
    throw explainCopyError(error, mirrorPath, dirname(copyPath)) ?? error;
  }
}

async function writeCopy(
  mirrorPath: string,
  copyPath: string,
  runGracefully: Deps["runGracefully"],
): Promise<string> {
  return await withMirror(connect(mirrorPath, { readonly: !isWritable(mirrorPath) }), async (mirror) => {
    if (schemaVersion(mirror) === "none")
      throw createCopyError(mirrorPath, "it is empty", "run `brandapi sync` first");
    // The rows are counted and copied in the same transaction. VACUUM INTO would be simpler, but cannot run in a
    // transaction.
    mirror.db.exec("BEGIN");
    const summary = summarizeRows(mirror);
    // If a signal arrives during the backup, the program stops at the next step and removes the incomplete copy.
    await runGracefully(async () => {
      createEmptyFile(copyPath);
      await mirror.db.backup(copyPath);
    });
    return summary;
  });
}

async function checkCopy(copyPath: string, summary: string, mirrorPath: string): Promise<void> {
  await withMirror(connect(copyPath), (mirror) => {
    // Turn off WAL mode, because a copy in WAL mode could not be opened in a read-only folder.
    mirror.db.pragma("journal_mode = DELETE");
    const hasAllRows = summarizeRows(mirror) === summary;
    const damage = findDamage(mirror) ?? (hasAllRows ? null : "the copy's rows differ from the mirror's");
    if (damage !== null) throw createCopyError(mirrorPath, damage, "run `brandapi doctor`");
  });
}

function summarizeRows(mirror: Mirror): string {
  const select = `SELECT concat_ws(' ', (SELECT count(*) FROM records), (SELECT count(*) FROM record_versions),
    (SELECT count(*) FROM changes), (SELECT group_concat(run_id || outcome) FROM sync_runs))`;
  return mirror.selectValue<string>(select) ?? "";
}

function createEmptyFile(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (cause) {
    throw new ConfigurationError(`Cannot write to the folder ${dirname(path)}: ${errorReason(cause)}`, {
      hint: writeHint(cause),
      cause,
    });
  }
}

/** Explains an error that SQLite threw while a mirror was being copied. Returns null for other errors. */
export function explainCopyError(error: unknown, mirrorPath: string, folder: string): BrandapiError | null {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  const problem = sqliteProblemKind(cause);
  if (problem === "damaged")
    return createCopyError(mirrorPath, errorReason(cause), "run `brandapi doctor`", cause);
  if (problem !== "full" && problem !== "disk") return null;
  return new ConfigurationError(`Cannot write a copy to the folder ${folder}: ${errorReason(cause)}`, {
    hint: "free some space on that disk, or choose a different folder",
    cause,
  });
}

function createCopyError(mirrorPath: string, reason: string, hint: string, cause?: unknown): MirrorUnusable {
  return new MirrorUnusable(`The mirror cannot be copied (${reason}): ${mirrorPath}`, { hint, cause });
}

export interface Backup {
  at: string;
  path: string;
}

export function backupFolder(path: string): string {
  return join(dirname(path), "backups");
}

/**
 * Returns a backup's file name, such as `default-20261122T120000000Z.sqlite`.
 * @param at an ISO 8601 timestamp
 */
export function backupName(path: string, at: string, infix = ""): string {
  return `${parse(path).name}${infix}-${at.replace(/[-:.]/g, "")}.sqlite`;
}

export function isBackupName(name: string, path: string): boolean {
  return name.replace(/\d{8}T\d+Z\.sqlite$/, "") === `${parse(path).name}-`;
}

/**
 * Returns the brand ID and the time of the first read. Together they identify a mirror and its copies. Returns null if
 * the mirror is empty.
 */
export function loadOrigin(mirror: Mirror): string | null {
  const first = loadFirstReadAt(mirror);
  return first === null ? null : `${loadInfo(mirror, "brand_id")} ${first}`;
}

/**
 * Replaces a mirror with another file, and keeps the old mirror at `aside`. The original path refers to a mirror at all
 * times.
 */
export function replaceMirror(file: string, realPath: string, aside: string): void {
  try {
    if (existsSync(realPath)) linkSync(realPath, aside);
  } catch {
    copyFileSync(realPath, aside, constants.COPYFILE_EXCL);
  }
  moveLogFiles(realPath, aside);
  renameSync(file, realPath);
}

export function findLastBackup(mirror: Mirror): Backup | null {
  const last = loadJsonInfo<Backup>(mirror, "last_backup");
  return last && existsSync(last.path) ? last : null;
}

/**
 * Returns a hint with the command that restores a mirror's last known backup, even if the mirror is damaged or missing.
 * Returns null if no backup is known.
 */
export async function lastBackupHint(path: string): Promise<string | null> {
  const backupPath = await findBackupPath(path);
  return backupPath && `restore the last backup: \`brandapi backup --restore ${quoteShellWord(backupPath)}\``;
}

async function findBackupPath(path: string): Promise<string | null> {
  const last = await withMirror(connect(path, { readonly: true }), findLastBackup).catch(() => null);
  if (last) return last.path;
  const folder = backupFolder(path);
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => isBackupName(name, path)) : [];
  const newest = names.sort().at(-1);
  return newest === undefined ? null : join(folder, newest);
}
