import { closeSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { MirrorUnusable } from "../errors.js";
import { beginPart, endPart } from "../lib/parts.js";
import { connect } from "./connect.js";
import { readInfo } from "./info.js";
import { findDamage } from "./integrity.js";
import type { Mirror } from "./mirror.js";
import { mirrorFiles } from "./place.js";

/** The number of rows of the records and of their history, and the last run of each resource. */
const contents = `SELECT 'records', count(*) FROM records
  UNION ALL SELECT 'versions', count(*) FROM record_versions
  UNION ALL SELECT 'changes', count(*) FROM changes
  UNION ALL SELECT resource || outcome, max(run_id) FROM sync_runs GROUP BY resource`;

/**
 * Copies a mirror as it is at one instant, beside a running sync, into a new file (0600). It gets its name when it has been
 * checked, and prepared.
 * @returns the number of records
 * @throws MirrorUnusable if the copy is damaged or differs from the mirror: nothing is left of it
 */
export async function copyMirror(
  from: string,
  to: string,
  random: () => number,
  prepare?: (copy: string) => Promise<void>,
): Promise<number> {
  const read = ({ db }: Mirror) => JSON.stringify(db.prepare(contents).all());
  const mirror = await connect(from, false);
  const part = await beginPart(join(dirname(to), "mirror.sqlite"), random);
  try {
    closeSync(openSync(part, "wx", 0o600));
    // SQLite copies what an open transaction sees. VACUUM INTO takes none, so its copy could not be compared.
    mirror.db.exec("BEGIN");
    const expected = read(mirror);
    await mirror.db.backup(part);
    const copy = await connect(part, false);
    // A file in WAL mode could not be opened in a folder that is not writable.
    copy.db.pragma("journal_mode = DELETE");
    const records = copy.db.prepare<[], number>("SELECT count(*) FROM records").pluck().get() ?? 0;
    const damage = findDamage(copy) ?? (read(copy) === expected ? null : "other rows");
    copy.db.close();
    if (damage !== null)
      throw new MirrorUnusable(`The copy is damaged (${damage}): ${from}`, {
        hint: "nothing was kept of it: see `brandapi doctor`, or choose another backup",
      });
    await prepare?.(part);
    renameSync(part, to);
    return records;
  } finally {
    mirror.db.close();
    for (const file of mirrorFiles(part)) rmSync(file, { force: true });
    endPart(part);
  }
}

/** Returns the copies that were made of a mirror, and not removed since, the newest last. `at`: ISO 8601. */
export function readBackups(mirror: Mirror): { at: string; path: string }[] {
  return JSON.parse(readInfo(mirror, "backups") ?? "[]");
}
