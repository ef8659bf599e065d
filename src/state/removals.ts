import type { Mirror } from "../mirror/mirror.js";
import { anyRange, countPresent, type DateRange, parameters, present } from "./counting.js";

/** Notes the mirrored records of a proven range that the read did not find. Nothing is removed yet. */
export function noteMissing(
  mirror: Mirror,
  resource: string,
  seen: { has(id: number): boolean },
  range?: DateRange,
): void {
  noteMissingOf(mirror, resource, presentIds(mirror, resource, range), seen);
}

/** Notes those of some records that were not found. */
export function noteMissingOf(
  mirror: Mirror,
  resource: string,
  ids: Iterable<number>,
  seen: { has(id: number): boolean },
): void {
  const note = mirror.db.prepare("INSERT OR IGNORE INTO removal_candidates VALUES (?, ?)");
  for (const id of ids) if (!seen.has(id)) note.run(resource, id);
}

/** The records that a read has not found so far. */
export function candidates(mirror: Mirror, resource: string): number[] {
  return mirror.db
    .prepare("SELECT record_id FROM removal_candidates WHERE resource = ?")
    .pluck()
    .all(resource) as number[];
}

/** The dates of those records, milliseconds; null for one without a date. */
export function candidateDates(mirror: Mirror, resource: string): (number | null)[] {
  return mirror.db
    .prepare(
      "SELECT dated_at FROM removal_candidates AS missing JOIN records USING (record_id) WHERE missing.resource = ?",
    )
    .pluck()
    .all(resource) as (number | null)[];
}

/** Removed, or not: either way they are decided. */
export function clearCandidates(mirror: Mirror, resource: string): void {
  mirror.db.prepare("DELETE FROM removal_candidates WHERE resource = ?").run(resource);
}

/** Prepares, for page after page: a record that is found after all, later in the same read, is no candidate. */
export function openForgetting({ db }: Mirror, resource: string): (found: Iterable<number>) => void {
  const any = db.prepare("SELECT 1 FROM removal_candidates WHERE resource = ? LIMIT 1");
  const forget = db.prepare("DELETE FROM removal_candidates WHERE resource = ? AND record_id = ?");
  return (found) => {
    if (any.get(resource) === undefined) return;
    for (const id of found) forget.run(resource, id);
  };
}

/** How many records of a range the mirror holds as present, less those that a read did not find. */
export function countConfirmed(mirror: Mirror, resource: string, range: DateRange, flags: number): number {
  const missing = candidates(mirror, resource);
  const all = countPresent(mirror, resource, range, flags);
  if (missing.length === 0) return all;
  const isInside = mirror.db
    .prepare(`SELECT 1 FROM records WHERE ${present(range)} AND record_id = ? AND flags & ? = ?`)
    .pluck();
  const gone = missing.filter((id) => isInside.get(...parameters(resource, range), id, flags, flags) === 1);
  return all - gone.length;
}

/** How many present records are dated from the oldest to the newest of those that a read did not find. */
export function countAround(mirror: Mirror, resource: string): number {
  const dates = candidateDates(mirror, resource).filter((date) => date !== null);
  const range = dates.reduce(
    ({ from, to }, date) => ({ from: Math.min(from, date), to: Math.max(to, date) }),
    { from: Number.POSITIVE_INFINITY, to: Number.NEGATIVE_INFINITY },
  );
  return countPresent(mirror, resource, range);
}

/** The date by which a range holds so many records, counted from its beginning; null when it holds fewer. */
export function dateOfNth(mirror: Mirror, resource: string, range: DateRange, count: number): number | null {
  const date = mirror.db
    .prepare(
      `SELECT dated_at FROM records WHERE ${present(range)} AND dated_at IS NOT NULL ORDER BY dated_at LIMIT 1 OFFSET ?`,
    )
    .pluck()
    .get(...parameters(resource, range), count - 1) as number | undefined;
  return date ?? null;
}

export function presentIds(mirror: Mirror, resource: string, range: DateRange = anyRange): number[] {
  return mirror.db
    .prepare(`SELECT record_id FROM records WHERE ${present(range)}`)
    .pluck()
    .all(...parameters(resource, range)) as number[];
}

/** Whether a read would remove more than anyone should believe: over half of more than 20 records. */
export function isImplausible(removals: number, present: number): boolean {
  return present > 20 && removals > present / 2;
}
