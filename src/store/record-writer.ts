import { mergesDetails, type Resource } from "../resources/resource.js";
import { tablesOf } from "../resources/table-shape.js";
import { asObject, type Json, type JsonObject } from "../util/json-value.js";
import { startOfSecond } from "../util/ranges.js";
import type { Reporter } from "../util/reporter.js";
import { ChangeLog, type ReadHistory } from "./change-log.js";
import type { Mirror } from "./database.js";
import { openHostNames } from "./host-names.js";
import { Projection } from "./projection.js";
import { isSameRecord } from "./record-diff.js";
import { filterFlags, recordDate, recordKey } from "./record-key.js";
import { parseRecord, type RecordRow } from "./records.js";
import { createRedactor, createRestorer } from "./redaction-rules.js";
import { addWrittenRows } from "./runs.js";
import { AttributeWatch, SchemaIssues } from "./schema-issues.js";

export interface RecordWriterOptions extends ReadHistory {
  /** The run that counts the new, changed and removed records. */
  runId: number;
  /** Prints a message for each unknown attribute and renamed column, once per mirror. */
  reporter: Pick<Reporter, "note" | "warn">;
}

export interface ResponseOptions {
  /** The time of the request (ISO 8601). */
  readAt: string;
  /** Request parameters, such as a month, for columns whose values are not in the records. */
  context?: JsonObject;
  /** The first record's position in the complete list. A record without an ID is identified by its position. */
  position?: number;
  /** A prefix for all keys: the key of the parent record. */
  keyPrefix?: string;
  /** True if the records are details, false if they are list items. List items do not replace the mirrored details. */
  isDetail?: boolean;
  /** True to update the read time of unchanged records. */
  touch?: boolean;
  /**
   * True if the records' dates are outside the requested range. In that case, the coverage does not show when the
   * records changed.
   */
  isOutsideRange?: boolean;
}

interface WriteOptions extends ResponseOptions {
  /** True to skip records that are older than the mirrored version. */
  newestOnly: boolean;
}

export interface WrittenRecords {
  /** The IDs of the written records, in the same order as in the response. */
  ids: number[];
  /** The IDs of the new records. */
  added: number[];
  /** The copies that were skipped. The API may return several copies of a record. */
  copies: SkippedCopy[];
  /** The number of records that are new or have a new version. */
  addedOrChanged: number;
}

/** A skipped copy of a record, with the mirrored record's ID. */
export interface SkippedCopy {
  id: number;
  value: Json;
}

/**
 * The effect of writing a record.
 * - upToDate: nothing has changed
 * - rewritten: there is no new version, but the rows must be rewritten
 * - added, changed: the record is new, or has a new version
 * - skipped: the mirrored version is newer
 */
type WriteEffect = "upToDate" | "rewritten" | "added" | "changed" | "skipped";

/**
 * The difference between a record from the API and the mirrored version.
 * - insignificant: field order, URL signatures or rounding
 * - firstDetails: the record's first details, which complete it and do not count as a change
 * - changed: different values, a different context, or a removed record that has reappeared
 */
type Difference = "none" | "insignificant" | "firstDetails" | "changed";

interface ReceivedVersion {
  value: Json;
  json: string;
  context: string | null;
  isDetail: boolean;
}

interface WrittenRecord {
  id: number;
  effect: WriteEffect;
  value: Json;
  /** The time at which this version was first read (ISO 8601). */
  sinceAt: string;
}

/**
 * Writes a resource's records, their history and their rows in the typed tables, and adds the counts of new, changed
 * and removed records to the run. All methods must be called in a transaction.
 */
export class RecordWriter {
  readonly #redact;
  readonly #restore;
  readonly #table: RecordTable;
  /** The change log, or null if the resource has no history. */
  readonly #changes: ChangeLog | null;
  readonly #hostNames;
  readonly #issues: SchemaIssues;
  readonly #attributes: AttributeWatch;
  readonly #projection: Projection;
  readonly #mergesDetails: boolean;

  constructor(
    private readonly mirror: Mirror,
    private readonly resource: Resource,
    private readonly options: RecordWriterOptions,
  ) {
    this.#redact = createRedactor(mirror);
    this.#restore = createRestorer(mirror);
    this.#table = new RecordTable(mirror, resource);
    this.#changes = resource.history ? new ChangeLog(mirror, resource, options) : null;
    this.#hostNames = openHostNames(mirror);
    this.#issues = new SchemaIssues(mirror, resource, options.reporter);
    this.#attributes = new AttributeWatch(resource, this.#issues.report);
    this.#projection = new Projection(mirror, tablesOf(resource), this.#issues.report);
    this.#mergesDetails = mergesDetails(resource);
  }

  /**
   * @returns the IDs of the records
   * @throws UnexpectedResponse if an ID is missing or inexact; nothing is written in that case
   */
  write(records: readonly Json[], options: ResponseOptions): number[] {
    return this.#writeAll(records, { ...options, newestOnly: false }).ids;
  }

  /**
   * Writes a response for a resource with dates. Skips all copies of a record after the first, and records
   * with an older date than the mirrored version.
   */
  writeNewest(records: readonly Json[], options: ResponseOptions): WrittenRecords {
    return this.#writeAll(records, { ...options, newestOnly: true });
  }

  /**
   * Marks records as removed and moves their rows to the tables for removed records.
   * @param at an ISO 8601 timestamp
   */
  remove(recordIds: Iterable<number>, at: string): void {
    let removed = 0;
    for (const id of recordIds) {
      const row = this.#table.get(id);
      if (!row || row.removed_at !== null) continue;
      this.#changes?.logRemoved(row, at);
      this.#table.markRemoved(id, at);
      this.#issues.startRecord(id, at);
      this.#projection.write(parseRecord(this.mirror, { ...row, since_at: at, removed_at: at }), false);
      removed += 1;
    }
    addWrittenRows(this.mirror, this.options.runId, { removed });
  }

  #writeAll(records: readonly Json[], options: WriteOptions): WrittenRecords {
    const { keyPrefix = "", newestOnly, position = 0 } = options;
    // All keys are checked before the first write.
    const keys = records.map((value, index) => keyPrefix + recordKey(this.resource, value, position + index));
    const mirrored = this.#table.findByDates(records);
    /** The IDs of the records in this response, by key. */
    const idsByKey = new Map<string, number>();
    let changed = 0;
    const added: number[] = [];
    const ids: number[] = [];
    const copies: SkippedCopy[] = [];
    for (const [index, received] of records.entries()) {
      const key = keys[index] ?? "";
      const id = idsByKey.get(key);
      if (newestOnly && id !== undefined) {
        copies.push({ id, value: received });
        continue;
      }
      const before = id === undefined ? mirrored.get(key) : undefined;
      const record = this.#writeRecord(this.#redact(received, this.resource.name), key, options, before);
      idsByKey.set(key, record.id);
      if (record.effect === "skipped") {
        copies.push({ id: record.id, value: received });
        continue;
      }
      ids.push(record.id);
      if (record.effect === "upToDate") continue;
      if (record.effect === "added") added.push(record.id);
      if (record.effect === "changed") changed += 1;
      this.#writeRows(record, options);
    }
    addWrittenRows(this.mirror, this.options.runId, { added: added.length, changed });
    return { ids, added, copies, addedOrChanged: added.length + changed };
  }

  /**
   * Writes a record, but not its rows.
   * @param before the mirrored record, if the query by date found it; if it is unchanged, no other query is
   * needed
   */
  #writeRecord(
    received: Json,
    key: string,
    options: WriteOptions,
    before: MirroredRecord | undefined,
  ): WrittenRecord {
    const json = JSON.stringify(received);
    const { readAt } = options;
    if (before?.json === json) return { id: before.id, effect: "upToDate", value: received, sinceAt: readAt };
    const added = this.#add(received, json, key, options);
    if (added !== null) return { id: added, effect: "added", value: received, sinceAt: readAt };
    const row = this.#table.find(key);
    if (!row) throw new Error(`record was neither added nor found: ${this.resource.name} ${key}`);
    return this.#update(row, received, json, options);
  }

  /** @returns the ID of the new record, or null if a record with this key exists */
  #add(received: Json, json: string, key: string, options: ResponseOptions): number | null {
    const { isDetail = false, isOutsideRange = false, readAt } = options;
    const content: RecordContent = {
      json,
      list_json: this.#mergesDetails && !isDetail ? json : null,
      detailed_at: isDetail ? readAt : null,
      outdated: 0,
      context: contextText(options),
      since_at: readAt,
    };
    const id = this.#table.add(key, content, received);
    if (id !== null && !isOutsideRange) this.#changes?.logAdded(key, received, readAt);
    return id;
  }

  /** Replaces a mirrored record unless the new version is older. */
  #update(row: RecordRow, received: Json, receivedJson: string, options: WriteOptions): WrittenRecord {
    const { isDetail = false, isOutsideRange = false, newestOnly, readAt, touch = false } = options;
    const id = row.record_id;
    const value = this.#mergesDetails && !isDetail ? mergeListItem(row, received) : received;
    if (newestOnly && isOlder(this.resource, received, row))
      return { id, effect: "skipped", value, sinceAt: row.since_at };

    const json = value === received ? receivedJson : JSON.stringify(value);
    const context = contextText(options);
    const before =
      row.json === json ? value : this.#restore(JSON.parse(row.json) as Json, value, this.resource.name);
    const difference = this.#compare(row, before, { value, json, context, isDetail });
    const isNewVersion = difference === "firstDetails" || difference === "changed";
    const content: RecordContent = {
      json,
      list_json: this.#mergesDetails && !isDetail ? receivedJson : row.list_json,
      detailed_at: isDetail ? readAt : row.detailed_at,
      outdated: outdatedFlag(row, difference, isDetail),
      context,
      since_at: isNewVersion || touch ? readAt : row.since_at,
    };
    const isIdentical = difference === "none" && !touch;
    if (!isIdentical || isDetail || content.list_json !== row.list_json)
      this.#table.replace(id, content, value);
    if (difference === "firstDetails") this.#changes?.logVersion(row, readAt);
    if (difference === "changed")
      this.#changes?.logChanged({ row, before, after: value, isDetail, isOutsideRange, at: readAt });
    return { id, effect: effectOf(difference, touch), value, sinceAt: content.since_at };
  }

  /** @param before the mirrored value, including the fields that are no longer omitted */
  #compare(row: RecordRow, before: Json, received: ReceivedVersion): Difference {
    const isSame =
      row.removed_at === null &&
      row.context === received.context &&
      isSameRecord(before, received.value, this.resource);
    if (isSame) return row.json === received.json ? "none" : "insignificant";
    return received.isDetail && row.detailed_at === null ? "firstDetails" : "changed";
  }

  #writeRows({ effect, id, sinceAt, value }: WrittenRecord, { context = {}, readAt }: ResponseOptions): void {
    const isNew = effect === "added";
    const record = { recordId: id, value: asObject(value), context, sinceAt, removedAt: null };
    this.#issues.startRecord(id, readAt);
    if (!isNew) this.#issues.clear();
    if (effect !== "rewritten") this.#hostNames.addFrom(record.value, readAt);
    this.#attributes.check(record.value);
    this.#projection.write(record, isNew);
  }
}

/** Returns `outdated`: 1 if the record has changed since its details were read. */
function outdatedFlag(
  { detailed_at, outdated }: RecordRow,
  difference: Difference,
  isDetail: boolean,
): 0 | 1 {
  if (isDetail) return 0;
  return difference === "changed" && detailed_at !== null ? 1 : outdated;
}

function effectOf(difference: Difference, touch: boolean): WriteEffect {
  if (difference === "changed") return "changed";
  return difference === "none" && !touch ? "upToDate" : "rewritten";
}

function contextText({ context }: ResponseOptions): string | null {
  return context ? JSON.stringify(context) : null;
}

/** True if a record's date is earlier than the second that contains the mirrored version's date. */
function isOlder(resource: Resource, received: Json, { dated_at, removed_at }: RecordRow): boolean {
  const date = recordDate(resource, received);
  return date !== null && dated_at !== null && removed_at === null && date < startOfSecond(dated_at);
}

/**
 * Merges a list item with the stored details. Drops the fields that the previous list item had but the new list item
 * lacks.
 */
function mergeListItem(row: RecordRow, received: Json): Json {
  if (row.detailed_at === null) return received;
  const earlierItem = row.list_json === null ? {} : asObject(JSON.parse(row.list_json));
  const members = Object.entries(asObject(JSON.parse(row.json)));
  const detailMembers = members.filter(([member]) => !Object.hasOwn(earlierItem, member));
  return { ...Object.fromEntries(detailMembers), ...asObject(received) };
}

/** The columns of `records` that are not computed from the record's value. */
export type RecordContent = Pick<
  RecordRow,
  "json" | "list_json" | "detailed_at" | "outdated" | "context" | "since_at"
>;

export type MirroredRecord = Pick<RecordRow, "key" | "json"> & { id: number };

const columns =
  "record_id, key, json, list_json, detailed_at, outdated, context, dated_at, since_at, removed_at";

/** Reads and writes a resource's rows in the table `records`. */
export class RecordTable {
  readonly #find;
  readonly #findByDates;
  readonly #get;
  readonly #insert;
  readonly #update;
  readonly #remove;

  constructor(
    { db }: Mirror,
    private readonly resource: Resource,
  ) {
    this.#find = db.prepare<[string, string], RecordRow>(
      `SELECT ${columns} FROM records WHERE resource = ? AND key = ?`,
    );
    this.#findByDates = db.prepare<[string, number | null, number | null, number], MirroredRecord>(
      `SELECT record_id AS id, key, json FROM records
       WHERE resource = ? AND dated_at BETWEEN ? AND ? AND removed_at IS NULL LIMIT ?`,
    );
    this.#get = db.prepare<[number], RecordRow>(`SELECT ${columns} FROM records WHERE record_id = ?`);
    this.#insert = db.prepare(
      `INSERT INTO records (resource, key, json, list_json, detailed_at, outdated, context, since_at, dated_at, flags)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (resource, key) DO NOTHING`,
    );
    this.#update = db.prepare(
      `UPDATE records SET json = ?, list_json = ?, detailed_at = ?, outdated = ?, context = ?, since_at = ?,
         dated_at = ?, flags = ?, removed_at = NULL WHERE record_id = ?`,
    );
    this.#remove = db.prepare("UPDATE records SET removed_at = ?, since_at = ? WHERE record_id = ?");
  }

  find(key: string): RecordRow | undefined {
    return this.#find.get(this.resource.name, key);
  }

  /**
   * Returns the current records dated between a response's oldest and newest record, by key. One query finds nearly all
   * records in the response. The query has a limit, because the mirror may have any number of records in this range
   * that the API no longer returns.
   */
  findByDates(response: readonly Json[]): Map<string, MirroredRecord> {
    const [newest, oldest] = [response[0], response.at(-1)].map((record = null) =>
      recordDate(this.resource, record),
    );
    const limit = 2 * response.length;
    const rows = this.#findByDates.all(this.resource.name, oldest ?? null, newest ?? null, limit);
    return new Map(rows.map((row) => [row.key, row]));
  }

  get(recordId: number): RecordRow | undefined {
    return this.#get.get(recordId);
  }

  /**
   * Adds a record.
   * @returns its ID, or null if a record with this key exists
   */
  add(key: string, content: RecordContent, value: Json): number | null {
    const values = this.#parameters(content, value);
    const { changes, lastInsertRowid } = this.#insert.run(this.resource.name, key, ...values);
    return changes === 1 ? Number(lastInsertRowid) : null;
  }

  /** Overwrites a record. A removed record becomes current again. */
  replace(recordId: number, content: RecordContent, value: Json): void {
    this.#update.run(...this.#parameters(content, value), recordId);
  }

  markRemoved(recordId: number, at: string): void {
    this.#remove.run(at, at, recordId);
  }

  #parameters(content: RecordContent, value: Json) {
    return [
      content.json,
      content.list_json,
      content.detailed_at,
      content.outdated,
      content.context,
      content.since_at,
      recordDate(this.resource, value),
      filterFlags(this.resource, value),
    ];
  }
}
