import { closeSync, existsSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { MirrorUnusable } from "../errors.js";
import { codeOf, wordsOf } from "../lib/failures.js";
import { beginPart, endPart } from "../lib/parts.js";
import { withFile } from "./connect.js";
import { readInfo, writeInfo } from "./info.js";
import type { Mirror } from "./mirror.js";
import { mirrorFiles } from "./place.js";
import { checkIdentity, findDamage, schemaVersion } from "./version.js";

/** The number of rows of the records and of their history, and the last run of each resource. */
const contents = `SELECT 'records', count(*) FROM records
  UNION ALL SELECT 'versions', count(*) FROM record_versions
  UNION ALL SELECT 'changes', count(*) FROM changes
  UNION ALL SELECT resource || outcome, max(run_id) FROM sync_runs GROUP BY resource`;

/**
 * Copies a mirror as it is at one instant, beside a running sync, into a new file (0600). The copy gets its name when it has
 * been checked, and prepared.
 * @returns the number of records
 * @throws MirrorUnusable if it is no mirror, or the copy is damaged or differs from it: nothing is left of the copy
 */
export async function copyMirror(
  from: string,
  to: string,
  random: () => number,
  prepare: (copy: string) => Promise<void>,
): Promise<number> {
  const part = await beginPart(join(dirname(to), "mirror.sqlite"), random);
  try {
    const records = await withFile(from, (mirror) => copyChecked(mirror, part));
    await prepare(part);
    renameSync(part, to);
    return records;
  } catch (error) {
    throw codeOf(error).startsWith("SQLITE_CORRUPT") ? damaged(from, wordsOf(error)) : error;
  } finally {
    for (const file of mirrorFiles(part)) rmSync(file, { force: true });
    endPart(part);
  }
}

async function copyChecked(mirror: Mirror, part: string): Promise<number> {
  const read = ({ db }: Mirror) => JSON.stringify(db.prepare(contents).all());
  checkIdentity(mirror);
  if (schemaVersion(mirror) === "none")
    throw new MirrorUnusable(`The file is empty: ${mirror.path}`, { hint: "choose another backup" });
  closeSync(openSync(part, "wx", 0o600));
  // SQLite copies what an open transaction sees. VACUUM INTO takes none, so its copy could not be compared.
  mirror.db.exec("BEGIN");
  const expected = read(mirror);
  await mirror.db.backup(part);
  return await withFile(part, (copy) => {
    // A file in WAL mode could not be opened in a folder that is not writable.
    copy.db.pragma("journal_mode = DELETE");
    const damage = findDamage(copy) ?? (read(copy) === expected ? null : "other rows");
    if (damage !== null) throw damaged(mirror.path, damage);
    return Number(copy.db.prepare("SELECT count(*) FROM records").pluck().get());
  });
}

function damaged(from: string, words: string): MirrorUnusable {
  return new MirrorUnusable(`The copy is damaged (${words}): ${from}`, {
    hint: "nothing was kept of it: see `brandapi doctor`, or choose another backup",
  });
}

/** A copy of a mirror. `at`: ISO 8601. */
interface Backup {
  at: string;
  path: string;
}

/** Returns the copies that were made of a mirror and are still there, the oldest first. */
export function readBackups(mirror: Mirror): Backup[] {
  const made: Backup[] = JSON.parse(readInfo(mirror, "backups") ?? "[]");
  return made.filter(({ path }) => existsSync(path));
}

export function noteBackups(mirror: Mirror, backups: readonly Backup[]): void {
  mirror.transaction(() => writeInfo(mirror, "backups", JSON.stringify(backups)));
}
