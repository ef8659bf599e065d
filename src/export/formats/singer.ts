import { createHash } from "node:crypto";
import { UsageError } from "../../errors.js";
import { counted } from "../../lib/counted.js";
import { freeName } from "../../lib/free-name.js";
import { formatInstant, parseTimestamp } from "../../lib/times.js";
import type { Bookmark, ChangedRows, ReadableColumn, RowValue, Source } from "../../query/index.js";
import type { Chunk, WriteOptions } from "../format.js";
import { asDay } from "../stored-types.js";

/** When a row went: null while it is there. */
const deletedAt = "_sdc_deleted_at";

/** What a target has been told of a stream: up to where, and with which columns. */
interface StreamBookmark extends Bookmark {
  columns: string;
}

/** The value of a STATE line. */
export interface SingerState {
  bookmarks: Record<string, StreamBookmark>;
}

interface Stream {
  source: Source;
  changed: ChangedRows;
  /** The properties that name a row: the API's own ids where it documents them. */
  keys: readonly string[];
  /** Those of the keys that are no column of the table: each row is given them. */
  added: readonly string[];
  /** The table's columns, under the names that they have here. */
  columns: readonly ReadableColumn[];
  properties: Readonly<Record<string, object>>;
}

/**
 * The Singer specification's lines: for each table a SCHEMA, a RECORD for each row that came or changed, and the STATE
 * from which the next run goes on. Rows that are gone have `_sdc_deleted_at`. A mirror, or a table, that is not the one
 * of the state is told from the beginning.
 * Source: github.com/singer-io/getting-started, docs/SPEC.md.
 */
export function* writeAll(sources: readonly Source[], options: WriteOptions): Iterable<Chunk> {
  const streams = sources.map(openStream);
  const bookmarks: SingerState["bookmarks"] = { ...stateOf(options.state).bookmarks };
  for (const stream of streams) {
    const { source, changed } = stream;
    const columns = createHash("sha256")
      .update(Object.keys(stream.properties).join())
      .digest("hex")
      .slice(0, 8);
    const bookmark = changed.hasHistory ? bookmarks[source.name] : undefined;
    const told = bookmark && changed.knows(bookmark) ? bookmark : undefined;
    yield { data: schemaLine(stream), rows: 0 };
    // A new column is in every row; rows that are gone are told of all the same.
    yield* recordLines(stream, told?.columns === columns ? told : undefined, options);
    if (told) yield* lostLines(stream, told);
    if (changed.hasHistory) bookmarks[source.name] = { columns, ...changed.now() };
    yield { data: line({ type: "STATE", value: { bookmarks } }), rows: 0 };
  }
  options.remember?.({ bookmarks });
}

function openStream(source: Source): Stream {
  const changed = source.changed();
  if (!changed)
    throw new UsageError(`Singer takes tables of the API's records, and \`${source.name}\` is none.`, {
      hint: "name tables such as `orders` or `roster`; `brandapi tables` tells them from views",
    });
  const { key, parents, isList } = source.identity();
  const own = isList ? [...parents, "position"] : key;
  const keys = own.length > (isList ? 1 : 0) ? own : ["record_key", ...own];
  // Only a column that is declared is the one that the key means: an attribute of its name is anything.
  const isDeclared = (name: string) =>
    source.columns.some((column) => column.name === name && !column.stored?.open);
  const added = keys.filter((name) => !isDeclared(name));
  const columns = besides([...added, deletedAt], source.columns);
  const properties = Object.fromEntries([
    ...added.map((name) => [name, { type: [name === "position" ? "integer" : "string"] }]),
    ...columns.map((column) => [column.name, propertyOf(column, keys.includes(column.name))]),
    [deletedAt, { type: ["null", "string"], format: "date-time" }],
  ]) as Stream["properties"];
  return { source, changed, keys, added, columns, properties };
}

/** Columns beside names that are ours: one with such a name ends in `_2`, as it does in the mirror's own tables. */
function besides(own: readonly string[], columns: readonly ReadableColumn[]): ReadableColumn[] {
  const taken = new Set([...own, ...columns.map(({ name }) => name.toLowerCase())]);
  return columns.map((column) =>
    own.includes(column.name.toLowerCase()) ? { ...column, name: freeName(column.name, taken) } : column,
  );
}

function* recordLines(stream: Stream, after: Bookmark | undefined, options: WriteOptions): Iterable<Chunk> {
  const { source, changed, keys, added, columns } = stream;
  const writers = columns.map((column) => `${JSON.stringify(column.name)}:`);
  const lost = { count: 0 };
  const converters = columns.map((column) => converterOf(column, lost));
  const isKey = columns.map(({ name }) => keys.includes(name));
  const [needsKey, needsPosition] = [added.includes("record_key"), added.includes("position")];
  const start = `{"type":"RECORD","stream":${JSON.stringify(source.name)},"record":{`;
  for (const rows of changed.rows(after)) {
    const data = rows.map(({ values, key, position, removedAt }) => {
      const members = values.map((value, index) => {
        const text = converters[index]?.(value) ?? "null";
        // An id that is no text has no place in its column, and a target cannot do without it.
        return (writers[index] ?? "") + (text === "null" && isKey[index] ? JSON.stringify(key) : text);
      });
      if (needsKey) members.push(`"record_key":${JSON.stringify(key)}`);
      if (needsPosition) members.push(`"position":${position}`);
      return `${start}${members.join()},"${deletedAt}":${JSON.stringify(removedAt)}}}\n`;
    });
    yield { data: data.join(""), rows: rows.length };
  }
  if (lost.count > 0)
    options.warn(
      `${counted(lost.count, "value")} of \`${source.name}\` of another kind than its column: sent as null`,
    );
}

/** A RECORD for each row that is gone since then. */
function* lostLines({ source, changed, keys, added }: Stream, told: Bookmark): Iterable<Chunk> {
  const names = keys.filter((name) => name !== "position" && name !== "record_key");
  for (const { parents, key, position, lostAt } of changed.lost(told)) {
    const record = Object.fromEntries(names.map((name, index) => [name, parents[index] ?? key]));
    const named = added.includes("record_key") ? { record_key: key } : {};
    const marks = { ...named, position, [deletedAt]: lostAt };
    yield { data: line({ type: "RECORD", stream: source.name, record: { ...record, ...marks } }), rows: 1 };
  }
}

function schemaLine({ source, keys, properties }: Stream): string {
  const schema = { type: "object", properties };
  return line({ type: "SCHEMA", stream: source.name, schema, key_properties: keys, bookmark_properties: [] });
}

function line(message: object): string {
  return `${JSON.stringify(message)}\n`;
}

/** JSON and what has several types goes as text: few targets take anything else. */
function propertyOf({ type }: ReadableColumn, isKey: boolean): object {
  const isTime = type === "timestamp" || type === "date";
  const jsonType = isTime || type === "json" || type === "any" || type === "text" ? "string" : type;
  const format = type === "timestamp" ? "date-time" : type;
  return { type: isKey ? [jsonType] : ["null", jsonType], ...(isTime ? { format } : {}) };
}

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;
const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** How a column's values are written; one that does not fit its type is counted, and undefined. */
function converterOf({ type }: ReadableColumn, lost: { count: number }) {
  const convert = (value: Exclude<RowValue, null>): string | undefined => {
    const text = String(value);
    if (type === "boolean") return value === 1 ? "true" : value === 0 ? "false" : undefined;
    if (type === "integer") return /^-?\d+$/.test(text) ? text : undefined;
    if (type === "number") return jsonNumber.test(text) ? text : undefined;
    if (type === "date") return asDay(text) === undefined ? undefined : JSON.stringify(text);
    if (type !== "timestamp") return JSON.stringify(text);
    const at = parseTimestamp(text);
    return at === undefined ? undefined : JSON.stringify(rfc3339.test(text) ? text : formatInstant(at));
  };
  return (value: RowValue): string => {
    if (value === null) return "null";
    const text = convert(value);
    if (text === undefined) lost.count += 1;
    return text ?? "null";
  };
}

/** A state that is none is told of before anything is written. */
function stateOf(value: unknown): SingerState {
  const bookmarks = (value as Partial<SingerState> | undefined)?.bookmarks;
  return { bookmarks: typeof bookmarks === "object" && bookmarks !== null ? bookmarks : {} };
}
