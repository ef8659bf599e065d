import { mergesDetails, type Resource } from "../../resources/resource.js";
import type { Json } from "../../util/json-value.js";
import { allTime, type Range } from "../../util/ranges.js";
import { type Mirror, statement } from "../mirror/database.js";
import { createRedactor } from "../redaction/redaction-rules.js";
import { isSameRecord } from "./record-diff.js";

/** Returns an SQL condition for the current records in a range. Bind `currentParameters` to it. */
export function currentCondition({ from, to }: Range): string {
  const since = Number.isFinite(from) ? " AND dated_at >= ?" : "";
  const until = Number.isFinite(to) ? " AND dated_at < ?" : "";
  return `resource = ? AND removed_at IS NULL${since}${until}`;
}

export function currentParameters(resource: string, { from, to }: Range): (string | number)[] {
  return [resource, ...[from, to + 1].filter(Number.isFinite)];
}

export function readCurrentIds(mirror: Mirror, resource: string, range: Range = allTime): number[] {
  const select = statement(mirror, `SELECT record_id FROM records WHERE ${currentCondition(range)}`).pluck();
  return select.all(...currentParameters(resource, range)) as number[];
}

export function readCurrentKeys(mirror: Mirror, resource: string, range: Range = allTime): string[] {
  const select = statement(mirror, `SELECT key FROM records WHERE ${currentCondition(range)}`).pluck();
  return select.all(...currentParameters(resource, range)) as string[];
}

/**
 * Counts the current records in a range that match all of these `filterFlags`. Reads only indexes. Records without a
 * readable date belong to `allTime`, but to no other range.
 */
export function countCurrent(mirror: Mirror, resource: string, range = allTime, flags = 0): number {
  const isAllTime = !Number.isFinite(range.from) && !Number.isFinite(range.to);
  if (isAllTime && flags === 0)
    return countWhere(mirror, "resource = ?", [resource]) - countRemoved(mirror, resource);
  const hasFlags = flags === 0 ? "" : ` AND flags > 0 AND flags & ${flags} = ${flags}`;
  return countWhere(mirror, currentCondition(range) + hasFlags, currentParameters(resource, range));
}

export function countUndated(mirror: Mirror, resource: string): number {
  return countWhere(mirror, "resource = ? AND dated_at IS NULL AND removed_at IS NULL", [resource]);
}

export function countRemoved(mirror: Mirror, resource: string): number {
  return countWhere(mirror, "resource = ? AND removed_at IS NOT NULL", [resource]);
}

function countWhere(mirror: Mirror, condition: string, values: readonly (string | number)[]): number {
  const select = statement(mirror, `SELECT count(*) FROM records WHERE ${condition}`).pluck();
  return select.get(...values) as number;
}

/**
 * Returns the date of the n-th oldest current record in a range (0 is the oldest), in milliseconds since
 * 1970, or null if there are fewer records.
 */
export function findNthDate(mirror: Mirror, resource: string, range: Range, nth: number): number | null {
  const select = `SELECT dated_at FROM records WHERE ${currentCondition(range)} AND dated_at IS NOT NULL
    ORDER BY dated_at LIMIT 1 OFFSET ?`;
  const dates = statement(mirror, select).pluck();
  return (dates.get(...currentParameters(resource, range), nth) as number | undefined) ?? null;
}

/** Returns a current record's date in milliseconds since 1970, or null if it has no readable date. */
export function findDate(mirror: Mirror, recordId: number): number | null {
  const find = "SELECT dated_at FROM records WHERE record_id = ? AND removed_at IS NULL";
  return (statement(mirror, find).pluck().get(recordId) as number | null | undefined) ?? null;
}

export interface CurrentRecord {
  id: number;
  key: string;
  value: Json;
  /** The last time the details were read (ISO 8601), or null if they have never been read. */
  detailedAt: string | null;
  /** True if the list item has changed since the details were read. */
  isOutdated: boolean;
}

/**
 * Yields a resource's current records, ordered by `record_id`. Reads them one at a time, because records can
 * be large and the caller may write to the mirror between them.
 * @param keySuffix if given, selects only records whose keys end with this string
 */
export function* readCurrentRecords(
  mirror: Mirror,
  resource: string,
  keySuffix = "",
): Generator<CurrentRecord> {
  const ids = statement(
    mirror,
    `SELECT record_id FROM records WHERE resource = @resource AND removed_at IS NULL
       AND (@keySuffix = '' OR substr(key, -length(@keySuffix)) = @keySuffix) ORDER BY record_id`,
  );
  const get = statement(mirror, "SELECT key, json, detailed_at, outdated FROM records WHERE record_id = ?");
  for (const id of ids.pluck().all({ resource, keySuffix }) as number[]) {
    const row = get.get(id) as
      | { key: string; json: string; detailed_at: string | null; outdated: 0 | 1 }
      | undefined;
    if (!row) continue;
    const { key, json, detailed_at: detailedAt, outdated } = row;
    yield { id, key, value: JSON.parse(json) as Json, detailedAt, isOutdated: outdated === 1 };
  }
}

export function isCurrentRecord(mirror: Mirror, resource: string, key: string): boolean {
  const find = "SELECT 1 FROM records WHERE resource = ? AND key = ? AND removed_at IS NULL";
  return statement(mirror, find).get(resource, key) !== undefined;
}

/**
 * Returns a function that compares a record from the API with the mirrored version. For resources with merged
 * details, it compares the list item.
 */
export function openRecordComparison(mirror: Mirror, resource: Resource) {
  const json = mergesDetails(resource) ? "coalesce(list_json, json)" : "json";
  const redact = createRedactor(mirror);
  const find = mirror.db
    .prepare(`SELECT ${json} FROM records WHERE resource = ? AND key = ? AND removed_at IS NULL`)
    .pluck();
  return (value: Json, key: string): "same" | "changed" | "absent" => {
    const stored = find.get(resource.name, key) as string | undefined;
    if (stored === undefined) return "absent";
    const isSame = isSameRecord(JSON.parse(stored) as Json, redact(value, resource.name), resource);
    return isSame ? "same" : "changed";
  };
}
