import type { Resource } from "../resources/resource.js";
import { asObject, type Json } from "../util/json-value.js";
import { type CoveredRange, findLastReadAt } from "./coverage.js";
import type { Mirror } from "./database.js";
import { diffRecords, type FieldChange } from "./record-diff.js";
import { parseStoredRecord, type RecordRow, recordDate, recordMonth } from "./records.js";

export interface ReadHistory {
  coverage: readonly CoveredRange[];
  /**
   * Returns when the API last returned a record that is now missing (ISO 8601), or null if the record is not missing.
   */
  lastSeenAt?(recordId: number): string | null;
}

export interface RecordChange {
  row: RecordRow;
  before: Json;
  after: Json;
  isDetail: boolean;
  /** True if the API returned the record for a range that does not include the record's date. */
  isOutsideRange: boolean;
}

/**
 * Logs changes to mirrored records. Adds a row to `changes` for each changed field, and stores the record's earlier
 * version in `record_versions`. The API does not report the time of a change, so a change is logged with an interval
 * that starts when the old value was last seen and ends when the new value was first seen (`at`, ISO 8601). Call all
 * methods in the transaction that writes the record.
 */
export class ChangeLog {
  /** Excludes dates that this run has read, because their read time is too recent to narrow down a change. */
  readonly #coverage: readonly CoveredRange[];

  constructor(
    private readonly mirror: Mirror,
    private readonly resource: Resource,
    private readonly options: ReadHistory & { runId: number },
  ) {
    this.#coverage = options.coverage.filter(({ runId }) => runId !== options.runId);
  }

  /**
   * Logs a new record if its date had already been covered. Otherwise, the record may have existed earlier without
   * being read.
   */
  logAdded(key: string, value: Json, at: string): void {
    if (this.#coverage.length === 0) return;
    const lastReadAt = this.#findLastReadAt(recordDate(this.resource, value));
    if (lastReadAt !== null) this.#insert("added", key, lastReadAt, at);
  }

  logChanged({ row, before, after, isDetail, isOutsideRange }: RecordChange, at: string): void {
    this.logVersion(row, at);
    // Use the record's old date, because its new date may be in a range that was read at a different time.
    let lastSeenAt = this.#findLastSeenAt(row);
    if (row.removed_at !== null) {
      lastSeenAt = this.#findLastSeenBeforeRemoval(row) ?? row.since_at;
      const lastReadAt = isOutsideRange ? null : this.#findLastReadAt(recordDate(this.resource, after));
      this.#insert("returned", row.key, lastReadAt ?? lastSeenAt, at);
    }
    const listItem =
      isDetail && row.list_json !== null
        ? asObject(parseStoredRecord(this.mirror, row.record_id, row.list_json))
        : null;
    for (const change of diffRecords(before, after, this.resource)) {
      // Fields that occur only in the details were last seen when the details were last read.
      const member = change.field.split(/[.[]/)[0] ?? "";
      const isInDetailsOnly = listItem !== null && !(member in listItem);
      const fieldSeenAt = isInDetailsOnly ? (row.detailed_at ?? lastSeenAt) : lastSeenAt;
      this.#insert("changed", row.key, fieldSeenAt, at, change);
    }
  }

  logRemoved(row: RecordRow, at: string): void {
    this.logVersion(row, at);
    this.#insert("removed", row.key, this.#findLastSeenAt(row), at);
  }

  logVersion(row: RecordRow, at: string): void {
    const isPresent = row.removed_at === null ? 1 : 0;
    this.mirror.run(
      `INSERT INTO record_versions (record_id, json, since_at, until_at, present, run_id, month)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
      row.record_id,
      row.json,
      row.since_at,
      at,
      isPresent,
      this.options.runId,
      recordMonth(row.dated_at),
    );
  }

  #insert(
    kind: "added" | "changed" | "removed" | "returned",
    key: string,
    lastSeenAt: string,
    at: string,
    change?: FieldChange,
  ): void {
    this.mirror.run(
      `INSERT INTO changes (resource, key, kind, field, old, new, last_seen_unchanged_at, seen_changed_at, run_id)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      this.resource.name,
      key,
      kind,
      change?.field ?? null,
      change?.old ?? null,
      change?.new ?? null,
      lastSeenAt,
      at,
      this.options.runId,
    );
  }

  /**
   * Returns when the record's current values were last seen. This is never earlier than the time at which they were
   * stored.
   */
  #findLastSeenAt(row: RecordRow): string {
    const lastSeenAt = this.options.lastSeenAt?.(row.record_id) ?? this.#findLastReadAt(row.dated_at);
    return lastSeenAt !== null && lastSeenAt > row.since_at ? lastSeenAt : row.since_at;
  }

  #findLastSeenBeforeRemoval({ key, removed_at }: RecordRow): string | null {
    const select = `SELECT last_seen_unchanged_at FROM changes
      WHERE resource = ? AND key = ? AND kind = 'removed' AND seen_changed_at = ? ORDER BY change_id DESC`;
    return this.mirror.selectValue<string>(select, this.resource.name, key, removed_at) ?? null;
  }

  #findLastReadAt(date: number | null): string | null {
    if (date === null && this.resource.strategy.kind === "dated") return null;
    return findLastReadAt(this.#coverage, date);
  }
}
