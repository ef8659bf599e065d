import { mergesDetails, type Resource } from "../resources/resource.js";
import { tablesOf } from "../resources/table-shape.js";
import { asObject, type Json, type JsonObject } from "../util/json-value.js";
import { startOfSecond } from "../util/ranges.js";
import type { Reporter } from "../util/reporter.js";
import { formatInstant } from "../util/times.js";
import { ChangeLog } from "./change-log.js";
import type { Mirror } from "./database.js";
import { HostNames } from "./host-names.js";
import { Projection } from "./projection.js";
import { markDetailsRead, mergeListItem } from "./record-details.js";
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

export interface RecordWriterOptions {
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
  /** True if the records are faulty. The coverage then does not show when they were added or returned. */
  isFaulty?: boolean;
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

/** A version of a record, as it is stored in `records`. */
interface Version {
  /** The record after redaction, including its details. */
  value: Json;
  json: string;
  /** The redacted list item, or null if no details are merged into the record. */
  listJson: string | null;
}

interface Reading {
  /** When the request was sent (ISO 8601). */
  readAt: string;
  context: JsonObject;
  contextJson: string | null;
  isFaulty: boolean;
  isDetails: boolean;
}

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
    this.#changes = resource.keepsHistory ? new ChangeLog(mirror, resource, options.runId) : null;
    this.#hostNames = new HostNames(mirror);
    this.#issues = new SchemaIssues(mirror, resource, options.reporter);
    this.#projection = new Projection(mirror, tablesOf(resource));
    this.#mergesDetails = mergesDetails(resource);
  }

  /**
   * Writes the records in a response. A copy is not written: a record that occurs earlier in the response, or whose date
   * is older than in the mirror.
   * @throws UnexpectedResponse if an ID is missing or inexact
   */
  write(records: readonly Json[], options: ResponseOptions): WrittenRecords {
    const { keyPrefix = "", position = 0 } = options;
    const reading = toReading(options);
    const written: WrittenRecords = { ids: [], added: [], copies: [], addedOrChanged: 0 };
    const idsInResponse = new Set<number>();
    for (const [index, sent] of records.entries()) {
      const key = keyPrefix + recordKey(this.resource, sent, position + index);
      const value = this.#redact(sent, this.resource.name);
      const row = this.#find(key);
      const version = this.#createVersion(value, row);
      const isCopy = row !== undefined && (idsInResponse.has(row.record_id) || this.#isOlder(version, row));
      if (isCopy) {
        written.copies.push({ id: row.record_id, value: sent });
        continue;
      }
      const id = row?.record_id ?? this.#add(key, version, reading);
      const isChanged = row !== undefined && this.#update(row, version, reading);
      idsInResponse.add(id);
      written.ids.push(id);
      if (!row) written.added.push(id);
      if (!row || isChanged) written.addedOrChanged += 1;
    }
    const added = written.added.length;
    addWrittenRows(this.mirror, this.options.runId, { added, changed: written.addedOrChanged - added });
    return written;
  }

  /** Replaces a mirrored record, even if the mirrored version has a newer date. */
  replace(sent: Json, readAt: number): void {
    const row = this.#find(recordKey(this.resource, sent, 0));
    if (!row) return;
    const version = this.#createVersion(this.#redact(sent, this.resource.name), row);
    const isChanged = this.#update(row, version, toReading({ readAt }));
    if (isChanged) addWrittenRows(this.mirror, this.options.runId, { changed: 1 });
  }

  /** Merges a record's details into the mirrored list item. The first details do not count as a change. */
  writeDetails(sent: Json, readAt: number): void {
    const row = this.#find(recordKey(this.resource, sent, 0));
    if (!row) return;
    const value = this.#redact(sent, this.resource.name);
    const version = { value, json: JSON.stringify(value), listJson: row.list_json };
    const isChanged = this.#update(row, version, { ...toReading({ readAt }), isDetails: true });
    markDetailsRead(this.mirror, row.record_id, readAt);
    const isFirst = row.detailed_at === null;
    if (isChanged && !isFirst) addWrittenRows(this.mirror, this.options.runId, { changed: 1 });
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

  #find(key: string): RecordRow | undefined {
    const select = "SELECT * FROM records WHERE resource = ? AND key = ?";
    return this.mirror.selectRow<RecordRow>(select, this.resource.name, key);
  }

  #createVersion(value: Json, row: RecordRow | undefined): Version {
    const json = JSON.stringify(value);
    if (!this.#mergesDetails) return { value, json, listJson: null };
    const merged = row ? mergeListItem(this.mirror, row, value) : value;
    return { value: merged, json: JSON.stringify(merged), listJson: json };
  }

  #isOlder({ json, value }: Version, row: RecordRow): boolean {
    if (row.json === json || row.removed_at !== null || row.dated_at === null) return false;
    const date = recordDate(this.resource, value);
    return date !== null && date < startOfSecond(row.dated_at);
  }

  #add(key: string, { json, listJson, value }: Version, reading: Reading): number {
    const { contextJson, isFaulty, readAt } = reading;
    const date = recordDate(this.resource, value);
    const insert = `INSERT INTO records (resource, key, json, list_json, context, since_at, dated_at, flags)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)`;
    const { lastInsertRowid } = this.mirror.run(
      insert,
      this.resource.name,
      key,
      json,
      listJson,
      contextJson,
      readAt,
      date,
      this.#readFlags(value),
    );
    const id = Number(lastInsertRowid);
    if (!isFaulty) this.#changes?.logAdded(key, date, readAt);
    this.#hostNames.addFrom(asObject(value), readAt);
    this.#writeRows(id, value, readAt, reading, { isNew: true });
    return id;
  }

  /**
   * Replaces the mirrored version if anything has changed. A removed record becomes current again. Without a history,
   * `since_at` is the time of the last read.
   * @returns true if the record has changed. A different order of fields or a new URL signature is not a change.
   */
  #update(row: RecordRow, { json, listJson, value }: Version, reading: Reading): boolean {
    const { keepsHistory, name } = this.resource;
    const { contextJson, isDetails, isFaulty, readAt } = reading;
    const isCurrent = row.removed_at === null && row.context === contextJson;
    if (keepsHistory && isCurrent && row.json === json && row.list_json === listJson) return false;

    const before = this.#restore(parseStoredRecord(this.mirror, row.record_id, row.json), value, name);
    const isChanged = !isCurrent || !isSameRecord(before, value, this.resource);
    const sinceAt = isChanged || !keepsHistory ? readAt : row.since_at;
    // The stored details are older than the record's last change.
    const outdated = isChanged && row.detailed_at !== null ? 1 : row.outdated;
    this.mirror.run(
      `UPDATE records SET json = ?, list_json = ?, outdated = ?, context = ?, since_at = ?, dated_at = ?, flags = ?,
         removed_at = NULL WHERE record_id = ?`,
      json,
      listJson,
      outdated,
      contextJson,
      sinceAt,
      recordDate(this.resource, value),
      this.#readFlags(value),
      row.record_id,
    );
    if (isChanged) {
      this.#changes?.logChanged({ row, before, after: value, isDetails, isFaulty }, readAt);
      // Names are taken only from changed records, because an unchanged record may contain an outdated name.
      this.#hostNames.addFrom(asObject(value), readAt);
    }
    this.#writeRows(row.record_id, value, sinceAt, reading, { isNew: false });
    return isChanged;
  }

  #writeRows(
    recordId: number,
    value: Json,
    sinceAt: string,
    { context, readAt }: Reading,
    { isNew }: { isNew: boolean },
  ): void {
    const record = { recordId, value: asObject(value), context, sinceAt, removedAt: null };
    const issues = this.#projection.write(record, { isNew });
    this.#issues.save(record, issues, { isNew, readAt });
  }
}

function toReading({ context, isFaulty = false, readAt }: ResponseOptions): Reading {
  const contextJson = context ? JSON.stringify(context) : null;
  return { readAt: formatInstant(readAt), context: context ?? {}, contextJson, isFaulty, isDetails: false };
}
