import { everything, type Range } from "../lib/ranges.js";
import type { Mirror } from "../mirror/index.js";

/** Returns the condition for the present records of a range, as SQL; `parameters` has its values. */
export function present({ from, to }: Range): string {
  const since = Number.isFinite(from) ? " AND dated_at >= ?" : "";
  const until = Number.isFinite(to) ? " AND dated_at < ?" : "";
  return `resource = ? AND removed_at IS NULL${since}${until}`;
}

export function parameters(resource: string, { from, to }: Range): (string | number)[] {
  return [resource, ...(Number.isFinite(from) ? [from] : []), ...(Number.isFinite(to) ? [to + 1] : [])];
}

/** Returns how many records of a range are present; with `flags`, those that have these bits. Reads indexes only. */
export function countPresent({ db }: Mirror, resource: string, range = everything, flags = 0): number {
  const select = (condition: string) => db.prepare(`SELECT count(*) FROM records WHERE ${condition}`).pluck();
  if (flags !== 0)
    return select(`${present(range)} AND flags > 0 AND flags & ${flags} = ${flags}`).get(
      ...parameters(resource, range),
    ) as number;
  if (Number.isFinite(range.from) || Number.isFinite(range.to))
    return select(present(range)).get(...parameters(resource, range)) as number;
  return (select("resource = ?").get(resource) as number) - countRemoved({ db }, resource);
}

/** Returns how many records of a resource are marked as removed. */
export function countRemoved({ db }: Pick<Mirror, "db">, resource: string): number {
  const select = "SELECT count(*) FROM records WHERE resource = ? AND removed_at IS NOT NULL";
  return db.prepare(select).pluck().get(resource) as number;
}
