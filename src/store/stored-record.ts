import type { Statement } from "better-sqlite3";
import { MirrorUnusable, UnexpectedResponse } from "../errors.js";
import type { Resource } from "../resources/resource.js";
import { asObject, type Json, type JsonObject } from "../util/json-value.js";
import { allTime, type Range } from "../util/ranges.js";
import { damagedHint } from "../util/system-errors.js";
import { type Mirror, statement } from "./database.js";
import type { RecordRow } from "./records.js";
import type { RecordState } from "./table-sql.js";
import { valueAt } from "./values.js";

/**
 * Returns a record's key in the mirror: its id as text, or `#` and its place in the answer if it has none.
 * @throws UnexpectedResponse if a documented record lacks its id, or an id is a number that a double rounds
 */
export function recordKey(resource: Resource, value: Json, position: number): string {
  const parts = keyPaths(resource).map((path) => readId(resource, value, path));
  if (parts.length > 0 && parts.every((part) => part !== null))
    return parts.length > 1 ? parts.map(escapeSlash).join("/") : (parts[0] ?? "");
  if (resource.pagination === "documented" && parts.length > 0)
    throw new UnexpectedResponse(`A record of ${resource.path} has no \`${resource.key.join("`, `")}\`.`, {
      hint: "the API answered with something that is not its documented shape: report it to the platform",
    });
  return `#${position}`;
}

/** Returns a record's id as text, for addresses; null if it has none, or one that is neither text nor a number. */
export function apiId(resource: Resource, value: Json): string | null {
  return readId(resource, value, keyPaths(resource)[0] ?? ["id"]);
}

function readId(resource: Resource, value: Json, path: readonly string[]): string | null {
  const id = valueAt(value, path);
  if (typeof id === "string") return id;
  if (typeof id !== "number") return null;
  if (Math.abs(id) > Number.MAX_SAFE_INTEGER)
    throw new UnexpectedResponse(
      `A record of ${resource.path} has an id of more digits than can be kept exactly.`,
      {
        hint: "an id that large has to come as text: report it to the platform",
      },
    );
  return String(id);
}

/** Keeps a slash inside a part apart from those between parts. */
function escapeSlash(part: string): string {
  return part.replaceAll("%", "%25").replaceAll("/", "%2F");
}

/** Returns the paths of a resource's key, split once. */
function keyPaths(resource: Resource): readonly (readonly string[])[] {
  const known = paths.get(resource) ?? resource.key.map((path) => path.split("."));
  paths.set(resource, known);
  return known;
}

const paths = new WeakMap<Resource, readonly (readonly string[])[]>();

/** A record with everything that its rows are made of. */
export interface StoredRecord {
  recordId: number;
  value: JsonObject;
  context: JsonObject;
  sinceAt: string;
  removedAt: string | null;
}

/** Returns which tables have the rows of a record. */
export function stateOf({ removedAt }: Pick<StoredRecord, "removedAt">): RecordState {
  return removedAt === null ? "current" : "removed";
}

/** A record as a statement returns it. */
export interface StoredRow {
  record_id: number;
  json: string;
  context: string | null;
  since_at: string;
  removed_at: string | null;
}

/** @throws MirrorUnusable if its text is not JSON: another program wrote it */
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
 * Returns a statement's records, batch by batch: no statement may be open while the connection writes.
 * @param select takes the record id to go on after, and `more`
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

/** Returns every record of some resources, removed ones too, in the order in which they came. */
export function readRecords(mirror: Mirror, names: readonly string[]) {
  const select = mirror.db.prepare<
    [number, string],
    StoredRow & { resource: string; dated_at: number | null }
  >(
    `SELECT record_id, resource, json, context, since_at, removed_at, dated_at FROM records
     WHERE record_id > ? AND +resource IN (SELECT value FROM json_each(?)) ORDER BY record_id`,
  );
  return readInBatches(mirror, select, JSON.stringify(names));
}

/** A present record. */
export interface PresentRecord {
  id: number;
  key: string;
  value: Json;
  /** When its details were last read, ISO 8601; null before the first time. */
  detailedAt: string | null;
  /** True if the list has shown another record since. */
  isOutdated: boolean;
}

/**
 * Returns the present records of a resource in the order in which they came, one at a time: each may be large, and the
 * caller may write in between.
 * @param ending only those whose keys end in it
 */
export function* readPresentRecords(mirror: Mirror, resource: string, ending = ""): Generator<PresentRecord> {
  const ids = statement(
    mirror,
    `SELECT record_id FROM records WHERE resource = @resource AND removed_at IS NULL
       AND (@ending = '' OR substr(key, -length(@ending)) = @ending) ORDER BY record_id`,
  );
  const get = statement(mirror, "SELECT key, json, detailed_at, outdated FROM records WHERE record_id = ?");
  for (const id of ids.pluck().all({ resource, ending }) as number[]) {
    const row = get.get(id) as Pick<RecordRow, "key" | "json" | "detailed_at" | "outdated"> | undefined;
    if (!row) continue;
    const { key, json, detailed_at: detailedAt, outdated } = row;
    yield { id, key, value: JSON.parse(json) as Json, detailedAt, isOutdated: outdated === 1 };
  }
}

/** Returns what the list last said of a record with details; null for others. */
export function readListItem(mirror: Mirror, id: number): Json {
  const select = statement(mirror, "SELECT list_json FROM records WHERE record_id = ?").pluck();
  const text = select.get(id) as string | null;
  return text === null ? null : (JSON.parse(text) as Json);
}

/** Notes when details were read that are kept beside a record. */
export function markDetailsRead(mirror: Mirror, id: number, at: string): void {
  statement(mirror, "UPDATE records SET detailed_at = ?, outdated = 0 WHERE record_id = ?").run(at, id);
}

/** Notes that a record's details are no longer those that were read. */
export function markDetailsOutdated(mirror: Mirror, id: number): void {
  statement(mirror, "UPDATE records SET outdated = 1 WHERE record_id = ?").run(id);
}

/** Returns the present records that are details of others, by the text under `parent` in what was asked for. */
export function readDetailIds(mirror: Mirror, resource: string, parent: string): Map<string, number[]> {
  const details = new Map<string, number[]>();
  const select = statement(
    mirror,
    "SELECT record_id, json_extract(context, ?) FROM records WHERE resource = ? AND removed_at IS NULL",
  );
  for (const [id, of] of select.raw().all(`$.${parent}`, resource) as [number, string][])
    details.set(of, [...(details.get(of) ?? []), id]);
  return details;
}

/** True if a record is there and not removed. */
export function isPresent(mirror: Mirror, resource: string, key: string): boolean {
  const find = "SELECT 1 FROM records WHERE resource = ? AND key = ? AND removed_at IS NULL";
  return statement(mirror, find).get(resource, key) !== undefined;
}

/** Returns the condition for the present records of a range, as SQL; `parameters` has its values. */
export function presentCondition({ from, to }: Range): string {
  const since = Number.isFinite(from) ? " AND dated_at >= ?" : "";
  const until = Number.isFinite(to) ? " AND dated_at < ?" : "";
  return `resource = ? AND removed_at IS NULL${since}${until}`;
}

export function presentParameters(resource: string, { from, to }: Range): (string | number)[] {
  return [resource, ...[from, to + 1].filter(Number.isFinite)];
}

/** Returns the ids of the present records of a range. */
export function readPresentIds(mirror: Mirror, resource: string, range: Range = allTime): number[] {
  const select = statement(mirror, `SELECT record_id FROM records WHERE ${presentCondition(range)}`).pluck();
  return select.all(...presentParameters(resource, range)) as number[];
}

/** Returns the keys of the present records of a range. */
export function readPresentKeys(mirror: Mirror, resource: string, range: Range = allTime): string[] {
  const select = statement(mirror, `SELECT key FROM records WHERE ${presentCondition(range)}`).pluck();
  return select.all(...presentParameters(resource, range)) as string[];
}

/** Returns how many records of a range are present; with `flags`, those that have these bits. Reads indexes only. */
export function countPresent(mirror: Mirror, resource: string, range = allTime, flags = 0): number {
  const isWhole = !Number.isFinite(range.from) && !Number.isFinite(range.to);
  if (isWhole && flags === 0)
    return countWhere(mirror, "resource = ?", [resource]) - countRemoved(mirror, resource);
  const flagged = flags === 0 ? "" : ` AND flags > 0 AND flags & ${flags} = ${flags}`;
  return countWhere(mirror, presentCondition(range) + flagged, presentParameters(resource, range));
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
