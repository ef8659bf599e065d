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
import { filterFlags, recordDate, recordKey } from "./record-key.js";
import { parseRecord, type RecordRow } from "./records.js";
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
  /** The position of the first record in the complete list, which identifies records without an ID. */
  position?: number;
  keyPrefix?: string;
  /** True if the records come from details requests. List items do not replace the details in the mirror. */
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
  value: Json;
  json: string;
  context: string | null;
  readAt: string;
  options: ResponseOptions;
}

/** The columns of `records` that depend on both the response and the mirrored version. */
type StoredVersion = Pick<
  RecordRow,
  "json" | "list_json" | "detailed_at" | "outdated" | "context" | "since_at"
>;

/** `rewritten` means that the record has no new version, although its stored JSON or read time may have changed. */
type WriteEffect = "unchanged" | "rewritten" | "added" | "changed" | "skipped";

interface RecordWrite {
  id: number;
  effect: WriteEffect;
}

/**
 * Writes a resource's records, their history and their rows in the typed tables. Adds the number of new, changed and
 * removed records to the run. Call all methods in a transaction.
 */
export class RecordWriter {
  readonly #redact;
  readonly #restore;
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
    this.#changes = resource.history ? new ChangeLog(mirror, resource, options) : null;
    this.#hostNames = new HostNames(mirror);
    this.#issues = new SchemaIssues(mirror, resource, options.reporter);
    this.#projection = new Projection(mirror, tablesOf(resource), this.#issues.report);
    this.#mergesDetails = mergesDetails(resource);
  }

  /**
   * @returns the IDs of the records
   * @throws UnexpectedResponse if an ID is missing or inexact, in which case nothing is written
   */
  write(records: readonly Json[], options: ResponseOptions): number[] {
    return this.#writeAll(records, options, { newestOnly: false }).ids;
  }

  /**
   * Writes a response for a resource with dates. If the response contains copies of a record, writes only the first.
   * Skips records that are older than the mirrored version.
   */
  writeNewest(records: readonly Json[], options: ResponseOptions): WrittenRecords {
    return this.#writeAll(records, options, { newestOnly: true });
  }

  /**
   * Marks records as removed and moves their rows to the tables for removed records.
   * @param at the time of the removal, in milliseconds since 1970
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
      this.#issues.startRecord(record, { isNew: false, readAt: removedAt });
      this.#projection.write(record, false);
      removed += 1;
    }
    addWrittenRows(this.mirror, this.options.runId, { removed });
  }

  #writeAll(
    records: readonly Json[],
    options: ResponseOptions,
    { newestOnly }: { newestOnly: boolean },
  ): WrittenRecords {
    const { keyPrefix = "", position = 0 } = options;
    const context = options.context ? JSON.stringify(options.context) : null;
    const readAt = formatInstant(options.readAt);
    // Compute all keys before the first write, so that an invalid ID leaves the mirror unchanged.
    const keys = records.map((value, index) => keyPrefix + recordKey(this.resource, value, position + index));
    const idsByKey = new Map<string, number>();
    const written: WrittenRecords = { ids: [], added: [], copies: [], addedOrChanged: 0 };
    for (const [index, sent] of records.entries()) {
      const key = keys[index] ?? "";
      const earlierId = newestOnly ? idsByKey.get(key) : undefined;
      if (earlierId !== undefined) {
        written.copies.push({ id: earlierId, value: sent });
        continue;
      }
      const value = this.#redact(sent, this.resource.name);
      const received = { key, value, json: JSON.stringify(value), context, readAt, options };
      const { id, effect } = this.#writeRecord(received, newestOnly);
      idsByKey.set(key, id);
      if (effect === "skipped") written.copies.push({ id, value: sent });
      else written.ids.push(id);
      if (effect === "added") written.added.push(id);
      if (effect === "added" || effect === "changed") written.addedOrChanged += 1;
    }
    const added = written.added.length;
    addWrittenRows(this.mirror, this.options.runId, { added, changed: written.addedOrChanged - added });
    return written;
  }

  #writeRecord(received: ReceivedRecord, newestOnly: boolean): RecordWrite {
    const row = this.mirror.selectRow<RecordRow>(
      "SELECT * FROM records WHERE resource = ? AND key = ?",
      this.resource.name,
      received.key,
    );
    if (!row) return { id: this.#add(received), effect: "added" };
    return { id: row.record_id, effect: this.#update(row, received, newestOnly) };
  }

  #add(received: ReceivedRecord): number {
    const { json, key, readAt, value } = received;
    const { isDetail = false, isOutsideRange = false } = received.options;
    const version: StoredVersion = {
      json,
      list_json: this.#mergesDetails && !isDetail ? json : null,
      detailed_at: isDetail ? readAt : null,
      outdated: 0,
      context: received.context,
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
    if (!isOutsideRange) this.#changes?.logAdded(key, value, readAt);
    this.#writeRows({ id, value, sinceAt: readAt, effect: "added" }, received);
    return id;
  }

  /** Replaces the mirrored version if anything has changed. A removed record becomes current again. */
  #update(row: RecordRow, received: ReceivedRecord, newestOnly: boolean): WriteEffect {
    const { context, readAt } = received;
    const { isDetail = false, isOutsideRange = false, touch = false } = received.options;
    const isListItem = this.#mergesDetails && !isDetail;
    const value = isListItem ? mergeListItem(row, received.value) : received.value;
    const json = value === received.value ? received.json : JSON.stringify(value);
    const listJson = isListItem ? received.json : row.list_json;
    const isCurrent = row.removed_at === null && row.context === context;
    const isIdentical = isCurrent && row.json === json && row.list_json === listJson;
    if (isIdentical && !isDetail && !touch) return "unchanged";
    if (newestOnly && isOlder(this.resource, value, row)) return "skipped";

    const before = this.#restore(JSON.parse(row.json) as Json, value, this.resource.name);
    const isSame = isCurrent && isSameRecord(before, value, this.resource);
    // A record's first details do not count as a change.
    const isFirstDetail = !isSame && isDetail && row.detailed_at === null;
    const isChanged = !isSame && !isFirstDetail;

    const version: StoredVersion = {
      json,
      list_json: listJson,
      detailed_at: isDetail ? readAt : row.detailed_at,
      outdated: isDetail ? 0 : isChanged && row.detailed_at !== null ? 1 : row.outdated,
      context,
      since_at: isSame && !touch ? row.since_at : readAt,
    };
    this.mirror.run(
      `UPDATE records SET json = ?, list_json = ?, detailed_at = ?, outdated = ?, context = ?, since_at = ?,
         dated_at = ?, flags = ?, removed_at = NULL WHERE record_id = ?`,
      ...this.#columnValues(version, value),
      row.record_id,
    );
    if (isFirstDetail) this.#changes?.logVersion(row, readAt);
    if (isChanged) this.#changes?.logChanged({ row, before, after: value, isDetail, isOutsideRange }, readAt);
    const effect = isChanged ? "changed" : "rewritten";
    this.#writeRows({ id: row.record_id, value, sinceAt: version.since_at, effect }, received);
    return effect;
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
      filterFlags(this.resource, value),
    ];
  }

  #writeRows(
    { id, value, sinceAt, effect }: { id: number; value: Json; sinceAt: string; effect: WriteEffect },
    { options, readAt }: ReceivedRecord,
  ): void {
    const { context = {} } = options;
    const isNew = effect === "added";
    const record = { recordId: id, value: asObject(value), context, sinceAt, removedAt: null };
    // Only a new version is certain to contain current names.
    if (effect !== "rewritten") this.#hostNames.addFrom(record.value, readAt);
    this.#issues.startRecord(record, { isNew, readAt });
    this.#projection.write(record, isNew);
  }
}

function isOlder(resource: Resource, received: Json, { dated_at, removed_at }: RecordRow): boolean {
  const date = recordDate(resource, received);
  return date !== null && dated_at !== null && removed_at === null && date < startOfSecond(dated_at);
}

/**
 * Merges a list item with the stored details. Drops fields that were in the previous list item but are missing from the
 * new one.
 */
function mergeListItem(row: RecordRow, received: Json): Json {
  if (row.detailed_at === null) return received;
  const earlierItem = row.list_json === null ? {} : asObject(JSON.parse(row.list_json));
  const members = Object.entries(asObject(JSON.parse(row.json)));
  const detailMembers = members.filter(([member]) => !Object.hasOwn(earlierItem, member));
  return { ...Object.fromEntries(detailMembers), ...asObject(received) };
}
