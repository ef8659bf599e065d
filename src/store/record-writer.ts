import { mergesDetails, type Resource } from "../resources/resource.js";
import { tablesOf } from "../resources/table-shape.js";
import { asObject, type Json, type JsonObject } from "../util/json-value.js";
import { startOfSecond } from "../util/ranges.js";
import type { Reporter } from "../util/reporter.js";
import { formatInstant } from "../util/times.js";
import { ChangeLog, type ReadHistory } from "./change-log.js";
import type { Mirror } from "./database.js";
import { HostNames } from "./host-names.js";
import { Projection } from "./projection.js";
import { isSameRecord } from "./record-diff.js";
import {
  createFlagReader,
  parseRecord,
  parseStoredRecord,
  type RecordRow,
  recordDate,
  recordKey,
} from "./records.js";
import { createRedactor, createRestorer } from "./redaction-rules.js";
import { addWrittenRows } from "./runs.js";
import { SchemaIssues } from "./schema-issues.js";

export interface RecordWriterOptions extends ReadHistory {
  runId: number;
  reporter: Pick<Reporter, "note" | "warn">;
}

export interface ResponseOptions {
  readAt: number;
  /** Request parameters, such as the month, for columns whose values are not in the response. */
  context?: JsonObject;
  /** The position of the first record in the complete list. Records without an ID are identified by their position. */
  position?: number;
  keyPrefix?: string;
  /**
   * True if the records come from details requests. If false, they are list items, which do not replace the details in
   * the mirror.
   */
  isDetail?: boolean;
  /** True to update the read time even if a record has not changed. */
  touch?: boolean;
  /**
   * True if the records' dates are outside the requested range. The coverage then does not show when the records
   * changed.
   */
  isOutsideRange?: boolean;
}

export interface WrittenRecords {
  ids: number[];
  added: number[];
  copies: SkippedCopy[];
  addedOrChanged: number;
}

/** A copy of a record that was not written, with the ID of the mirrored record. */
export interface SkippedCopy {
  id: number;
  value: Json;
}

interface ReceivedRecord {
  key: string;
  /** The record after redaction. */
  value: Json;
  json: string;
  context: string | null;
  /** When the request was sent (ISO 8601). */
  readAt: string;
  isDetail: boolean;
  /** True for a list item whose details are merged into the mirrored record. */
  isListItem: boolean;
  options: WriteOptions;
}

/** The columns of a mirrored record that show whether it has changed. */
interface KnownRecord {
  id: number;
  key: string;
  json: string;
}

interface WriteOptions extends ResponseOptions {
  /** True to skip copies and any record whose date is older than in the mirror. */
  newestOnly: boolean;
}

/** The columns of `records` that depend on both the response and the mirrored version. */
type StoredVersion = Pick<
  RecordRow,
  "json" | "list_json" | "detailed_at" | "outdated" | "context" | "since_at"
>;

/**
 * The result of comparing a received record with the mirrored version.
 * - unchanged: There is nothing to write.
 * - older: The mirrored version is newer and is kept.
 * - rewritten: The record has not changed, although its JSON or its read time may differ.
 * - firstDetail: These are the record's first details, which do not count as a change.
 * - changed: The record has a new version, or has returned after its removal.
 */
type VersionComparison =
  | { result: "unchanged" | "older" }
  | { result: "rewritten" | "firstDetail" | "changed"; before: Json; after: Json; version: StoredVersion };

/**
 * Writes a resource's records, their history and their rows in the typed tables. Adds the number of new, changed and
 * removed records to the run. Call all methods in a transaction.
 */
export class RecordWriter {
  readonly #redact;
  readonly #restore;
  readonly #readFlags;
  readonly #changes: ChangeLog | null;
  readonly #hostNames: HostNames;
  readonly #issues: SchemaIssues;
  readonly #projection: Projection;
  readonly #mergesDetails: boolean;

  constructor(
    private readonly mirror: Mirror,
    private readonly resource: Resource,
    private readonly options: RecordWriterOptions,
  ) {
    this.#redact = createRedactor(mirror);
    this.#restore = createRestorer(mirror);
    this.#readFlags = createFlagReader(resource);
    this.#changes = resource.keepsHistory ? new ChangeLog(mirror, resource, options) : null;
    this.#hostNames = new HostNames(mirror);
    this.#issues = new SchemaIssues(mirror, resource, options.reporter);
    this.#projection = new Projection(mirror, tablesOf(resource));
    this.#mergesDetails = mergesDetails(resource);
  }

  /**
   * @returns the IDs of the records
   * @throws UnexpectedResponse if an ID is missing or inexact, in which case nothing is written
   */
  write(records: readonly Json[], options: ResponseOptions): number[] {
    return this.#writeAll(records, { ...options, newestOnly: false }).ids;
  }

  /**
   * Writes a response for a resource with dates. If the response contains copies of a record, writes only the first.
   * Skips records that are older than the mirrored version.
   */
  writeNewest(records: readonly Json[], options: ResponseOptions): WrittenRecords {
    return this.#writeAll(records, { ...options, newestOnly: true });
  }

  /**
   * Marks records as removed and moves their rows to the tables for removed records.
   * @param at the time of the removal, in milliseconds since the Unix epoch
   */
  remove(recordIds: Iterable<number>, at: number): void {
    const removedAt = formatInstant(at);
    let removed = 0;
    for (const id of recordIds) {
      const row = this.mirror.selectRow<RecordRow>("SELECT * FROM records WHERE record_id = ?", id);
      if (!row || row.removed_at !== null) continue;
      this.#changes?.logRemoved(row, removedAt);
      this.mirror.run(
        "UPDATE records SET removed_at = ?, since_at = ? WHERE record_id = ?",
        removedAt,
        removedAt,
        id,
      );
      const record = parseRecord(this.mirror, { ...row, since_at: removedAt, removed_at: removedAt });
      const issues = this.#projection.write(record, { isNew: false });
      this.#issues.save(record, issues, { isNew: false, readAt: removedAt });
      removed += 1;
    }
    addWrittenRows(this.mirror, this.options.runId, { removed });
  }

  #writeAll(records: readonly Json[], options: WriteOptions): WrittenRecords {
    const { isDetail = false, keyPrefix = "", newestOnly, position = 0 } = options;
    const isListItem = this.#mergesDetails && !isDetail;
    const context = options.context ? JSON.stringify(options.context) : null;
    const readAt = formatInstant(options.readAt);
    // All keys are computed before the first write, so that an invalid ID leaves the mirror unchanged.
    const keys = records.map((sent, index) => keyPrefix + recordKey(this.resource, sent, position + index));
    const known = newestOnly ? this.#readByDate(records) : new Map<string, KnownRecord>();
    const rows = this.#readRows(keys.filter((key) => !known.has(key)));
    const idsByKey = new Map<string, number>();
    const written: WrittenRecords = { ids: [], added: [], copies: [], addedOrChanged: 0 };
    for (const [index, sent] of records.entries()) {
      const key = keys[index] ?? "";
      const earlierId = idsByKey.get(key);
      if (newestOnly && earlierId !== undefined) {
        written.copies.push({ id: earlierId, value: sent });
        continue;
      }
      const value = this.#redact(sent, this.resource.name);
      const json = JSON.stringify(value);
      const mirrored = known.get(key);
      if (mirrored?.json === json) {
        idsByKey.set(key, mirrored.id);
        written.ids.push(mirrored.id);
        continue;
      }
      // A copy is compared with the version that was written for the previous copy.
      const wasRead = !mirrored && earlierId === undefined;
      const row = (wasRead ? rows : this.#readRows([key])).get(key);
      const received = { key, value, json, context, readAt, isDetail, isListItem, options };
      const id = row?.record_id ?? this.#add(received);
      const result = row ? this.#update(row, received) : "added";
      idsByKey.set(key, id);
      if (result === "older") written.copies.push({ id, value: sent });
      else written.ids.push(id);
      if (result === "added") written.added.push(id);
      if (result === "added" || result === "changed") written.addedOrChanged += 1;
    }
    const added = written.added.length;
    addWrittenRows(this.mirror, this.options.runId, { added, changed: written.addedOrChanged - added });
    return written;
  }

  /**
   * Reads the current records between a response's oldest and newest date. Most of them are unchanged, and a query by
   * date takes half the time of a query by key. The limit is needed because the range may contain any number of records
   * that the API no longer returns.
   */
  #readByDate(response: readonly Json[]): ReadonlyMap<string, KnownRecord> {
    const [newest, oldest] = [response[0], response.at(-1)].map((record = null) =>
      recordDate(this.resource, record),
    );
    const select = `SELECT record_id AS id, key, json FROM records
      WHERE resource = ? AND dated_at BETWEEN ? AND ? AND removed_at IS NULL LIMIT ?`;
    const parameters = [this.resource.name, oldest, newest, 2 * response.length];
    const records = this.mirror.selectRows<KnownRecord>(select, ...parameters);
    return new Map(records.map((record) => [record.key, record]));
  }

  /** Reads the mirrored versions of records with one query, and returns them by key. */
  #readRows(keys: readonly string[]): ReadonlyMap<string, RecordRow> {
    if (keys.length === 0) return new Map();
    const select = "SELECT * FROM records WHERE resource = ? AND key IN (SELECT value FROM json_each(?))";
    const rows = this.mirror.selectRows<RecordRow>(select, this.resource.name, JSON.stringify(keys));
    return new Map(rows.map((row) => [row.key, row]));
  }

  #add(received: ReceivedRecord): number {
    const { context, isDetail, isListItem, json, key, options, readAt, value } = received;
    const version: StoredVersion = {
      json,
      list_json: isListItem ? json : null,
      detailed_at: isDetail ? readAt : null,
      outdated: 0,
      context,
      since_at: readAt,
    };
    const insert = `INSERT INTO records
        (resource, key, json, list_json, detailed_at, outdated, context, since_at, dated_at, flags)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
    const { lastInsertRowid } = this.mirror.run(
      insert,
      this.resource.name,
      key,
      ...this.#columnValues(version, value),
    );
    const id = Number(lastInsertRowid);
    if (!options.isOutsideRange) this.#changes?.logAdded(key, value, readAt);
    this.#hostNames.addFrom(asObject(value), readAt);
    this.#writeRows(id, value, version, received, { isNew: true });
    return id;
  }

  /** Replaces the mirrored version if anything has changed. A removed record becomes current again. */
  #update(row: RecordRow, received: ReceivedRecord): VersionComparison["result"] {
    const comparison = this.#compareVersions(row, received);
    if (!("version" in comparison)) return comparison.result;
    const { after, before, result, version } = comparison;
    const { isDetail, readAt } = received;
    const { isOutsideRange = false } = received.options;
    this.mirror.run(
      `UPDATE records SET json = ?, list_json = ?, detailed_at = ?, outdated = ?, context = ?, since_at = ?,
         dated_at = ?, flags = ?, removed_at = NULL WHERE record_id = ?`,
      ...this.#columnValues(version, after),
      row.record_id,
    );
    if (result === "firstDetail") this.#changes?.logVersion(row, readAt);
    if (result === "changed") {
      this.#changes?.logChanged({ row, before, after, isDetail, isOutsideRange }, readAt);
      // Names are taken only from changed records, because an unchanged record may contain an outdated name.
      this.#hostNames.addFrom(asObject(after), readAt);
    }
    this.#writeRows(row.record_id, after, version, received, { isNew: false });
    return result;
  }

  /** Compares a received record with the mirrored version, without writing to the mirror. */
  #compareVersions(row: RecordRow, received: ReceivedRecord): VersionComparison {
    const { context, isDetail, isListItem, readAt } = received;
    const { newestOnly, touch = false } = received.options;
    const after = isListItem ? this.#mergeListItem(row, received.value) : received.value;
    const json = after === received.value ? received.json : JSON.stringify(after);
    const listJson = isListItem ? received.json : row.list_json;
    const isCurrent = row.removed_at === null && row.context === context;
    const isIdentical = isCurrent && row.json === json && row.list_json === listJson;
    if (isIdentical && !isDetail && !touch) return { result: "unchanged" };
    if (newestOnly && isOlder(this.resource, after, row)) return { result: "older" };

    const stored = parseStoredRecord(this.mirror, row.record_id, row.json);
    const before = this.#restore(stored, after, this.resource.name);
    const isSame = isCurrent && isSameRecord(before, after, this.resource);
    const result = isSame ? "rewritten" : changeResult(row, isDetail);
    const version: StoredVersion = {
      json,
      list_json: listJson,
      context,
      since_at: isSame && !touch ? row.since_at : readAt,
      ...(isDetail
        ? { detailed_at: readAt, outdated: 0 }
        : { detailed_at: row.detailed_at, outdated: outdatedFlag(row, result) }),
    };
    return { result, before, after, version };
  }

  /**
   * Merges a list item with the stored details. Drops fields that were in the previous list item but are missing from
   * the new one.
   */
  #mergeListItem(row: RecordRow, received: Json): Json {
    if (row.detailed_at === null) return received;
    const parse = (json: string) => asObject(parseStoredRecord(this.mirror, row.record_id, json));
    const earlierItem = row.list_json === null ? {} : parse(row.list_json);
    const members = Object.entries(parse(row.json));
    const detailMembers = members.filter(([member]) => !Object.hasOwn(earlierItem, member));
    return { ...Object.fromEntries(detailMembers), ...asObject(received) };
  }

  #columnValues(version: StoredVersion, value: Json): (string | number | null)[] {
    return [
      version.json,
      version.list_json,
      version.detailed_at,
      version.outdated,
      version.context,
      version.since_at,
      recordDate(this.resource, value),
      this.#readFlags(value),
    ];
  }

  #writeRows(
    recordId: number,
    value: Json,
    { since_at: sinceAt }: StoredVersion,
    { options: { context = {} }, readAt }: ReceivedRecord,
    { isNew }: { isNew: boolean },
  ): void {
    const record = { recordId, value: asObject(value), context, sinceAt, removedAt: null };
    const issues = this.#projection.write(record, { isNew });
    this.#issues.save(record, issues, { isNew, readAt });
  }
}

function isOlder(resource: Resource, received: Json, { dated_at, removed_at }: RecordRow): boolean {
  const date = recordDate(resource, received);
  return date !== null && dated_at !== null && removed_at === null && date < startOfSecond(dated_at);
}

function changeResult(row: RecordRow, isDetail: boolean): "firstDetail" | "changed" {
  return isDetail && row.detailed_at === null ? "firstDetail" : "changed";
}

/** Returns 1 if the stored details are older than the record's last change. */
function outdatedFlag(row: RecordRow, result: VersionComparison["result"]): 0 | 1 {
  return result === "changed" && row.detailed_at !== null ? 1 : row.outdated;
}
