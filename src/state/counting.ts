import { everything, type Range } from "../lib/ranges.js";
import type { Mirror } from "../mirror/index.js";

/** What is present in a range, as SQL; `parameters` are its values. A range without ends has undated records too. */
export function present({ from, to }: Range): string {
  const since = Number.isFinite(from) ? " AND dated_at >= ?" : "";
  const until = Number.isFinite(to) ? " AND dated_at < ?" : "";
  return `resource = ? AND removed_at IS NULL${since}${until}`;
}

export function parameters(resource: string, { from, to }: Range): (string | number)[] {
  return [resource, ...(Number.isFinite(from) ? [from] : []), ...(Number.isFinite(to) ? [to + 1] : [])];
}

/**
 * How many records of a range the mirror holds as present. SQLite counts a whole index page by page, and a part of one
 * entry by entry, six times as long. So where no older record lies before the range, as in each proof of a nightly
 * sync, everything is counted, and what does not belong is taken off: it is little.
 */
export function countPresent(mirror: Mirror, resource: string, range: Range = everything, flags = 0): number {
  const count = counter(mirror);
  const { from, to } = range;
  if (flags !== 0)
    // Nothing tells SQLite how few records have a flag: it would take the index of all.
    return count(
      `records INDEXED BY records_flagged WHERE ${present(range)} AND flags > 0 AND flags & ${flags} = ${flags}`,
      ...parameters(resource, range),
    );
  const older = "records WHERE resource = ? AND removed_at IS NULL AND dated_at < ?";
  if (Number.isFinite(from) && count(`(SELECT 1 FROM ${older} LIMIT 1)`, resource, from) > 0)
    return count(`records WHERE ${present(range)}`, ...parameters(resource, range));
  const all = count("records") - countOthers(mirror, resource) - countRemoved(mirror, resource);
  if (!Number.isFinite(from) && !Number.isFinite(to)) return all;
  const newer = "records WHERE resource = ? AND removed_at IS NULL AND dated_at >= ?";
  const undated = "records WHERE resource = ? AND removed_at IS NULL AND dated_at IS NULL";
  return all - count(undated, resource) - (Number.isFinite(to) ? count(newer, resource, to + 1) : 0);
}

/** How many records of a resource the mirror holds as removed. */
export function countRemoved(mirror: Mirror, resource: string): number {
  return counter(mirror)("records WHERE resource = ? AND removed_at IS NOT NULL", resource);
}

function countOthers(mirror: Mirror, resource: string): number {
  const count = counter(mirror);
  return count("records WHERE resource < ?", resource) + count("records WHERE resource > ?", resource);
}

function counter({ db }: Mirror) {
  return (what: string, ...values: (string | number)[]) =>
    db
      .prepare(`SELECT count(*) FROM ${what}`)
      .pluck()
      .get(...values) as number;
}
