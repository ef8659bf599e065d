import { type Covered, everything, lastRead, type Range } from "../lib/ranges.js";
import { type Mirror, readInfo, statement, writeInfo } from "../mirror/index.js";
import { countPresent, parameters, present } from "./counting.js";

/** A present record that the newest reading of its date did not show; `dated` in milliseconds, null without a date. */
export interface Missing {
  id: number;
  dated: number | null;
}

/** Returns the ids of the present records of a range. */
export function presentIds(mirror: Mirror, resource: string, range: Range = everything): number[] {
  const select = statement(mirror, `SELECT record_id FROM records WHERE ${present(range)}`).pluck();
  return select.all(...parameters(resource, range)) as number[];
}

/**
 * Notes records that a reading did not show, with the time they were last shown. Nothing is removed.
 * @param before the coverage before that reading
 */
export function noteMissing(
  mirror: Mirror,
  resource: string,
  ids: Iterable<number>,
  before: readonly Covered[],
): void {
  const note = statement(mirror, "INSERT OR IGNORE INTO missing VALUES (?, ?, ?)");
  const dated = statement(mirror, "SELECT dated_at FROM records WHERE record_id = ?").pluck();
  for (const id of ids) note.run(resource, id, lastRead(before, dated.get(id) as number | null));
}

/** Returns when a missing record was last shown, ISO 8601; null if that is not known or the record is not missing. */
export function lastSeen(mirror: Mirror, resource: string, id: number): string | null {
  const find = statement(mirror, "SELECT last_seen_at FROM missing WHERE resource = ? AND record_id = ?");
  return (find.pluck().get(resource, id) as string | null | undefined) ?? null;
}

/** Takes the records that a reading showed off the list of missing ones. */
export function forgetMissing(mirror: Mirror, resource: string, shown: Iterable<number>): void {
  const any = statement(mirror, "SELECT 1 FROM missing WHERE resource = ? LIMIT 1").get(resource);
  if (any === undefined) return;
  const forget = statement(mirror, "DELETE FROM missing WHERE resource = ? AND record_id = ?");
  for (const id of shown) forget.run(resource, id);
}

export function clearMissing(mirror: Mirror, resource: string): void {
  statement(mirror, "DELETE FROM missing WHERE resource = ?").run(resource);
}

export function readMissing(mirror: Mirror, resource: string): Missing[] {
  const select = `SELECT record_id AS id, dated_at AS dated FROM missing AS m JOIN records AS r USING (record_id)
    WHERE m.resource = ? AND r.removed_at IS NULL`;
  return statement(mirror, select).all(resource) as Missing[];
}

/** Returns how many records of a range are present and not missing. @param flags only those with these bits */
export function countFound(mirror: Mirror, resource: string, range: Range, flags: number): number {
  // Looked up by their ids, because a range may hold a million other records.
  const select = `SELECT count(*) FROM records NOT INDEXED WHERE ${present(range)} AND flags & ? = ?
    AND record_id IN (SELECT record_id FROM missing WHERE resource = ?)`;
  const missing = statement(mirror, select)
    .pluck()
    .get(...parameters(resource, range), flags, flags, resource) as number;
  return countPresent(mirror, resource, range, flags) - missing;
}

/** Notes the newest record of a mirror at the end of a verified run. Ids only grow. */
export function noteKnown(mirror: Mirror, resource: string): void {
  const newest = statement(mirror, "SELECT coalesce(max(record_id), 0) FROM records").pluck().get();
  writeInfo(mirror, `known:${resource}`, String(newest));
}

/** Returns how many present records the last verified run knew, and all present ones if there was none. */
export function countKnown(mirror: Mirror, resource: string): { newest: number; count: number } {
  const newest = Number(readInfo(mirror, `known:${resource}`) ?? Number.MAX_SAFE_INTEGER);
  const older = `SELECT count(*) FROM records WHERE resource = ? AND removed_at IS NULL AND record_id <= ?`;
  return { newest, count: statement(mirror, older).pluck().get(resource, newest) as number };
}
