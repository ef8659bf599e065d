import { readInfo, writeInfo } from "../mirror/info.js";
import type { Mirror } from "../mirror/mirror.js";
import { noteMissingOf } from "./removals.js";

/**
 * Records of a dated resource whose date is null or cannot be read. No range of dates says whether it holds them: an
 * API may list them in every range, or in none. Which it does is learned from what it sends.
 */

/** Notes that the API sent such a record in a range of dates, or only where no dates were asked for. */
export function noteUndated(mirror: Mirror, resource: string, inRange: boolean): { isFirst: boolean } {
  const before = readInfo(mirror, nameOf(resource));
  if (before === null || (inRange && before === "apart"))
    writeInfo(mirror, nameOf(resource), inRange ? "in ranges" : "apart");
  return { isFirst: before === null };
}

/** How many of them the API counts in a range of dates: all, or none. Those that a read missed are not counted. */
export function countUndated(mirror: Mirror, resource: string, flags: number): number {
  if (!inRanges(mirror, resource)) return 0;
  return mirror.db
    .prepare(
      `SELECT count(*) FROM records AS r WHERE ${undated} AND flags & ? = ?
       AND NOT EXISTS (SELECT 1 FROM removal_candidates AS c WHERE c.resource = r.resource AND c.record_id = r.record_id)`,
    )
    .pluck()
    .get(resource, flags, flags) as number;
}

/** Those that no range of dates has: only a list without dates shows them. */
export function presentApart(mirror: Mirror, resource: string): number[] {
  if (readInfo(mirror, nameOf(resource)) !== "apart") return [];
  return mirror.db
    .prepare(`SELECT record_id FROM records AS r WHERE ${undated}`)
    .pluck()
    .all(resource) as number[];
}

/**
 * Notes those that a proven read of a range did not find, where every range has them. A date that is there and cannot
 * be read here may be one to the API: only a range from the beginning has that for certain.
 */
export function noteMissingUndated(
  mirror: Mirror,
  resource: string,
  seen: { has(id: number): boolean },
  { date, all }: { date: string; all: boolean },
): void {
  if (!inRanges(mirror, resource)) return;
  const ids = mirror.db
    .prepare(`SELECT record_id FROM records AS r WHERE ${undated} AND (? OR json_extract(json, ?) IS NULL)`)
    .pluck()
    .all(resource, all ? 1 : 0, `$.${date}`) as number[];
  noteMissingOf(mirror, resource, ids, seen);
}

const undated = "r.resource = ? AND r.dated_at IS NULL AND r.removed_at IS NULL";

function inRanges(mirror: Mirror, resource: string): boolean {
  return readInfo(mirror, nameOf(resource)) === "in ranges";
}

function nameOf(resource: string): string {
  return `undated:${resource}`;
}
