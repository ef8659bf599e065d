import { mergesDetails, type Resource } from "../resources/resource.js";
import { tablesOf } from "../resources/table-shape.js";
import { asObject, type Json, type JsonObject } from "../util/json-value.js";
import { startOfSecond } from "../util/ranges.js";
import type { Reporter } from "../util/reporter.js";
import { formatInstant } from "../util/times.js";
import { parseTimestamp } from "../util/timestamp.js";
import { type ChangeLog, openChangeLog, type ReadHistory, sameRecord } from "./change-log.js";
import { openAttributeWatch, openIssueNotices } from "./columns.js";
import type { Mirror } from "./database.js";
import { openHostNames } from "./host-names.js";
import { openTables } from "./projection.js";
import { createRedactor, createRestorer } from "./redaction-rules.js";
import { addWrittenRows } from "./runs.js";
import { parseRecord, recordKey, type StoredRow } from "./stored-record.js";
import { openUnexpectedValues } from "./unexpected-values.js";
import { type SchemaIssue, valueAt } from "./values.js";

/** A row of the table `records`: `list_json`, `detailed_at` and `outdated` of a resource with details. */
export interface RecordRow extends StoredRow {
  key: string;
  list_json: string | null;
  detailed_at: string | null;
  outdated: 0 | 1;
  dated_at: number | null;
}

/** A row as it is written; dates and flags follow from the value. */
export type RecordContent = Pick<
  RecordRow,
  "json" | "list_json" | "detailed_at" | "outdated" | "context" | "since_at"
>;

/** A present record of a resource with dates. */
export type MirroredRecord = Pick<RecordRow, "key" | "json"> & { id: number };

export type RecordTable = ReturnType<typeof openRecordTable>;

/** Prepares reading and writing one resource's rows of the table `records`. */
export function openRecordTable({ db }: Mirror, resource: Resource) {
  const columns =
    "record_id, key, json, list_json, detailed_at, outdated, context, dated_at, since_at, removed_at";
  const find = db.prepare<[string, string], RecordRow>(
    `SELECT ${columns} FROM records WHERE resource = ? AND key = ?`,
  );
  const findDated = db.prepare<[string, number | null, number | null, number], MirroredRecord>(
    `SELECT record_id AS id, key, json FROM records
     WHERE resource = ? AND dated_at BETWEEN ? AND ? AND removed_at IS NULL LIMIT ?`,
  );
  const get = db.prepare<[number], RecordRow>(`SELECT ${columns} FROM records WHERE record_id = ?`);
  const add = db.prepare(
    `INSERT INTO records (resource, key, json, list_json, detailed_at, outdated, context, since_at, dated_at, flags)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (resource, key) DO NOTHING`,
  );
  const replace = db.prepare(
    `UPDATE records SET json = ?, list_json = ?, detailed_at = ?, outdated = ?, context = ?, since_at = ?,
       dated_at = ?, flags = ?, removed_at = NULL WHERE record_id = ?`,
  );
  const setRemoved = db.prepare("UPDATE records SET removed_at = ?, since_at = ? WHERE record_id = ?");

  /** Returns what both statements bind, in their order. */
  const bound = (text: RecordContent, value: Json) => [
    text.json,
    text.list_json,
    text.detailed_at,
    text.outdated,
    text.context,
    text.since_at,
    recordDate(resource, value),
    filterFlags(resource, value),
  ];

  return {
    find: (key: string) => find.get(resource.name, key),
    /**
     * Returns the present records of the dates of an answer, by key: one statement finds nearly all of its records. At most
     * twice as many as it has, because the mirror may hold any number that the API has withdrawn.
     */
    findAround(answer: readonly Json[]): Map<string, MirroredRecord> {
      const [newest = null, oldest = null] = [answer[0], answer.at(-1)].map((one = null) =>
        recordDate(resource, one),
      );
      const rows = findDated.all(resource.name, oldest, newest, 2 * answer.length);
      return new Map(rows.map((row) => [row.key, row]));
    },
    get: (recordId: number) => get.get(recordId),
    /** @returns the new record's id; null if there is one with this key */
    add(key: string, text: RecordContent, value: Json): number | null {
      const { changes, lastInsertRowid } = add.run(resource.name, key, ...bound(text, value));
      return changes === 1 ? Number(lastInsertRowid) : null;
    },
    /** Overwrites a record, which is present from then on. */
    replace: (recordId: number, text: RecordContent, value: Json) =>
      void replace.run(...bound(text, value), recordId),
    setRemoved: (recordId: number, at: string) => void setRemoved.run(at, at, recordId),
  };
}

/** Returns the instant that ranges go by, in milliseconds; null if the resource has none or it is no timestamp. */
export function recordDate({ strategy }: Resource, value: Json): number | null {
  if (strategy.kind !== "dated") return null;
  const text = valueAt(value, [strategy.date]);
  return typeof text === "string" ? (parseTimestamp(text) ?? null) : null;
}

/** Returns the month (UTC) of an instant that `datedOf` returned. */
export function utcMonth(dated: number | null): string | null {
  return dated === null ? null : formatInstant(Math.floor(dated)).slice(0, 7);
}

/** Returns one bit per filter of the API that would select this record. */
function filterFlags({ strategy }: Resource, value: Json): number {
  if (strategy.kind !== "dated") return 0;
  let flags = 0;
  for (const [bit, { member }] of (strategy.countedFilters ?? []).entries())
    if (valueAt(value, [member]) === true) flags |= 1 << bit;
  return flags;
}

export interface WriteOptions {
  /** When the answer was asked for, ISO 8601. */
  readAt: string;
  /** The parameters of the request, such as a month, for columns whose values the record does not carry. */
  context?: JsonObject;
  /** The place of the first record in the whole list: the key of records without an id. */
  position?: number;
  /** Stands before every key: the key of the record that these are part of. */
  keyPrefix?: string;
  /** True if the records are details of a list's records. Otherwise they are the list's: known details stay. */
  isDetail?: boolean;
  /** True if unchanged records too are marked as read now. */
  touch?: boolean;
  /** True if a record is not written over a mirrored one with a newer date. */
  newestOnly?: boolean;
}

/** The effect of writing a record. `rows`: only its rows differ now; `same`: nothing does; `older`: it was not written. */
export type WriteEffect = "same" | "rows" | "added" | "changed" | "older";

/**
 * Writes a record without its rows: as a new one, or over the mirror's record of the same key.
 * @param around the mirror's records of the dates of its answer, by key
 */
export type WriteRecord = (
  sent: Json,
  key: string,
  options: WriteOptions,
  around: Map<string, MirroredRecord>,
) => { id: number; effect: WriteEffect; value: Json; sinceAt: string };

export function openRecordWriter(
  mirror: Mirror,
  resource: Resource,
  table: RecordTable,
  log: ChangeLog,
): WriteRecord {
  const restore = createRestorer(mirror);
  const isDetailed = mergesDetails(resource);

  /** Returns a row's text after an answer. @param before the row as it was */
  function textOf(
    before: Omit<RecordContent, "json" | "context">,
    json: string,
    sentJson: string,
    { context, isDetail, readAt }: WriteOptions,
  ): RecordContent {
    return {
      json,
      list_json: isDetailed && !isDetail ? sentJson : before.list_json,
      detailed_at: isDetail ? readAt : before.detailed_at,
      outdated: isDetail ? 0 : before.outdated,
      context: context ? JSON.stringify(context) : null,
      since_at: before.since_at,
    };
  }

  function insert(sent: Json, json: string, key: string, options: WriteOptions): number | null {
    const { readAt } = options;
    const unread = { list_json: null, detailed_at: null, outdated: 0, since_at: readAt } as const;
    const id = table.add(key, textOf(unread, json, json, options), sent);
    if (id !== null) log.added(key, sent, readAt);
    return id;
  }

  function update(
    row: RecordRow,
    sent: Json,
    sentJson: string,
    options: WriteOptions,
  ): ReturnType<WriteRecord> {
    const { isDetail = false, readAt, touch = false } = options;
    const id = row.record_id;
    const value = isDetailed && !isDetail ? mergeListItem(row, sent) : sent;
    const json = value === sent ? sentJson : JSON.stringify(value);
    const before = row.json === json ? value : restore(JSON.parse(row.json) as Json, value, resource.name);
    const text = textOf(row, json, sentJson, options);
    const result = (effect: WriteEffect) => ({ id, effect, value, sinceAt: text.since_at });
    if (options.newestOnly && isOlder(resource, sent, row)) return result("older");
    const isThere = row.removed_at === null && row.context === text.context;
    const isSame = isThere && sameRecord(before, value, resource);
    if (!isSame && !isDetail && row.detailed_at !== null) text.outdated = 1;
    if (!isSame || touch) text.since_at = readAt;
    const isEqual = isSame && !touch && row.json === json;
    if (!isEqual || isDetail || text.list_json !== row.list_json) table.replace(id, text, value);
    if (isSame) return result(isEqual ? "same" : "rows");
    // With its first details a record has not changed: until now the mirror knew less of it.
    const isCompleted = isDetail && row.detailed_at === null;
    if (isCompleted) log.completed(row, readAt);
    else log.changed({ row, before, after: value, isDetail, at: readAt });
    return result(isCompleted ? "rows" : "changed");
  }

  return (sent, key, options, around) => {
    const json = JSON.stringify(sent);
    const known = around.get(key);
    if (known?.json === json) return { id: known.id, effect: "same", value: sent, sinceAt: options.readAt };
    // An answer may show a record twice.
    around.delete(key);
    const added = insert(sent, json, key, options);
    if (added !== null) return { id: added, effect: "added", value: sent, sinceAt: options.readAt };
    const row = table.find(key);
    if (!row) throw new Error(`record neither added nor found: ${resource.name} ${key}`);
    return update(row, sent, json, options);
  };
}

/** True if a record is dated before the second of the mirrored one. */
function isOlder(resource: Resource, sent: Json, { dated_at, removed_at }: RecordRow): boolean {
  const dated = recordDate(resource, sent);
  return dated !== null && dated_at !== null && removed_at === null && dated < startOfSecond(dated_at);
}

/**
 * Returns a list's record with the members that only its details have: the API's latest word on each. A member that the
 * list had before and has no more is gone.
 */
function mergeListItem(row: RecordRow, sent: Json): Json {
  if (row.detailed_at === null) return sent;
  const before = row.list_json === null ? {} : asObject(JSON.parse(row.list_json));
  const whole = Object.entries(asObject(JSON.parse(row.json)));
  const kept = whole.filter(([member]) => !Object.hasOwn(before, member));
  return { ...Object.fromEntries(kept), ...asObject(sent) };
}

/**
 * The records of one resource: the truth, with its projection and its history. Call both in a transaction. New, changed and
 * removed records are counted in the run's row.
 */
export interface RecordWriter {
  /**
   * Writes whole records.
   * @returns their record ids, in the order given
   * @throws UnexpectedResponse before anything is written, if a record's id is missing or inexact
   */
  write(values: readonly Json[], options: WriteOptions): number[];
  /**
   * Writes records of a resource with dates, but not the older copies of a record that the API lists more than once: those
   * after the first one with its ID, and those with an older date than the mirrored record.
   */
  writeNewest(values: readonly Json[], options: WriteOptions): WrittenRecords;
  /** Marks records as removed. */
  remove(recordIds: Iterable<number>, at: string): void;
}

/** The effect of writing records: the IDs of those that were written, the copies that were not, and how many differ now. */
export interface WrittenRecords {
  ids: number[];
  copies: SkippedCopy[];
  changed: number;
}

/** A copy of a record that was not written, and the ID of the mirrored record. */
export interface SkippedCopy {
  id: number;
  value: Json;
}

export interface RecordWriterOptions extends ReadHistory {
  /** The run that new, changed and removed records are counted for. */
  runId: number;
  /** Receives unknown attributes and columns with another name, once in the life of a mirror. */
  reporter: Pick<Reporter, "note" | "warn">;
}

/** Opens a resource's records for writing. */
export function openRecords(
  mirror: Mirror,
  resource: Resource,
  { runId, reporter, ...readings }: RecordWriterOptions,
): RecordWriter {
  let readAt = "";
  let recordId = 0;
  const notice = openIssueNotices(mirror, resource, reporter, () => readAt);
  const unexpected = openUnexpectedValues(mirror);
  const complain = (complaint: SchemaIssue) =>
    complaint.kind === "type" ? unexpected.add(recordId, complaint) : notice(complaint);
  const door = createRedactor(mirror);
  const table = openRecordTable(mirror, resource);
  const log = openChangeLog(mirror, resource, { runId, ...readings });
  const writeRecord = openRecordWriter(mirror, resource, table, log);
  const writeRows = openTables(mirror, tablesOf(resource), complain);
  const watch = openAttributeWatch(resource, complain);
  const names = openHostNames(mirror);

  function remove(id: number, at: string): boolean {
    const row = table.get(id);
    if (!row || row.removed_at !== null) return false;
    log.removed(row, at);
    table.setRemoved(id, at);
    recordId = id;
    writeRows(parseRecord(mirror, { ...row, since_at: at, removed_at: at }), false);
    return true;
  }

  function writeAll(values: readonly Json[], options: WriteOptions) {
    readAt = options.readAt;
    const { context = {}, keyPrefix = "", position = 0 } = options;
    const ids: number[] = [];
    const copies: SkippedCopy[] = [];
    let [added, changed] = [0, 0];
    // All keys, before anything is written.
    const keys = values.map((value, index) => keyPrefix + recordKey(resource, value, position + index));
    const around = table.findAround(values);
    const hasCopies = options.newestOnly && new Set(keys).size < keys.length;
    for (const [index, sent] of values.entries()) {
      const key = keys[index] ?? "";
      if (hasCopies && keys.indexOf(key) < index) {
        copies.push({ id: table.find(key)?.record_id ?? 0, value: sent });
        continue;
      }
      const kept = door(sent, resource.name);
      const { id, effect, value, sinceAt } = writeRecord(kept, key, options, around);
      if (effect === "older") copies.push({ id, value: sent });
      else ids.push(id);
      if (effect === "same" || effect === "older") continue;
      if (effect === "added") added += 1;
      if (effect === "changed") changed += 1;
      recordId = id;
      if (effect !== "added") unexpected.clear(id);
      const object = asObject(value);
      if (effect === "added" || effect === "changed") names.addFrom(object, options.readAt);
      watch(object);
      writeRows({ recordId: id, value: object, context, sinceAt, removedAt: null }, effect === "added");
    }
    addWrittenRows(mirror, runId, { added, changed });
    return { ids, copies, changed: added + changed };
  }

  return {
    write: (values, options) => writeAll(values, options).ids,
    writeNewest: (values, options) => writeAll(values, { ...options, newestOnly: true }),
    remove(recordIds, at) {
      const removed = [...recordIds].filter((id) => remove(id, at)).length;
      addWrittenRows(mirror, runId, { removed });
    },
  };
}
