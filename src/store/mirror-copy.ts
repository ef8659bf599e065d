import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  openSync,
  renameSync,
  statSync,
} from "node:fs";
import { dirname, join, parse } from "node:path";
import type { Deps } from "../deps.js";
import { MirrorUnusable } from "../errors.js";
import { createFolder } from "../util/files.js";
import { errorCode, errorReason } from "../util/system-errors.js";
import { releaseTempFile, reserveTempFile } from "../util/temp-files.js";
import { type Mirror, readInfo, withMirrorFile } from "./database.js";
import { moveLogFiles, resolveMirrorPath } from "./mirror-files.js";
import { checkIdentity, findDamage, schemaVersion } from "./schema.js";

/** The number of records, of their versions and of changes, and all runs: one text. */
const contents = `SELECT concat_ws(' ', (SELECT count(*) FROM records), (SELECT count(*) FROM record_versions),
  (SELECT count(*) FROM changes), (SELECT group_concat(run_id || outcome) FROM sync_runs))`;

/**
 * Copies a mirror as it is at one instant, beside a running sync, and checks the copy.
 * @returns the copy (0600) and its number of records. The program removes it when it ends, unless it was renamed
 * @throws MirrorUnusable if it is no mirror, or the copy is damaged or differs from it
 */
export async function copyMirror(
  from: string,
  folder: string,
  { random, withSignals }: Pick<Deps, "random" | "withSignals">,
) {
  // The next copy into this folder clears away what a killed process left of this one.
  const copy = await reserveTempFile(join(folder, "mirror.sqlite"), random);
  const read = ({ db }: Mirror) => db.prepare(contents).pluck().get() as string;
  const unsound = (why: string) =>
    new MirrorUnusable(`No sound copy can be made (${why}): ${from}`, {
      hint: "free some space, choose another backup, or see `brandapi doctor`; nothing was kept of this copy",
    });
  const refuse = (error: Error) => {
    const cause = error.cause ?? error;
    throw /^SQLITE_(CORRUPT|FULL|IOERR)/.test(errorCode(cause)) ? unsound(errorReason(cause)) : error;
  };
  const expected = await withMirrorFile(from, async (mirror) => {
    checkIdentity(mirror);
    if (schemaVersion(mirror) === "none") throw unsound("it is empty");
    closeSync(openSync(copy, "wx", 0o600));
    // SQLite copies what an open transaction sees. VACUUM INTO cannot run in one, so its copy could not be compared.
    mirror.db.exec("BEGIN");
    const stored = read(mirror);
    // SQLite copies in small steps: a signal between them stops the program, which then removes the copy.
    await withSignals("clean", () => mirror.db.backup(copy));
    return stored;
  }).catch(refuse);
  await withMirrorFile(copy, (copied) => {
    // A file in WAL mode could not be opened in a folder that is not writable.
    copied.db.pragma("journal_mode = DELETE");
    const damage = findDamage(copied) ?? (read(copied) === expected ? null : "its rows differ");
    if (damage !== null) throw unsound(damage);
  }).catch(refuse);
  return { copy, records: Number.parseInt(expected, 10) };
}

/**
 * Copies a mirror of an older version into the folder `backups` next to it. `backup --keep` never deletes this copy.
 * @returns its path, and when it was made (ISO 8601)
 */
export async function backUpBeforeMigration({ path }: Mirror): Promise<{ at: string; path: string }> {
  const place = resolveMirrorPath(path);
  const folder = join(dirname(place), "backups");
  createFolder(folder, 0o700);
  // A killed process leaves a temporary copy, which the next copy into the folder removes.
  const withSignals: Deps["withSignals"] = (_mode, work) => work();
  const { copy } = await copyMirror(place, folder, { random: () => 0, withSignals });
  const at = statSync(copy).mtime.toISOString();
  const name = `${parse(place).name}-before-migration-${at.replace(/[-:.]/g, "")}.sqlite`;
  const backup = join(folder, name);
  renameSync(copy, backup);
  releaseTempFile(copy);
  return { at, path: backup };
}

/** Puts a file in a mirror's place, which is never empty meanwhile. The present mirror is kept under another name. */
export function replaceMirror(file: string, place: string, aside: string): void {
  try {
    if (existsSync(place)) linkSync(place, aside);
  } catch {
    // Some disks have no links.
    copyFileSync(place, aside, constants.COPYFILE_EXCL);
  }
  moveLogFiles(place, aside);
  renameSync(file, place);
}

/** Returns the copy that was made last (`at`: ISO 8601); null if there was none, or it cannot be found. */
export function lastBackup(mirror: Mirror): { at: string; path: string } | null {
  const last: { at: string; path: string } | null = JSON.parse(readInfo(mirror, "last_backup") ?? "null");
  return last && existsSync(last.path) ? last : null;
}
