import { createHash } from "node:crypto";
import { ConfigurationError, UsageError } from "../errors.js";
import type { RowSource, RowValue } from "../query/open-rows.js";
import { resolveTable } from "../query/readable-tables.js";
import type { Column, TableShape } from "../resources/table-shape.js";
import type { Mirror } from "../store/database.js";
import { readTextFile } from "../util/files.js";
import { pluralize, quoteShellWord } from "../util/format-text.js";
import { isObject, parseJson } from "../util/json-value.js";
import { errorCode, errorReason } from "../util/system-errors.js";
import { formatInstant, isCalendarDate, parseTimestampParts } from "../util/timestamps.js";
import {
  type Bookmark,
  type ChangedRow,
  createBookmark,
  isBookmarkOf,
  loadChangedRows,
  loadRemovedItems,
} from "./changed-rows.js";
import type { Chunk, Encoder, EncoderOptions } from "./formats.js";

/** The Singer state, which contains a bookmark and a hash of the columns for each stream. */
type SingerState = Record<string, Bookmark & { columns: string }>;

/**
 * Reads the state that a Singer target printed, which is either a STATE message or only the message's value. The
 * initial state is `{}`.
 * @param path an absolute path
 * @throws ConfigurationError if the file is missing, empty or invalid; an empty file usually means that the last run
 * failed
 */
export function readSingerState(path: string): SingerState {
  const content = parseJson<unknown>(readState(path));
  const state = isObject(content) && content.type === "STATE" ? content.value : content;
  if (!isObject(state)) throw createInvalidStateError(path);
  if (Object.keys(state).length > 0 && !("bookmarks" in state)) throw createInvalidStateError(path);
  const { bookmarks = {} } = state;
  if (!isObject(bookmarks) || !areBookmarks(bookmarks)) throw createInvalidStateError(path);
  return bookmarks;
}

function readState(path: string): string {
  try {
    const text = readTextFile(path);
    if (text.trim() !== "") return text;
  } catch (cause) {
    if (errorCode(cause) === "ENOENT")
      throw new ConfigurationError(`The state file does not exist: ${path}`, {
        hint: startHint(path),
        cause,
      });
    throw new ConfigurationError(`The state file cannot be read (${errorReason(cause)}): ${path}`, {
      hint: "use the file that contains the last line of the target's output",
      cause,
    });
  }
  throw new ConfigurationError(`The state file is empty: ${path}`, { hint: startHint(path) });
}

function startHint(path: string): string {
  return `to send everything, start with an empty state: echo '{}' > ${quoteShellWord(path)}`;
}

function createInvalidStateError(path: string): ConfigurationError {
  return new ConfigurationError(
    `The file does not contain a state written by \`brandapi export --singer\`: ${path}`,
    {
      hint: "use the last line that the target printed, or omit `--state` to send everything",
    },
  );
}

function areBookmarks(value: Record<string, unknown>): value is SingerState {
  return Object.values(value).every((bookmark) => {
    if (!isObject(bookmark)) return false;
    const { columns, run, record_id: record, version_id: version } = bookmark;
    const isNumbered = Number.isSafeInteger(record) && Number.isSafeInteger(version);
    return typeof columns === "string" && typeof run === "string" && isNumbered;
  });
}

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

/**
 * Returns the JSON schema for a column. Columns with JSON or mixed types become strings, because few targets support
 * more.
 */
export function singerSchema(type: Column["type"], isKey: boolean): object {
  const isTime = type === "timestamp" || type === "date";
  const jsonType = type === "integer" || type === "number" || type === "boolean" ? type : "string";
  const format = type === "timestamp" ? "date-time" : type;
  return { type: isKey ? [jsonType] : ["null", jsonType], ...(isTime ? { format } : {}) };
}

/** Converts a value to match its column's schema. Returns undefined if this is not possible. */
export function singerValue(value: Exclude<RowValue, null>, type: Column["type"]): unknown {
  if (type === "boolean") return value === 0 || value === 1 ? value === 1 : undefined;
  if (type === "integer") return Number.isInteger(value) ? value : undefined;
  if (type === "number") return Number.isFinite(value) ? value : undefined;
  const text = String(value);
  if (type === "date") return isCalendarDate(text) ? text : undefined;
  if (type !== "timestamp") return text;
  const timestamp = parseTimestampParts(text);
  return timestamp && (rfc3339.test(text) ? text : formatInstant(timestamp.ms));
}

const deletedAtProperty = "_sdc_deleted_at";

interface SingerStream {
  name: string;
  shape: TableShape;
  columns: readonly Column[];
  keys: readonly string[];
  /** The key properties that no documented column provides. They are added to the schema and to each record. */
  addedKeys: readonly string[];
  properties: Readonly<Record<string, object>>;
}

/**
 * Returns an encoder for Singer messages (github.com/singer-io/getting-started, docs/SPEC.md). Each table becomes a
 * SCHEMA message, a RECORD message for each row that was added, changed or removed, and a STATE message for the next
 * run. If the state comes from a different mirror, all rows are sent.
 * @param state the state after the previous export
 */
export function createSingerEncoder(mirror: Mirror, state: SingerState): Encoder {
  return function* encode(sources, { warn }) {
    const streams = sources.map((source) => openStream(mirror, source));
    let bookmarks = state;
    for (const stream of streams) {
      const { name, shape, keys, properties } = stream;
      const columns = stream.columns.map((column) => column.name);
      const columnsHash = createHash("sha256")
        .update(Object.keys(properties).join())
        .digest("hex")
        .slice(0, 8);
      const bookmark = bookmarks[name];
      const previous = bookmark && isBookmarkOf(mirror, bookmark) ? bookmark : undefined;
      const schema = { type: "object", properties };
      yield { data: messageLine({ type: "SCHEMA", stream: name, schema, key_properties: keys }) };
      // After a column has been added, all rows are sent, because any of them may have a value in the new column.
      const after = previous?.columns === columnsHash ? previous : undefined;
      yield* recordLines(stream, loadChangedRows(mirror, shape, columns, after), warn);
      if (previous) yield* recordLines(stream, loadRemovedItems(mirror, shape, columns, previous), warn);
      // Tables without a history have no bookmark, so all of their rows are sent every time.
      if (shape.resource.keepsHistory)
        bookmarks = { ...bookmarks, [name]: { columns: columnsHash, ...createBookmark(mirror) } };
      yield { data: messageLine({ type: "STATE", value: { bookmarks } }) };
    }
  };
}

/** @throws UsageError for views, system tables, and tables for removed records */
function openStream(mirror: Mirror, { name, columns }: RowSource): SingerStream {
  const { shape } = resolveTable(mirror, name);
  if (shape?.name !== name)
    throw new UsageError(`A Singer export supports only tables built from API records, not \`${name}\`.`, {
      hint: "choose tables such as `orders` or `roster`; `brandapi tables` lists them",
    });
  const idColumns = listIdColumns(shape);
  const keys = [...(idColumns.length > 0 ? idColumns : ["record_key"]), ...(shape.list ? ["position"] : [])];
  // Undocumented fields do not count: such a column may have the same name as a key but a different meaning.
  const declared = columns.filter(({ isDiscovered }) => !isDiscovered).map((column) => column.name);
  const addedKeys = keys.filter((key) => !declared.includes(key));
  const properties = Object.fromEntries([
    ...columns.map((column) => [column.name, singerSchema(column.type, keys.includes(column.name))] as const),
    ...addedKeys.map((key) => [key, { type: [key === "position" ? "integer" : "string"] }] as const),
    [deletedAtProperty, { type: ["null", "string"], format: "date-time" }] as const,
  ]);
  return { name, shape, columns, keys, addedKeys, properties };
}

/** Returns the columns that identify a row's record, or an empty array if the API documents no ID. */
function listIdColumns({ resource: { pagination, key }, list }: TableShape): readonly string[] {
  if (pagination !== "documented") return [];
  if (list && key.length > 0) return list.field.parentKey.map(({ column }) => column);
  // A nested field such as `host.id` becomes the `host_id` column.
  return key.map((path) => path.replaceAll(".", "_"));
}

function* recordLines(
  { name: stream, columns, keys, addedKeys }: SingerStream,
  batches: Iterable<ChangedRow[]>,
  warn: EncoderOptions["warn"],
): Iterable<Chunk> {
  let mismatches = 0;
  for (const rows of batches) {
    const lines = rows.map(({ values, key, position, removedAt }) => {
      const record: Record<string, unknown> = {};
      for (const [index, { name, type }] of columns.entries()) {
        const value = values[index] ?? null;
        const converted = value === null ? null : singerValue(value, type);
        if (converted === undefined) mismatches += 1;
        // Singer targets need a primary key. If the profile omits the ID, the `record_key` is sent.
        record[name] = converted ?? (keys.includes(name) ? key : null);
      }
      for (const name of addedKeys) record[name] = name === "position" ? position : key;
      record[deletedAtProperty] = removedAt;
      return messageLine({ type: "RECORD", stream, record });
    });
    yield { data: lines.join(""), rows: rows.length, table: stream };
  }
  if (mismatches > 0)
    warn(
      `sent ${pluralize(mismatches, "value")} in \`${stream}\` as null because the type does not match the column`,
    );
}

function messageLine(message: object): string {
  return `${JSON.stringify(message)}\n`;
}
