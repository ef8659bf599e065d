import { closeSync, existsSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
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
 * Copies a mirror as it is at one instant, beside a running sync, into a new file (0600) of a folder, and checks the copy.
 * It is removed when `use` is done, if that has not given it another name.
 * @returns the number of records
 * @throws MirrorUnusable if it is no mirror, or the copy is damaged or differs from it
 */
export async function withCopy(
  from: string,
  folder: string,
  random: () => number,
  use: (copy: string) => Promise<void>,
): Promise<number> {
  // The next copy in this folder clears away what a killed process left of this one.
  const part = await beginPart(join(folder, "mirror.sqlite"), random);
  try {
    const records = await withFile(from, (mirror) => copyChecked(mirror, part));
    await use(part);
    return records;
  } catch (error) {
    throw /^SQLITE_(CORRUPT|FULL|IOERR)/.test(codeOf(error))
      ? failed(`${from}, into ${folder}`, wordsOf(error))
      : error;
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
    if (damage !== null) throw failed(mirror.path, damage);
    return Number(copy.db.prepare("SELECT count(*) FROM records").pluck().get());
  });
}

function failed(from: string, words: string): MirrorUnusable {
  return new MirrorUnusable(`No sound copy can be made (${words}): ${from}`, {
    hint: "free some space, choose another backup, or see `brandapi doctor`; nothing was kept of this copy",
  });
}

/** A copy of a mirror. `at`: ISO 8601. */
interface Backup {
  at: string;
  path: string;
}

/** Returns the copy that was made last; null if there was none, or it cannot be found. */
export function lastBackup(mirror: Mirror): Backup | null {
  const last: Backup | null = JSON.parse(readInfo(mirror, "last_backup") ?? "null");
  return last && existsSync(last.path) ? last : null;
}

export function noteBackup(mirror: Mirror, backup: Backup): void {
  mirror.transaction(() => writeInfo(mirror, "last_backup", JSON.stringify(backup)));
}
