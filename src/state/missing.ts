import { type Covered, everything, lastRead, type Range } from "../lib/ranges.js";
import { type Mirror, readInfo, statement, writeInfo } from "../mirror/index.js";
import { countPresent, parameters, present } from "./counting.js";

/** A present record that the newest reading of its date did not show; `dated` in milliseconds, null without a date. */
export interface Missing {
  id: number;
  dated: number | null;
}

export function presentIds(mirror: Mirror, resource: string, range: Range = everything): number[] {
  return statement(mirror, `SELECT record_id FROM records WHERE ${present(range)}`)
    .pluck()
    .all(...parameters(resource, range)) as number[];
}

/**
 * Notes who a reading did not find. Nothing is removed yet.
 * @param before what was read before that
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

/** When a missing record was last shown, as far as it was noted. */
export function lastSeen(mirror: Mirror, resource: string, id: number): string | null {
  const found = statement(mirror, "SELECT last_seen_at FROM missing WHERE resource = ? AND record_id = ?");
  return (found.pluck().get(resource, id) as string | null | undefined) ?? null;
}

/** Who was found is not missing. */
export function forgetMissing(mirror: Mirror, resource: string, found: Iterable<number>): void {
  if (statement(mirror, "SELECT 1 FROM missing WHERE resource = ? LIMIT 1").get(resource) === undefined)
    return;
  const forget = statement(mirror, "DELETE FROM missing WHERE resource = ? AND record_id = ?");
  for (const id of found) forget.run(resource, id);
}

export function readMissing(mirror: Mirror, resource: string): Missing[] {
  return statement(
    mirror,
    `SELECT record_id AS id, dated_at AS dated FROM missing AS m JOIN records AS r USING (record_id)
       WHERE m.resource = ? AND r.removed_at IS NULL`,
  ).all(resource) as Missing[];
}

/** Notes who is known: all that the mirror holds by now. Ids only ever grow. */
export function noteKnown(mirror: Mirror, resource: string): void {
  const newest = statement(mirror, "SELECT coalesce(max(record_id), 0) FROM records").pluck().get();
  writeInfo(mirror, `known:${resource}`, String(newest));
}

/** The newest record that was known at the end of the last verified run; null where none has noted it. */
export function newestKnown(mirror: Mirror, resource: string): number | null {
  const newest = readInfo(mirror, `known:${resource}`);
  return newest === null ? null : Number(newest);
}

/** How many present records of a range are no newer than one. */
export function countUpTo(mirror: Mirror, resource: string, newest: number, range: Range): number {
  const older = `SELECT count(*) FROM records WHERE ${present(range)} AND record_id <= ?`;
  return statement(mirror, older)
    .pluck()
    .get(...parameters(resource, range), newest) as number;
}

export function clearMissing(mirror: Mirror, resource: string): void {
  statement(mirror, "DELETE FROM missing WHERE resource = ?").run(resource);
}

/** How many records of a range are present and not missing. @param flags only those with these bits */
export function countFound(mirror: Mirror, resource: string, range: Range, flags: number): number {
  // By their ids: a range may hold a million others.
  const missing = statement(
    mirror,
    `SELECT count(*) FROM records NOT INDEXED WHERE ${present(range)} AND flags & ? = ?
       AND record_id IN (SELECT record_id FROM missing WHERE resource = ?)`,
  ).pluck();
  const gone = missing.get(...parameters(resource, range), flags, flags, resource) as number;
  return countPresent(mirror, resource, range, flags) - gone;
}
