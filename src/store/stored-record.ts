import type { Statement } from "better-sqlite3";
import { MirrorUnusable, UnexpectedResponse } from "../errors.js";
import type { Resource } from "../resources/resource.js";
import { asObject, type Json, type JsonObject } from "../util/json-value.js";
import { damagedHint } from "../util/system-errors.js";
import { formatInstant } from "../util/times.js";
import { parseTimestamp } from "../util/timestamp.js";
import type { Mirror } from "./database.js";
import type { RecordState } from "./table-sql.js";
import { valueAt } from "./values.js";

/** Records of the API as the table `records` stores them: their keys, dates and rows. */

/**
 * Returns a record's key in the mirror: its ID as text, or `#` and its position in the list if it has none. Several parts of
 * a key are joined by slashes.
 * @throws UnexpectedResponse if a documented record has no ID, or the ID is a number that JavaScript cannot represent exactly
 */
export function recordKey(resource: Resource, value: Json, position: number): string {
  const parts = keyPaths(resource).map((path) => readId(resource, value, path));
  if (parts.length > 0 && parts.every((part) => part !== null))
    return parts.length > 1 ? parts.map(escapeSlash).join("/") : (parts[0] ?? "");
  if (resource.pagination === "documented" && parts.length > 0)
    throw new UnexpectedResponse(`A record of ${resource.path} has no \`${resource.key.join("`, `")}\`.`, {
      hint: "the response is not in the documented shape: report it to the platform",
    });
  return `#${position}`;
}

/** Returns a record's ID as text, to build URLs; null if it is missing or neither text nor a number. */
export function apiId(resource: Resource, value: Json): string | null {
  return readId(resource, value, keyPaths(resource)[0] ?? ["id"]);
}

function readId(resource: Resource, value: Json, path: readonly string[]): string | null {
  const id = valueAt(value, path);
  if (typeof id === "string") return id;
  if (typeof id !== "number") return null;
  if (Math.abs(id) > Number.MAX_SAFE_INTEGER)
    throw new UnexpectedResponse(`A record of ${resource.path} has a numeric ID with too many digits.`, {
      hint: "the API must send IDs of more than 15 digits as text: report it to the platform",
    });
  return String(id);
}

function escapeSlash(part: string): string {
  return part.replaceAll("%", "%25").replaceAll("/", "%2F");
}

const keyPathsByResource = new WeakMap<Resource, readonly (readonly string[])[]>();

function keyPaths(resource: Resource): readonly (readonly string[])[] {
  const paths = keyPathsByResource.get(resource) ?? resource.key.map((path) => path.split("."));
  keyPathsByResource.set(resource, paths);
  return paths;
}

/** Returns a record's date in milliseconds; null if it is unreadable or the resource is not read by date. */
export function recordDate({ strategy }: Resource, value: Json): number | null {
  if (strategy.kind !== "dated") return null;
  const text = valueAt(value, [strategy.date]);
  return typeof text === "string" ? (parseTimestamp(text) ?? null) : null;
}

/** Returns the month (UTC) of a record's date, such as `2026-10`. */
export function utcMonth(date: number | null): string | null {
  return date === null ? null : formatInstant(Math.floor(date)).slice(0, 7);
}

/** Returns a bit mask of the API's counted filters that match the record. */
export function filterFlags({ strategy }: Resource, value: Json): number {
  if (strategy.kind !== "dated") return 0;
  let flags = 0;
  for (const [bit, { member }] of (strategy.countedFilters ?? []).entries())
    if (valueAt(value, [member]) === true) flags |= 1 << bit;
  return flags;
}

/** The columns of `records` that the rows of a record are made from. */
export interface StoredRow {
  record_id: number;
  json: string;
  context: string | null;
  /** When this version of the record was first read, or the record was removed; ISO 8601. */
  since_at: string;
  removed_at: string | null;
}

/** A row of `records`. Only resources with details use `list_json`, `detailed_at` and `outdated`. */
export interface RecordRow extends StoredRow {
  key: string;
  /** The record's item in the list, if the details are merged into it. */
  list_json: string | null;
  detailed_at: string | null;
  /** 1 if the list returned a changed item after the details were read. */
  outdated: 0 | 1;
  dated_at: number | null;
}

/** A parsed row of `records`. */
export interface StoredRecord {
  recordId: number;
  value: JsonObject;
  context: JsonObject;
  sinceAt: string;
  removedAt: string | null;
}

export function recordState({ removedAt }: Pick<StoredRecord, "removedAt">): RecordState {
  return removedAt === null ? "current" : "removed";
}

/** @throws MirrorUnusable if the text is not JSON, because another program has written it */
export function parseRecord({ path }: Mirror, row: StoredRow): StoredRecord {
  try {
    return {
      recordId: row.record_id,
      value: asObject(JSON.parse(row.json)),
      context: row.context === null ? {} : asObject(JSON.parse(row.context)),
      sinceAt: row.since_at,
      removedAt: row.removed_at,
    };
  } catch (cause) {
    throw new MirrorUnusable(`The mirror is damaged, record ${row.record_id} is not JSON: ${path}.`, {
      hint: damagedHint,
      cause,
    });
  }
}

const rowsPerBatch = 1_000;
const charactersPerBatch = 2_000_000;

/**
 * Yields the records of a SELECT. It reads them in batches, because the connection cannot write while a statement is open.
 * @param select returns rows in the order of `record_id`; its parameters are the ID to continue after, and `more`
 */
export function* readInBatches<Row extends StoredRow, More extends unknown[]>(
  mirror: Mirror,
  select: Statement<[number, ...More], Row>,
  ...more: More
): Generator<StoredRecord & { row: Row }> {
  for (let last: number | undefined = Number.MIN_SAFE_INTEGER; last !== undefined; ) {
    const rows: Row[] = [];
    let characters = 0;
    for (const row of select.iterate(last, ...more)) {
      rows.push(row);
      characters += row.json.length;
      if (rows.length === rowsPerBatch || characters >= charactersPerBatch) break;
    }
    last = rows.at(-1)?.record_id;
    for (const row of rows) yield { ...parseRecord(mirror, row), row };
  }
}

/** Yields the current and removed records of these resources in the order of `record_id`. */
export function readRecords(mirror: Mirror, resources: readonly string[]) {
  const select = mirror.db.prepare<
    [number, string],
    StoredRow & { resource: string; dated_at: number | null }
  >(
    `SELECT record_id, resource, json, context, since_at, removed_at, dated_at FROM records
     WHERE record_id > ? AND +resource IN (SELECT value FROM json_each(?)) ORDER BY record_id`,
  );
  return readInBatches(mirror, select, JSON.stringify(resources));
}
