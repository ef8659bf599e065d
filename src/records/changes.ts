import { type Covered, lastRead } from "../lib/ranges.js";
import type { Mirror } from "../mirror/index.js";
import { asObject, type Json, type Resource } from "../resources/types.js";
import { diffRecords } from "./diff.js";
import { datedOf, monthOf, type RecordRow } from "./record-table.js";

/** Writes what changed in already mirrored records, in the transaction of the answer that showed it. */
export interface ChangeLog {
  /** A new record is a change only if its date had been read completely before: it came late. */
  added(key: string, value: Json, at: string): void;
  /** `row` is the record as it was, `before` its value. */
  changed(change: { row: RecordRow; before: Json; after: Json; isDetail: boolean; at: string }): void;
  removed(row: RecordRow, at: string): void;
  /** Its details came: nothing has changed, but until now the mirror knew less of it. */
  completed(row: RecordRow, at: string): void;
}

/** Earlier readings: they say since when a change can have been there. */
export interface Readings {
  /** The dates that were read completely so far, also by this run. */
  coverage: readonly Covered[];
  /** Returns when a missing record was last shown, ISO 8601; null for others. Absent: none is missing. */
  lastSeen?(recordId: number): string | null;
}

const noLog: ChangeLog = { added() {}, changed() {}, removed() {}, completed() {} };

export function openChangeLog(
  mirror: Mirror,
  resource: Resource,
  { runId, coverage, lastSeen }: { runId: number } & Readings,
): ChangeLog {
  if (!resource.history) return noLog;
  const { db } = mirror;
  const insert = db.prepare(
    `INSERT INTO changes (resource, key, kind, field, old, new, last_seen_unchanged_at, seen_changed_at, run_id)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const keep = db.prepare(
    "INSERT INTO record_versions (record_id, json, since_at, until_at, present, run_id, month) VALUES (?, ?, ?, ?, ?, ?, ?)",
  );
  const seenBeforeRemoval = db
    .prepare<[string, string, string], string | null>(
      `SELECT last_seen_unchanged_at FROM changes
       WHERE resource = ? AND key = ? AND kind = 'removed' AND seen_changed_at = ? ORDER BY change_id DESC`,
    )
    .pluck();
  // The readings of this run do not show how a record was before.
  const spans = coverage.filter((span) => span.runId !== runId);

  /** Returns when the place of a record was read last. A record whose date is unreadable may be anywhere. */
  function lastReadOf(dated: number | null): string | null {
    const isUndated = dated === null && resource.strategy.kind === "dated";
    return isUndated ? null : lastRead(spans, dated);
  }

  /** The API gives no date of a change: its interval begins with the last reading that covered the record. */
  function lastSeenUnchanged(row: RecordRow, dated: number | null): string {
    const seen = lastSeen?.(row.record_id) ?? lastReadOf(dated);
    return seen !== null && seen > row.since_at ? seen : row.since_at;
  }

  function note(kind: string, key: string, since: string, at: string): void {
    insert.run(resource.name, key, kind, null, null, null, since, at, runId);
  }

  function keepVersion(row: RecordRow, at: string): void {
    const present = row.removed_at === null ? 1 : 0;
    keep.run(row.record_id, row.json, row.since_at, at, present, runId, monthOf(row.dated_at));
  }

  return {
    added(key, value, at) {
      const covered = spans.length > 0 ? lastReadOf(datedOf(resource, value)) : null;
      if (covered !== null) note("added", key, covered, at);
    },
    changed({ row, before, after, isDetail, at }) {
      const { key } = row;
      keepVersion(row, at);
      // By its former date: a reading of its present date need not have covered that.
      let unchanged = lastSeenUnchanged(row, row.dated_at);
      if (row.removed_at !== null) {
        // It was removed at the end of a run, and may have returned after the reading that did not show it.
        unchanged = seenBeforeRemoval.get(resource.name, key, row.removed_at) ?? row.since_at;
        note("returned", key, lastReadOf(datedOf(resource, after)) ?? unchanged, at);
      }
      const listed = isDetail && row.list_json !== null ? asObject(JSON.parse(row.list_json)) : null;
      for (const { field, old, new: now } of diffRecords(before, after, resource)) {
        // A member that the list does not show was last seen with the details.
        const isUnlisted = listed !== null && !((field.split(/[.[]/)[0] ?? "") in listed);
        const since = isUnlisted ? (row.detailed_at ?? unchanged) : unchanged;
        insert.run(resource.name, key, "changed", field, old, now, since, at, runId);
      }
    },
    removed(row, at) {
      keepVersion(row, at);
      note("removed", row.key, lastSeenUnchanged(row, row.dated_at), at);
    },
    completed: keepVersion,
  };
}
