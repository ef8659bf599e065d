import { everything, type Range } from "../lib/ranges.js";
import { type Mirror, statement } from "../mirror/index.js";

/** Returns the condition for the present records of a range, as SQL; `parameters` has its values. */
export function present({ from, to }: Range): string {
  const since = Number.isFinite(from) ? " AND dated_at >= ?" : "";
  const until = Number.isFinite(to) ? " AND dated_at < ?" : "";
  return `resource = ? AND removed_at IS NULL${since}${until}`;
}

export function parameters(resource: string, { from, to }: Range): (string | number)[] {
  return [resource, ...[from, to + 1].filter(Number.isFinite)];
}

/** Returns the ids of the present records of a range. */
export function presentIds(mirror: Mirror, resource: string, range: Range = everything): number[] {
  const select = statement(mirror, `SELECT record_id FROM records WHERE ${present(range)}`).pluck();
  return select.all(...parameters(resource, range)) as number[];
}

/** Returns the keys of the present records of a range. */
export function presentKeys(mirror: Mirror, resource: string, range: Range = everything): string[] {
  const select = statement(mirror, `SELECT key FROM records WHERE ${present(range)}`).pluck();
  return select.all(...parameters(resource, range)) as string[];
}

/** Returns how many records of a range are present; with `flags`, those that have these bits. Reads indexes only. */
export function countPresent(mirror: Mirror, resource: string, range = everything, flags = 0): number {
  const isWhole = !Number.isFinite(range.from) && !Number.isFinite(range.to);
  if (isWhole && flags === 0)
    return countWhere(mirror, "resource = ?", [resource]) - countRemoved(mirror, resource);
  const flagged = flags === 0 ? "" : ` AND flags > 0 AND flags & ${flags} = ${flags}`;
  return countWhere(mirror, present(range) + flagged, parameters(resource, range));
}

/** Returns how many present records of a resource with dates have no readable one. */
export function countUndated(mirror: Mirror, resource: string): number {
  return countWhere(mirror, "resource = ? AND dated_at IS NULL AND removed_at IS NULL", [resource]);
}

/** Returns how many records of a resource are marked as removed. */
export function countRemoved(mirror: Mirror, resource: string): number {
  return countWhere(mirror, "resource = ? AND removed_at IS NOT NULL", [resource]);
}

function countWhere(mirror: Mirror, condition: string, values: readonly (string | number)[]): number {
  const select = statement(mirror, `SELECT count(*) FROM records WHERE ${condition}`).pluck();
  return select.get(...values) as number;
}
