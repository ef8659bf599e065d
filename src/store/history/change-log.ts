import type { Resource } from "../../resources/resource.js";
import { asObject, type Json } from "../../util/json-value.js";
import type { Mirror } from "../mirror/database.js";
import { diffRecords } from "../records/record-diff.js";
import { recordDate, utcMonth } from "../records/record-key.js";
import type { RecordRow } from "../records/record-table.js";
import { type CoveredRange, lastReadAt } from "../state/coverage.js";

/** What earlier runs read, which bounds the time of a change. */
export interface ReadHistory {
  /** The ranges that were read completely, also by this run. */
  coverage: readonly CoveredRange[];
  /** Returns when a missing record was last returned, ISO 8601; null for other records. */
  lastSeen?(recordId: number): string | null;
}

type ChangeKind = "added" | "changed" | "removed" | "returned";

/**
 * Stores what changed in mirrored records: a row in `changes` per changed field, and the earlier version in
 * `record_versions`. The API gives no dates of changes, so each has an interval: last seen with the old value, first seen
 * with the new one. Call all methods in the transaction that writes the record, before it is written.
 */
export class ChangeLog {
  readonly #insertChange;
  readonly #insertVersion;
  readonly #findRemoval;
  /** Only the coverage by earlier runs: what this run reads does not show the state before it. */
  readonly #coverage: readonly CoveredRange[];

  constructor(
    mirror: Mirror,
    private readonly resource: Resource,
    private readonly options: ReadHistory & { runId: number },
  ) {
    const { db } = mirror;
    this.#insertChange = db.prepare(
      `INSERT INTO changes (resource, key, kind, field, old, new, last_seen_unchanged_at, seen_changed_at, run_id)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#insertVersion = db.prepare(
      "INSERT INTO record_versions (record_id, json, since_at, until_at, present, run_id, month) VALUES (?, ?, ?, ?, ?, ?, ?)",
    );
    this.#findRemoval = db
      .prepare<[string, string, string], string | null>(
        `SELECT last_seen_unchanged_at FROM changes
         WHERE resource = ? AND key = ? AND kind = 'removed' AND seen_changed_at = ? ORDER BY change_id DESC`,
      )
      .pluck();
    this.#coverage = options.coverage.filter(({ runId }) => runId !== options.runId);
  }

  /** Logs a new record only if its date was already covered: otherwise its appearance is not a change. */
  logAdded(key: string, value: Json, at: string): void {
    const readBefore = this.#coverage.length > 0 ? this.#lastReadAt(recordDate(this.resource, value)) : null;
    if (readBefore !== null) this.#logChange("added", key, readBefore, at);
  }

  /** @param row the record's row before the change @param before its value */
  logChanged({ row, before, after, isDetail, isOutsideRange, at }: RecordChange): void {
    const { key } = row;
    this.logVersion(row, at);
    // Uses the record's earlier date, because a read of its new date may not have covered that one.
    let unchangedAt = this.#lastSeenAt(row);
    if (row.removed_at !== null) {
      // The record may have reappeared at any time after the read that missed it.
      unchangedAt = this.#findRemoval.get(this.resource.name, key, row.removed_at) ?? row.since_at;
      const readBefore = isOutsideRange ? null : this.#lastReadAt(recordDate(this.resource, after));
      this.#logChange("returned", key, readBefore ?? unchangedAt, at);
    }
    const listItem = isDetail && row.list_json !== null ? asObject(JSON.parse(row.list_json)) : null;
    for (const change of diffRecords(before, after, this.resource)) {
      // The list does not return members that only details have: these were last seen when details were read.
      const member = change.field.split(/[.[]/)[0] ?? "";
      const isInDetailsOnly = listItem !== null && !(member in listItem);
      const lastSeen = isInDetailsOnly ? (row.detailed_at ?? unchangedAt) : unchangedAt;
      this.#logChange("changed", key, lastSeen, at, change);
    }
  }

  logRemoved(row: RecordRow, at: string): void {
    this.logVersion(row, at);
    this.#logChange("removed", row.key, this.#lastSeenAt(row), at);
  }

  /** Stores a record's version without logging a change, for example when its first details complete it. */
  logVersion(row: RecordRow, at: string): void {
    const isPresent = row.removed_at === null ? 1 : 0;
    const month = utcMonth(row.dated_at);
    this.#insertVersion.run(row.record_id, row.json, row.since_at, at, isPresent, this.options.runId, month);
  }

  #logChange(
    kind: ChangeKind,
    key: string,
    lastSeen: string,
    at: string,
    change: { field: string; old: string | null; new: string | null } | null = null,
  ): void {
    const fields = [change?.field ?? null, change?.old ?? null, change?.new ?? null];
    this.#insertChange.run(this.resource.name, key, kind, ...fields, lastSeen, at, this.options.runId);
  }

  /** Returns when a record was last seen with its current values: at least when they were stored. */
  #lastSeenAt(row: RecordRow): string {
    const seenAt = this.options.lastSeen?.(row.record_id) ?? this.#lastReadAt(row.dated_at);
    return seenAt !== null && seenAt > row.since_at ? seenAt : row.since_at;
  }

  /** Returns when a date was last read completely; null if never, or if an unreadable date could be anywhere. */
  #lastReadAt(date: number | null): string | null {
    if (date === null && this.resource.strategy.kind === "dated") return null;
    return lastReadAt(this.#coverage, date);
  }
}

export interface RecordChange {
  row: RecordRow;
  before: Json;
  after: Json;
  /** True if the new value is a record's details rather than its item in the list. */
  isDetail: boolean;
  /** True if the API returned the record in a range without its date. */
  isOutsideRange: boolean;
  at: string;
}
