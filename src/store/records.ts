import { UnexpectedResponse } from "../errors.js";
import { listStatusFilters, type Resource } from "../resources/resource.js";
import { asObject, type Json, type JsonObject, valueAt } from "../util/json-value.js";
import { allTime, type TimeRange, utcMonth } from "../util/time-ranges.js";
import { formatInstant, parseTimestamp } from "../util/timestamps.js";
import { type Mirror, parseStoredJson } from "./database.js";
import { isSameRecord } from "./record-diff.js";
import { createRedactor } from "./redaction-rules.js";
import type { RecordState } from "./table-sql.js";

/** An SQL condition, and the values of its parameters. */
interface Condition {
  sql: string;
  values: (string | number)[];
}

/**
 * Returns the condition for the current records in a range. `range.to` is inclusive and in whole milliseconds, so every
 * date within that millisecond matches.
 */
export function whereCurrent(resourceName: string, { from, to }: TimeRange): Condition {
  const conditions: Condition[] = [{ sql: "resource = ? AND removed_at IS NULL", values: [resourceName] }];
  if (Number.isFinite(from)) conditions.push({ sql: "dated_ms >= ?", values: [from] });
  if (Number.isFinite(to)) conditions.push({ sql: "dated_ms < ?", values: [to + 1] });
  return {
    sql: conditions.map(({ sql }) => sql).join(" AND "),
    values: conditions.flatMap(({ values }) => values),
  };
}

export function loadCurrentIds(mirror: Mirror, resourceName: string, range: TimeRange = allTime): number[] {
  const { sql, values } = whereCurrent(resourceName, range);
  return mirror.selectValues(`SELECT record_id FROM records WHERE ${sql}`, ...values);
}

export function loadCurrentKeys(mirror: Mirror, resourceName: string, range: TimeRange = allTime): string[] {
  const { sql, values } = whereCurrent(resourceName, range);
  return mirror.selectValues(`SELECT key FROM records WHERE ${sql}`, ...values);
}

/**
 * Counts the current records in a range. Records without a readable date are counted only if the range is `allTime`.
 * Reads only indexes, so it is fast.
 * @param statusBit counts only the records with this status bit; 0 counts all records
 */
export function countCurrent(mirror: Mirror, resourceName: string, range = allTime, statusBit = 0): number {
  const isAllTime = !Number.isFinite(range.from) && !Number.isFinite(range.to);
  if (isAllTime && statusBit === 0)
    return countWhere(mirror, "resource = ?", [resourceName]) - countRemoved(mirror, resourceName);
  const { sql, values } = whereCurrent(resourceName, range);
  // `status_bits > 0` makes SQLite use the `records_flagged` index.
  const hasStatus =
    statusBit === 0 ? "" : ` AND status_bits > 0 AND (status_bits & ${statusBit}) = ${statusBit}`;
  return countWhere(mirror, sql + hasStatus, values);
}

export function countUndated(mirror: Mirror, resourceName: string): number {
  return countWhere(mirror, "resource = ? AND dated_ms IS NULL AND removed_at IS NULL", [resourceName]);
}

export function countRemoved(mirror: Mirror, resourceName: string): number {
  return countWhere(mirror, "resource = ? AND removed_at IS NOT NULL", [resourceName]);
}

function countWhere(mirror: Mirror, condition: string, values: readonly (string | number)[]): number {
  return mirror.selectValue<number>(`SELECT count(*) FROM records WHERE ${condition}`, ...values) ?? 0;
}

/**
 * Returns the date of the nth oldest current record in a range, in milliseconds since the Unix epoch. The oldest record
 * has index 0. Returns null if the range has fewer records.
 */
export function findNthDate(
  mirror: Mirror,
  resourceName: string,
  range: TimeRange,
  nth: number,
): number | null {
  const { sql, values } = whereCurrent(resourceName, range);
  const select = `SELECT dated_ms FROM records WHERE ${sql} AND dated_ms IS NOT NULL
    ORDER BY dated_ms LIMIT 1 OFFSET ?`;
  return mirror.selectValue<number>(select, ...values, nth);
}

/** Returns a record's date, or null if the date is unreadable or no current record has this ID. */
export function findMirroredDate(mirror: Mirror, recordId: number): number | null {
  const find = "SELECT dated_ms FROM records WHERE record_id = ? AND removed_at IS NULL";
  return mirror.selectValue<number>(find, recordId);
}

/** True if a record is current and its date is unreadable. */
export function isUndated(mirror: Mirror, recordId: number): boolean {
  const find = "SELECT 1 FROM records WHERE record_id = ? AND removed_at IS NULL AND dated_ms IS NULL";
  return mirror.selectValue(find, recordId) === 1;
}

export interface CurrentRecord {
  id: number;
  key: string;
  value: Json;
  detailedAt: string | null;
  hasOutdatedDetails: boolean;
}

/**
 * Yields a resource's current records, ordered by `record_id`. The caller may write to the mirror while iterating.
 * @param keySuffix selects only records whose keys end with this string
 */
export function* loadCurrentRecords(
  mirror: Mirror,
  resourceName: string,
  keySuffix = "",
): Generator<CurrentRecord> {
  const selectIds = `SELECT record_id FROM records WHERE resource = @resource AND removed_at IS NULL
    AND (@keySuffix = '' OR substr(key, -length(@keySuffix)) = @keySuffix) ORDER BY record_id`;
  for (const id of mirror.selectValues<number>(selectIds, { resource: resourceName, keySuffix })) {
    const row = mirror.selectRow<RecordRow>("SELECT * FROM records WHERE record_id = ?", id);
    if (!row) continue;
    const { key, detailed_at: detailedAt, details_outdated } = row;
    const value = parseStoredRecord(mirror, id, row.json);
    yield { id, key, value, detailedAt, hasOutdatedDetails: details_outdated === 1 };
  }
}

export function isCurrentRecord(mirror: Mirror, resourceName: string, key: string): boolean {
  const find = "SELECT 1 FROM records WHERE resource = ? AND key = ? AND removed_at IS NULL";
  return mirror.selectValue(find, resourceName, key) === 1;
}

/**
 * Returns a function that compares a record from the API with the mirrored record. If details are merged into that
 * record, the stored list item is compared instead.
 */
export function createRecordComparison(mirror: Mirror, resource: Resource) {
  const redact = createRedactor(mirror);
  const select = `SELECT record_id AS id, coalesce(list_json, json) AS json FROM records
    WHERE resource = ? AND key = ? AND removed_at IS NULL`;
  return (value: Json, key: string): "same" | "changed" | "absent" => {
    const row = mirror.selectRow<{ id: number; json: string }>(select, resource.name, key);
    if (!row) return "absent";
    const stored = parseStoredRecord(mirror, row.id, row.json);
    return isSameRecord(stored, redact(value, resource.name), resource) ? "same" : "changed";
  };
}

/** The columns of `records` that describe one version of a record. Times are ISO 8601 strings. */
export interface VersionRow {
  record_id: number;
  /** The record after redaction, including any details that are merged into it. */
  json: string;
  /** The request parameters (`ParsedRecord.parameters`) as JSON, or null if there are none. */
  parameters: string | null;
  /**
   * The time at which this version was first read or, for a removed record, the time of its removal. If the resource
   * has no history, the time of the last read.
   */
  since_at: string;
  /** The time of the removal, or null for a current record. */
  removed_at: string | null;
}

/** A row in `records`. `list_json`, `detailed_at` and `details_outdated` are used only by resources with details. */
export interface RecordRow extends VersionRow {
  resource: string;
  /** The record's ID, or its position in the list (see `recordKey`). */
  key: string;
  /** The latest list item, if the resource's details are merged into its records. */
  list_json: string | null;
  /** The time (ISO 8601) of the last request for the record's details, or null if they were never requested. */
  detailed_at: string | null;
  /** 1 if the details must be requested again, usually because the list item has changed since `detailed_at`. */
  details_outdated: 0 | 1;
  /** The record's date (see `recordDate`), in milliseconds since the Unix epoch. */
  dated_ms: number | null;
  /** The status bits of all API filters that match the record (see `recordStatusBits`). */
  status_bits: number;
}

/** A record parsed from its row. `parameters` are the request parameters that the record does not contain. */
export interface ParsedRecord {
  recordId: number;
  value: JsonObject;
  parameters: JsonObject;
  sinceAt: string;
  removedAt: string | null;
}

export function recordState({ removedAt }: Pick<ParsedRecord, "removedAt">): RecordState {
  return removedAt === null ? "current" : "removed";
}

export function parseRecord(mirror: Mirror, row: VersionRow): ParsedRecord {
  const { json, parameters, record_id: recordId, removed_at: removedAt, since_at: sinceAt } = row;
  const parse = (text: string) => asObject(parseStoredRecord(mirror, recordId, text));
  return {
    recordId,
    value: parse(json),
    parameters: parameters === null ? {} : parse(parameters),
    sinceAt,
    removedAt,
  };
}

/** @throws MirrorUnusable if another program has replaced the record with invalid JSON */
export function parseStoredRecord(mirror: Mirror, recordId: number, json: string): Json {
  return parseStoredJson(mirror, json, `record ${recordId}`);
}

/**
 * Yields the current and removed records of several resources, ordered by `record_id`. They are read one at a time,
 * because records can be large and the connection cannot write while a statement is open.
 */
export function* loadRecords(
  mirror: Mirror,
  resourceNames: readonly string[],
): Generator<ParsedRecord & { row: RecordRow }> {
  const selectIds = `SELECT record_id FROM records
    WHERE resource IN (SELECT value FROM json_each(?)) ORDER BY record_id`;
  for (const id of mirror.selectValues<number>(selectIds, JSON.stringify(resourceNames))) {
    const row = mirror.selectRow<RecordRow>("SELECT * FROM records WHERE record_id = ?", id);
    if (row) yield { ...parseRecord(mirror, row), row };
  }
}

/**
 * Returns a record's key in the mirror: its ID or, if it has none, `#` and its position in the list.
 * @param position needed only for resources whose records may have no ID
 * @throws UnexpectedResponse if the record of a documented resource has no ID, or if its ID is a number that JavaScript
 * cannot represent exactly
 */
export function recordKey(resource: Resource, value: Json, position = 0): string {
  return recordKeyOrNull(resource, value) ?? positionKey(position);
}

export function positionKey(position: number): string {
  return `#${position}`;
}

/**
 * Returns a record's key, or null if it has no ID. The parts of a key are separated by slashes.
 * @throws UnexpectedResponse if the record of a documented resource has no ID, or if its ID is a number that JavaScript
 * cannot represent exactly
 */
export function recordKeyOrNull(resource: Resource, value: Json): string | null {
  const parts = resource.key.map((path) => idAt(resource, value, path));
  if (parts.length > 0 && parts.every((part) => part !== null))
    return parts.length > 1 ? parts.map(escapeSlash).join("/") : (parts[0] ?? "");
  if (resource.pagination === "documented" && parts.length > 0)
    throw new UnexpectedResponse(`A record from ${resource.path} has no \`${resource.key.join("`, `")}\`.`, {
      hint: "report this to the platform, because the response does not match the API's documentation",
    });
  return null;
}

export function apiIdOrNull(resource: Resource, value: Json): string | null {
  return idAt(resource, value, resource.key[0] ?? "id");
}

function idAt(resource: Resource, value: Json, path: string): string | null {
  const id = valueAt(value, path.split("."));
  if (typeof id === "string") return id;
  if (typeof id !== "number") return null;
  if (Math.abs(id) > Number.MAX_SAFE_INTEGER)
    throw new UnexpectedResponse(`A record from ${resource.path} has a numeric ID with too many digits.`, {
      hint: "ask the platform to send IDs with more than 15 digits as strings",
    });
  return String(id);
}

function escapeSlash(part: string): string {
  return part.replaceAll("%", "%25").replaceAll("/", "%2F");
}

/**
 * Returns a record's date in milliseconds since the Unix epoch, or null if the date is unreadable or the resource is
 * not read by date.
 */
export function recordDate({ strategy }: Resource, value: Json): number | null {
  if (strategy.kind !== "dated") return null;
  const text = valueAt(value, [strategy.dateField]);
  return typeof text === "string" ? (parseTimestamp(text) ?? null) : null;
}

export function recordMonth(date: number | null): string | null {
  return date === null ? null : utcMonth(date);
}

/** Returns the value of the `status_bits` column: the status bits of all API filters that match a record. */
export function recordStatusBits(resource: Resource, value: Json): number {
  const matching = listStatusFilters(resource).filter(({ field }) => valueAt(value, [field]) === true);
  return matching.reduce((bits, { statusBit }) => bits | statusBit, 0);
}

/**
 * Merges a list item with the stored details. Drops fields that were in the previous list item but are missing from
 * the new one.
 */
export function mergeListItem(mirror: Mirror, row: RecordRow, item: Json): Json {
  if (row.detailed_at === null) return item;
  const parse = (json: string) => asObject(parseStoredRecord(mirror, row.record_id, json));
  const earlierItem = row.list_json === null ? {} : parse(row.list_json);
  const fields = Object.entries(parse(row.json));
  const detailFields = fields.filter(([name]) => !Object.hasOwn(earlierItem, name));
  return { ...Object.fromEntries(detailFields), ...asObject(item) };
}

/**
 * Stores when a record's details were read. The details are either merged into the record or stored as separate
 * records.
 * @param requestedAt in milliseconds since the Unix epoch
 */
export function markDetailsRead(mirror: Mirror, recordId: number, requestedAt: number): void {
  const update = "UPDATE records SET detailed_at = ?, details_outdated = 0 WHERE record_id = ?";
  mirror.execute(update, formatInstant(requestedAt), recordId);
}

export function markDetailsOutdated(mirror: Mirror, recordId: number): void {
  mirror.execute("UPDATE records SET details_outdated = 1 WHERE record_id = ?", recordId);
}

/**
 * Returns the IDs of all current details, grouped by the API ID of the record they belong to.
 * @param parentField the request parameter that contains this ID
 */
export function loadDetailIds(
  mirror: Mirror,
  resourceName: string,
  parentField: string,
): Map<string, number[]> {
  const details = new Map<string, number[]>();
  const select = `SELECT record_id AS id, json_extract(parameters, ?) AS parentId
    FROM records WHERE resource = ? AND removed_at IS NULL`;
  const rows = mirror.selectRows<{ id: number; parentId: string }>(select, `$.${parentField}`, resourceName);
  for (const { id, parentId } of rows) details.set(parentId, [...(details.get(parentId) ?? []), id]);
  return details;
}
