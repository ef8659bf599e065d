import { existsSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { type Command, Option } from "commander";
import { parseCount, parsedOption } from "../cli/flags.js";
import { TerminalReporter } from "../cli/progress.js";
import { withReadSession } from "../cli/read-session.js";
import { expandPath } from "../config/folders.js";
import { type GlobalFlags, readSettings, type Settings } from "../config/settings.js";
import type { Context, Deps } from "../deps.js";
import { ConfigurationError, MirrorUnusable, Stopped, UsageError } from "../errors.js";
import {
  type Backup,
  backupFolder,
  backupName,
  copyMirror,
  explainCopyError,
  isBackupName,
  lastBackupHint,
  loadOrigin,
  replaceMirror,
} from "../store/backups.js";
import { connect, loadInfo, type Mirror, saveInfo, saveJsonInfo, withMirror } from "../store/database.js";
import { isWritable, readFileId, resolveMirrorPath } from "../store/mirror-files.js";
import { lockMirror } from "../store/mirror-lock.js";
import { openMirror } from "../store/open.js";
import { loadOwner } from "../store/owner.js";
import { redactMirror, scrubFile } from "../store/redact-mirror.js";
import { loadRedactionRules } from "../store/redaction-rules.js";
import { createFolder, pathExists } from "../util/files.js";
import { pluralize, quoteShellWord } from "../util/format-text.js";
import { errorCode } from "../util/system-errors.js";
import { reserveTempFile } from "../util/temp-files.js";
import { escapeLines, printJson } from "../util/terminal.js";
import { formatInstant } from "../util/timestamps.js";

type BackupFlags = GlobalFlags & { keep: number; restore?: string };

export const about =
  "The copy is a consistent snapshot. It is checked before it gets its final name. It does not contain the API key.";

export const examples = {
  "brandapi backup /mnt/disk/brandapi --keep 30": "keep 30 copies on another disk",
  "brandapi backup --restore FILE": "replace the mirror with a backup",
};

export function define(command: Command): void {
  const restore = "replace the mirror with this copy, and keep the current mirror next to it";
  command
    .argument("[dir]", "an existing folder (default: `backups` next to the mirror)")
    .addOption(
      parsedOption("--keep <n>", "number of copies to keep in the folder; 0 keeps all", parseCount).default(
        7,
      ),
    )
    .addOption(new Option("--restore <file>", restore).conflicts("keep"));
}

export async function run(flags: BackupFlags, { deps }: Context, dir: string | undefined): Promise<void> {
  const { json, quiet, restore: file } = flags;
  if (dir !== undefined && file !== undefined)
    throw new UsageError("`--restore` does not take a folder.", { hint: "omit `--restore` or the folder" });
  if (dir === "") throw new UsageError("The folder's path is empty.", { hint: "pass a folder, or omit it" });
  const settings = readSettings(flags, deps);
  const { text, ...done } =
    file === undefined
      ? await backUp(dir, flags, settings, deps)
      : await restore(file, flags, settings, deps);
  if (json) printJson(deps.stdout, done);
  else if (!quiet) deps.stdout.write(`${escapeLines(text)}\n`);
}

/** Copies the mirror to a folder, and keeps only the newest copies (`--keep`). */
async function backUp(dir: string | undefined, flags: BackupFlags, { dbPath }: Settings, deps: Deps) {
  const { keep } = flags;
  const origin = await withReadSession(flags, deps, async ({ mirror }) => loadOrigin(mirror));
  const folder = dir === undefined ? backupFolder(dbPath) : expandPath(dir, deps);
  if (dir === undefined) createFolder(folder, 0o700);
  else if (!pathExists(folder))
    throw new ConfigurationError(`The folder does not exist: ${folder}`, {
      hint: `run \`mkdir -p ${quoteShellWord(folder)}\`, or choose a different folder`,
    });
  const older = await listBackups(folder, dbPath, origin);
  const at = formatInstant(deps.clock.now());
  const path = join(folder, backupName(dbPath, at));
  // The backup is recorded in the copy as well, because the mirror may be missing or damaged by the time the copy is
  // restored.
  const isRecorded = isWritable(dbPath);
  const makeBackup = async () => {
    const copyPath = await reserveTempFile(join(folder, "mirror.sqlite"), deps.random);
    const recordCount = await copyMirror(dbPath, copyPath, deps.runGracefully);
    await recordBackup(copyPath, { at, path }, deps).catch((error: unknown) => {
      throw explainCopyError(error, dbPath, folder) ?? error;
    });
    if (isRecorded) await recordBackup(dbPath, { at, path }, deps);
    renameSync(copyPath, path);
    return recordCount;
  };
  const records = await runOnCopy(dbPath, deps, makeBackup).catch((error: unknown) => {
    // The copy is renamed in the last step, so a copy with its final name is complete even after a signal.
    if (!(error instanceof Stopped) || !existsSync(path)) throw error;
    throw new Stopped(error.signalName, `the backup is complete and has been kept: ${path}`);
  });
  const removed = keep === 0 ? [] : [...older, path].slice(0, -keep);
  for (const backup of removed) rmSync(backup, { force: true });
  const lines = [
    `${path}: ${pluralize(records, "record")}, checked`,
    ...removed.map((old) => `removed: ${old}`),
    ...(isRecorded ? [] : ["The mirror is read-only, so `brandapi status` does not list this backup."]),
  ];
  return { path, at, records, removed, text: lines.join("\n") };
}

/** A mirror up to this size can be copied and checked in about a second, so a signal can wait for that. */
const smallMirrorBytes = 200 * 2 ** 20;

/**
 * Runs `work`, which copies a mirror and checks the copy. If the mirror is small, a signal stops the command only after
 * the check, and the copy is removed. Otherwise, a signal during the check ends the process at once, and the next
 * backup removes the copy.
 */
async function runOnCopy<T>(mirrorPath: string, deps: Deps, work: () => Promise<T>): Promise<T> {
  const isSmall = statSync(mirrorPath).size < smallMirrorBytes;
  return await (isSmall ? deps.runGracefully(work) : work());
}

/** The maximum number of seconds to wait for a lock that another program holds. */
const maxWaits = 30;

/**
 * Records a backup in a mirror. Getting the write lock can take several seconds, because a sync without a rate limit
 * writes almost continuously.
 */
async function recordBackup(file: string, backup: Backup, { signal }: Deps): Promise<void> {
  for (let waits = 1; ; waits += 1)
    try {
      return await withMirror(connect(file), (mirror) => {
        mirror.transaction(() => saveJsonInfo(mirror, "last_backup", backup));
      });
    } catch (error) {
      if (errorCode(error) !== "SQLITE_BUSY" || waits === maxWaits) throw error;
      await setImmediate();
      signal.throwIfAborted();
    }
}

/**
 * Returns the paths of this mirror's backups in a folder, oldest first. Skips backups of other mirrors that have the
 * same file name.
 */
async function listBackups(folder: string, dbPath: string, origin: string | null): Promise<string[]> {
  const backups: string[] = [];
  for (const name of readdirSync(folder).sort()) {
    const path = join(folder, name);
    if (!isBackupName(name, dbPath) || resolveMirrorPath(path) === resolveMirrorPath(dbPath)) continue;
    const backupOrigin = await withMirror(connect(path), loadOrigin).catch(() => null);
    if (backupOrigin !== null && backupOrigin === origin) backups.push(path);
  }
  return backups;
}

/**
 * Replaces the mirror with a copy of a backup, and keeps the current mirror next to it. Hosts that were forgotten after
 * the backup are erased from the copy.
 * @throws MirrorUnusable if the backup is damaged or belongs to another brand, in which case nothing is changed
 */
async function restore(file: string, flags: BackupFlags, { brand, dbPath }: Settings, deps: Deps) {
  const reporter = new TerminalReporter(deps, flags);
  const from = expandPath(file, deps);
  if (!pathExists(from)) {
    const hint = await lastBackupHint(resolveMirrorPath(dbPath));
    throw new MirrorUnusable(`The backup does not exist: ${from}`, {
      hint: hint ?? "pass the path of a file that `brandapi backup` wrote",
    });
  }
  if (!statSync(from).isFile())
    throw new MirrorUnusable(`The backup is not a file: ${from}`, { hint: "pass a file to `--restore`" });
  const mirrorPath = resolveMirrorPath(dbPath);
  if (readFileId(from) === readFileId(mirrorPath))
    throw new UsageError(`${from} is the mirror itself; nothing was changed.`, {
      hint: `pass a backup to \`--restore\`; backups are in ${backupFolder(mirrorPath)} unless you chose a different folder`,
    });
  const replacedPath = `${mirrorPath}.before-${deps.clock.now()}`;
  const lock = await lockMirror(mirrorPath, deps);
  try {
    const keptPath = existsSync(mirrorPath) ? replacedPath : null;
    const current = keptPath === null ? null : await loadCurrentMirror(mirrorPath);
    const copyPath = await reserveTempFile(join(dirname(mirrorPath), "mirror.sqlite"), deps.random);
    await runOnCopy(from, deps, async () => {
      await copyMirror(from, copyPath, deps.runGracefully).catch((error: unknown) => {
        if (!(error instanceof MirrorUnusable)) throw error;
        const hint = "choose a different backup; the mirror has not been changed";
        throw new MirrorUnusable(error.message.replace(/^The mirror /, "The backup "), {
          hint,
          cause: error,
        });
      });
      await withMirror(openMirror(copyPath, { isCopy: true, reporter }), (mirror) => {
        checkBackupBrand(mirror, from, current, brand, reporter);
        copyMirrorState(mirror, current, mirrorPath, reporter);
      });
    });
    if (!current)
      reporter.warn(
        "hosts that were forgotten after this backup must be forgotten again: `brandapi forget --host ID`",
      );
    const replace = async () => {
      // When the journal mode is changed, SQLite checkpoints and removes the write-ahead log, so the mirror becomes a
      // single file. The change fails if another program has the mirror open.
      if (current)
        await withMirror(connect(mirrorPath), (mirror) => mirror.db.pragma("journal_mode = DELETE"));
      replaceMirror(copyPath, mirrorPath, replacedPath);
    };
    await deps.runGracefully(replace, `the mirror has been restored from ${from}`);
    if (keptPath)
      reporter.note(
        `The previous mirror has been kept. To undo, run \`brandapi backup --restore ${quoteShellWord(keptPath)}\`.`,
      );
    reporter.note("Next: run `brandapi sync` to read newer data.");
    return { db: mirrorPath, restored: from, kept: keptPath, text: `${mirrorPath}: restored from ${from}` };
  } finally {
    lock.release();
    reporter.close();
  }
}

interface CurrentMirror extends ReturnType<typeof loadRedactionRules> {
  brandId: string | null;
  lastBackup: string | null;
  /** Identifies the mirror (see `loadOrigin`). Null if nothing has been read, or if the runs cannot be loaded. */
  origin: string | null;
}

/** Returns the data that a restore needs from the current mirror. Returns null if the mirror is damaged. */
async function loadCurrentMirror(path: string): Promise<CurrentMirror | null> {
  try {
    const current = await withMirror(connect(path), (mirror) => {
      const brandId = loadOwner(mirror)?.id ?? null;
      return { brandId, lastBackup: loadInfo(mirror, "last_backup"), ...loadRedactionRules(mirror) };
    });
    return { ...current, origin: await withMirror(connect(path), loadOrigin).catch(() => null) };
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    if (/^SQLITE_(CORRUPT|NOTADB|ERROR)/.test(errorCode(cause))) return null;
    throw error;
  }
}

/**
 * Throws MirrorUnusable if the backup belongs to another brand. Warns if the backup was made from a different mirror of
 * this brand.
 */
function checkBackupBrand(
  copy: Mirror,
  from: string,
  current: CurrentMirror | null,
  brand: Settings["brand"],
  { warn }: TerminalReporter,
): void {
  const { id, name } = loadOwner(copy) ?? { id: null, name: null };
  if (id !== (current?.brandId ?? brand?.id ?? id))
    throw new MirrorUnusable(`The backup belongs to another brand, ${name} (${id}): ${from}`, {
      hint: "choose a different backup, or use that brand's profile: `--profile NAME`",
    });
  if (current && current.origin !== null && loadOrigin(copy) !== current.origin)
    warn(`the backup was made from a different mirror of this brand, with a separate history: ${from}`);
}

/** Applies the current mirror's redaction rules to the copy, and records the current mirror's last backup in it. */
function copyMirrorState(
  copy: Mirror,
  current: CurrentMirror | null,
  mirrorPath: string,
  { warn }: TerminalReporter,
): void {
  if (current) {
    const { forgotten, omit } = current;
    // If the current mirror has no list of omitted fields, the copy keeps the list from the backup. The next sync
    // applies the profile's list.
    const { warnings } = redactMirror(copy, forgotten, omit.length > 0 ? omit : undefined);
    for (const warning of warnings) warn(warning);
  }
  if (!scrubFile(copy))
    throw new MirrorUnusable(`The disk is full: ${mirrorPath}`, { hint: "free some disk space" });
  const lastBackup = current?.lastBackup;
  if (lastBackup) copy.transaction(() => saveInfo(copy, "last_backup", lastBackup));
  // The write-ahead log may still contain erased data, so it is removed.
  copy.db.pragma("journal_mode = DELETE");
}
