import { mergesDetails, type Resource } from "../resources/resource.js";
import { listTableShapes } from "../resources/table-shape.js";
import { asObject, type Json, type JsonObject } from "../util/json-value.js";
import type { Reporter } from "../util/reporter.js";
import { startOfSecond } from "../util/time-ranges.js";
import { formatInstant } from "../util/timestamps.js";
import { ChangeLog } from "./change-log.js";
import { loadTrustedCoverage } from "./coverage.js";
import type { Mirror } from "./database.js";
import { HostNames } from "./host-names.js";
import { Projection } from "./projection.js";
import { isSameRecord } from "./record-diff.js";
import {
  markDetailsOutdated,
  markDetailsRead,
  mergeListItem,
  type ParsedRecord,
  parseRecord,
  parseStoredRecord,
  type RecordRow,
  recordDate,
  recordKey,
  recordStatusBits,
} from "./records.js";
import { createRedactor, createRestorer } from "./redaction-rules.js";
import { addWrittenRows } from "./runs.js";
import { SchemaIssues } from "./schema-issues.js";

export interface WriteOptions {
  /** The time of the request, in milliseconds since the Unix epoch. */
  requestedAt: number;
  /** Request parameters, such as the month, whose values fill columns that the response does not provide. */
  parameters?: JsonObject;
  /**
   * The index at which these records start in the complete list. Records without an ID are identified by their
   * position.
   */
  position?: number;
  keyPrefix?: string;
  /**
   * True if the records are faulty. Earlier reads of their dates may not have returned them, so it is unknown when they
   * were added or reappeared.
   */
  isFaulty?: boolean;
}

export interface WrittenRecords {
  ids: number[];
  addedIds: number[];
  copies: SkippedCopy[];
  /** The number of added and changed records. */
  changeCount: number;
}

/** A copy of a record that the writer skipped. `id` is the mirrored record's ID. */
export interface SkippedCopy {
  id: number;
  value: Json;
}

/** Describes the request that returned a record. `readAt` is its time (ISO 8601). */
type RequestInfo = Pick<WriteOptions, "parameters" | "isFaulty"> & { readAt: string };

/** A record as it is stored in `records`. */
interface RecordVersion {
  /** The record after redaction, including its details. */
  value: Json;
  json: string;
  /** The redacted list item, or null if no details are merged into the record. */
  listJson: string | null;
}

/**
 * Writes a resource's records, their history and their rows in the typed tables. Adds the counts of new, changed and
 * removed records to the run.
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
    private readonly run: { runId: number; reporter: Pick<Reporter, "note" | "warn"> },
  ) {
    this.#redact = createRedactor(mirror);
    this.#restore = createRestorer(mirror);
    // A record is logged as added only if an earlier sync of its date was complete. Otherwise, that sync may have
    // missed it.
    this.#changes = resource.keepsHistory
      ? new ChangeLog(mirror, resource, run.runId, loadTrustedCoverage(mirror, resource.name))
      : null;
    this.#hostNames = new HostNames(mirror);
    this.#issues = new SchemaIssues(mirror, resource, run.reporter);
    this.#projection = new Projection(mirror, listTableShapes(resource));
    this.#mergesDetails = mergesDetails(resource);
  }

  /**
   * Writes the records in a response. Skips copies: records that have already appeared in the response, or whose date
   * is older than the mirrored record's. A record should keep its date, so a copy may be outdated.
   * @throws UnexpectedResponse if an ID is missing or is a number that JavaScript cannot represent exactly
   */
  write(records: readonly Json[], options: WriteOptions): WrittenRecords {
    const { keyPrefix = "", position = 0, requestedAt, ...rest } = options;
    const request = { ...rest, readAt: formatInstant(requestedAt) };
    const ids = new Set<number>();
    const addedIds: number[] = [];
    const copies: SkippedCopy[] = [];
    let changed = 0;
    for (const [index, sent] of records.entries()) {
      const key = keyPrefix + recordKey(this.resource, sent, position + index);
      const row = this.#find(key);
      const version = this.#createVersion(sent, row);
      if (!row) {
        const id = this.#add(key, version, request);
        ids.add(id);
        addedIds.push(id);
      } else if (ids.has(row.record_id) || this.#isOlder(version, row)) {
        copies.push({ id: row.record_id, value: sent });
      } else {
        ids.add(row.record_id);
        if (this.#update(row, version, request)) changed += 1;
      }
    }
    this.#addToRun({ added: addedIds.length, changed });
    return { ids: [...ids], addedIds, copies, changeCount: addedIds.length + changed };
  }

  /** Replaces a mirrored record, even if the mirrored version has a newer date. */
  replace(sent: Json, requestedAt: number): void {
    const row = this.#find(recordKey(this.resource, sent));
    if (!row) return;
    const version = this.#createVersion(sent, row);
    this.#addToRun({ changed: this.#update(row, version, { readAt: formatInstant(requestedAt) }) ? 1 : 0 });
  }

  /** Merges a record's details into the mirrored list item. A record's first details do not count as a change. */
  writeDetails(sent: Json, requestedAt: number): void {
    const row = this.#find(recordKey(this.resource, sent));
    if (!row) return;
    const value = this.#redact(sent, this.resource.name);
    const version = { value, json: JSON.stringify(value), listJson: row.list_json };
    const before = this.#parseMirrored(row, value);
    const isChanged = !isSameRecord(before, value, this.resource);
    const readAt = formatInstant(requestedAt);
    if (row.json !== version.json)
      this.#replaceVersion(row, version, isChanged ? readAt : row.since_at, { readAt });
    if (isChanged) this.#changes?.logDetails(row, before, value, readAt);
    markDetailsRead(this.mirror, row.record_id, requestedAt);
    this.#addToRun({ changed: isChanged && row.detailed_at !== null ? 1 : 0 });
  }

  /**
   * Marks records as removed and moves their rows to the tables for removed records.
   * @param now the time of the removal, in milliseconds since the Unix epoch
   */
  remove(recordIds: Iterable<number>, now: number): void {
    const removedAt = formatInstant(now);
    let removed = 0;
    for (const id of recordIds) {
      const row = this.mirror.selectRow<RecordRow>("SELECT * FROM records WHERE record_id = ?", id);
      if (!row || row.removed_at !== null) continue;
      this.#changes?.logRemoved(row, removedAt);
      this.mirror.execute(
        "UPDATE records SET removed_at = ?, since_at = ? WHERE record_id = ?",
        removedAt,
        removedAt,
        id,
      );
      const record = parseRecord(this.mirror, { ...row, since_at: removedAt, removed_at: removedAt });
      this.#writeRows(record, { isNew: false, readAt: removedAt });
      removed += 1;
    }
    this.#addToRun({ removed });
  }

  #find(key: string): RecordRow | null {
    const select = "SELECT * FROM records WHERE resource = ? AND key = ?";
    return this.mirror.selectRow<RecordRow>(select, this.resource.name, key);
  }

  /** Redacts a record. If `row` contains details, merges them into the record. */
  #createVersion(sent: Json, row: RecordRow | null): RecordVersion {
    const value = this.#redact(sent, this.resource.name);
    const json = JSON.stringify(value);
    if (!this.#mergesDetails) return { value, json, listJson: null };
    const merged = row ? mergeListItem(this.mirror, row, value) : value;
    return { value: merged, json: JSON.stringify(merged), listJson: json };
  }

  #isOlder({ value }: RecordVersion, row: RecordRow): boolean {
    if (row.removed_at !== null || row.dated_ms === null) return false;
    const date = recordDate(this.resource, value);
    return date !== null && date < startOfSecond(row.dated_ms);
  }

  #add(key: string, { json, listJson, value }: RecordVersion, request: RequestInfo): number {
    const { parameters, isFaulty = false, readAt } = request;
    const date = recordDate(this.resource, value);
    const insert = `INSERT INTO records
        (resource, key, json, list_json, parameters, since_at, dated_ms, status_bits)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)`;
    const { lastInsertRowid } = this.mirror.execute(
      insert,
      this.resource.name,
      key,
      json,
      listJson,
      formatParameters(parameters),
      readAt,
      date,
      recordStatusBits(this.resource, value),
    );
    const id = Number(lastInsertRowid);
    this.#changes?.logAdded(key, isFaulty ? null : date, readAt);
    this.#hostNames.addFrom(asObject(value), readAt);
    const record = { value: asObject(value), parameters: parameters ?? {}, sinceAt: readAt, removedAt: null };
    this.#writeRows({ recordId: id, ...record }, { isNew: true, readAt });
    return id;
  }

  /**
   * Replaces the mirrored version if anything has changed. A removed record becomes current again.
   * @returns true if the record has changed. A different order of fields or a new URL signature is not a change.
   */
  #update(row: RecordRow, version: RecordVersion, request: RequestInfo): boolean {
    const { isFaulty = false, readAt } = request;
    const { value } = version;
    const comparison = this.#compare(row, version, request);
    if (comparison !== "changed") {
      // If the resource has no history, `since_at` is the time of the last read.
      if (!this.resource.keepsHistory) this.#replaceVersion(row, version, readAt, request);
      else if (comparison === "equivalent") this.#replaceVersion(row, version, row.since_at, request);
      return false;
    }
    this.#replaceVersion(row, version, readAt, request);
    if (row.detailed_at !== null) markDetailsOutdated(this.mirror, row.record_id);
    const date = isFaulty ? null : recordDate(this.resource, value);
    this.#changes?.logChanged(row, { before: this.#parseMirrored(row, value), after: value, date }, readAt);
    // Names are taken only from changed records, because an unchanged record may contain an outdated name.
    this.#hostNames.addFrom(asObject(value), readAt);
    return true;
  }

  /** Compares a record with the mirrored version. Versions that differ only in field order are equivalent. */
  #compare(
    row: RecordRow,
    { json, listJson, value }: RecordVersion,
    { parameters }: RequestInfo,
  ): "identical" | "equivalent" | "changed" {
    // A record that reappears or was read with different request parameters counts as changed.
    if (row.removed_at !== null || row.parameters !== formatParameters(parameters)) return "changed";
    if (row.json === json && row.list_json === listJson) return "identical";
    return isSameRecord(this.#parseMirrored(row, value), value, this.resource) ? "equivalent" : "changed";
  }

  /**
   * Returns the mirrored record. Fields that were omitted when it was read, but are no longer omitted, are filled in
   * from the API's record.
   */
  #parseMirrored(row: RecordRow, sent: Json): Json {
    const stored = parseStoredRecord(this.mirror, row.record_id, row.json);
    return this.#restore(stored, sent, this.resource.name);
  }

  #replaceVersion(row: RecordRow, version: RecordVersion, sinceAt: string, request: RequestInfo): void {
    const { json, listJson, value } = version;
    const { parameters, readAt } = request;
    const { record_id: recordId } = row;
    this.mirror.execute(
      `UPDATE records SET json = ?, list_json = ?, parameters = ?, since_at = ?, dated_ms = ?, status_bits = ?,
         removed_at = NULL
       WHERE record_id = ?`,
      json,
      listJson,
      formatParameters(parameters),
      sinceAt,
      recordDate(this.resource, value),
      recordStatusBits(this.resource, value),
      recordId,
    );
    const record = { value: asObject(value), parameters: parameters ?? {}, sinceAt, removedAt: null };
    this.#writeRows({ recordId, ...record }, { isNew: false, readAt });
  }

  /** @param options.isNew true if the record has no rows yet */
  #writeRows(record: ParsedRecord, options: { isNew: boolean; readAt: string }): void {
    const issues = this.#projection.write(record, options);
    this.#issues.save(record, issues, options);
  }

  #addToRun(rows: { added?: number; changed?: number; removed?: number }): void {
    addWrittenRows(this.mirror, this.run.runId, rows);
  }
}

function formatParameters(parameters: JsonObject | undefined): string | null {
  return parameters ? JSON.stringify(parameters) : null;
}
