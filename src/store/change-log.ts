import type { Resource } from "../resources/resource.js";
import { asObject, type Json } from "../util/json-value.js";
import { type CoveredRange, findLastReadAt } from "./coverage.js";
import type { Mirror } from "./database.js";
import { MissingRecords } from "./missing-records.js";
import { diffRecords, type FieldChange } from "./record-diff.js";
import { parseStoredRecord, type RecordRow, recordMonth } from "./records.js";

/**
 * Logs changes to mirrored records. Adds a row to `changes` for each changed field, and stores the record's earlier
 * version in `record_versions`. The API does not report when a record changed, so a change is logged with an interval.
 * It starts when the old value was last seen and ends when the new value was first seen (`at`, ISO 8601).
 */
export class ChangeLog {
  readonly #missing: MissingRecords;

  constructor(
    private readonly mirror: Mirror,
    private readonly resource: Resource,
    private readonly runId: number,
    private readonly coverageBeforeRun: readonly CoveredRange[],
  ) {
    this.#missing = new MissingRecords(mirror, resource.name);
  }

  /**
   * Logs a new record as added if its date was already covered. Otherwise, logs nothing, because it may be an old
   * record that had not been read before.
   * @param date null if it is unreadable, or if earlier reads of the date may not have returned the record
   */
  logAdded(key: string, date: number | null, at: string): void {
    const lastReadAt = this.#findReadBeforeRun(date);
    if (lastReadAt !== null) this.#insert("added", key, lastReadAt, at);
  }

  /**
   * Logs a changed record. A removed record that reappears is logged as returned, with an interval that starts when its
   * date was last read. If that time is unknown, the interval starts when the record was last seen before its removal.
   * @param change.date as in `logAdded`
   */
  logChanged(row: RecordRow, change: { before: Json; after: Json; date: number | null }, at: string): void {
    const { after, before, date } = change;
    this.#addVersion(row, at);
    const lastSeenAt = this.#lastSeenAt(row);
    if (row.removed_at !== null) {
      this.#insert("returned", row.key, this.#findReadBeforeRun(date) ?? lastSeenAt, at);
    }
    for (const field of diffRecords(before, after, this.resource))
      this.#insert("changed", row.key, lastSeenAt, at, field);
  }

  /**
   * Logs a change to a record's details. Fields that are only in the details were last seen when the details were last
   * read. A record's first details are not logged as a change.
   */
  logDetails(row: RecordRow, before: Json, after: Json, at: string): void {
    this.#addVersion(row, at);
    if (row.detailed_at === null) return;
    const lastSeenAt = this.#lastSeenAt(row);
    const listItem = asObject(parseStoredRecord(this.mirror, row.record_id, row.list_json ?? "null"));
    for (const change of diffRecords(before, after, this.resource)) {
      const seenAt = Object.hasOwn(listItem, change.topLevelField) ? lastSeenAt : row.detailed_at;
      this.#insert("changed", row.key, seenAt, at, change);
    }
  }

  logRemoved(row: RecordRow, at: string): void {
    this.#addVersion(row, at);
    this.#insert("removed", row.key, this.#lastSeenAt(row), at);
  }

  #addVersion(row: RecordRow, at: string): void {
    const isPresent = row.removed_at === null ? 1 : 0;
    this.mirror.execute(
      `INSERT INTO record_versions (record_id, json, since_at, until_at, present, run_id, month)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
      row.record_id,
      row.json,
      row.since_at,
      at,
      isPresent,
      this.runId,
      recordMonth(row.dated_ms),
    );
  }

  #insert(
    kind: "added" | "changed" | "removed" | "returned",
    key: string,
    lastSeenAt: string,
    at: string,
    change?: FieldChange,
  ): void {
    this.mirror.execute(
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
      this.runId,
    );
  }

  /**
   * Returns the time (ISO 8601) at which the API last returned a record with its mirrored values:
   * - for a removed record, the time that was logged with the removal
   * - for a missing record, the time that was stored when it went missing
   * - for any other record, the time at which its mirrored date was last read
   *
   * If that time is unknown, returns the start of the mirrored version.
   */
  #lastSeenAt({ dated_ms, key, record_id, removed_at, since_at }: RecordRow): string {
    const { mirror, resource } = this;
    if (removed_at !== null) {
      const select = `SELECT last_seen_unchanged_at FROM changes
        WHERE resource = ? AND key = ? AND kind = 'removed' AND seen_changed_at = ?`;
      return mirror.selectValue<string>(select, resource.name, key, removed_at) ?? since_at;
    }
    const seenBeforeMissing = this.#missing.findLastSeenAt(record_id);
    const seenAt = seenBeforeMissing ?? this.#findReadBeforeRun(dated_ms) ?? since_at;
    // A read before `since_at` cannot have returned this version, so return the later of the two times.
    return seenAt > since_at ? seenAt : since_at;
  }

  /**
   * Returns the time at which a date was last covered before this run, or null if the date was never covered or is
   * unreadable.
   */
  #findReadBeforeRun(date: number | null): string | null {
    if (date === null && this.resource.strategy.kind === "dated") return null;
    return findLastReadAt(this.coverageBeforeRun, date);
  }
}

/** Returns the number of changes to a resource's records that a run has logged. */
export function countChanges(mirror: Mirror, resourceName: string, runId: number): number {
  const select = "SELECT count(*) FROM changes WHERE resource = ? AND run_id = ?";
  return mirror.selectValue<number>(select, resourceName, runId) ?? 0;
}
