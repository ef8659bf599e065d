import { type Covered, lastRead } from "../lib/ranges.js";
import type { Mirror } from "../mirror/index.js";
import type { Json, JsonObject, Resource } from "../resources/types.js";
import { diffRecords } from "./diff.js";
import type { RecordRow } from "./record-table.js";

/** Writes what changed in already mirrored records, in the transaction of the page that showed it. */
export interface ChangeLog {
  /** A new record is a change only where its place had been read completely before: it came late. */
  added(key: string, dated: number | null, at: string): void;
  /** `row` is the record as it was, `before` its value, `json` the text of `after`. */
  changed(change: {
    row: RecordRow;
    before: Json;
    after: Json;
    json: string;
    dated: number | null;
    isDetail: boolean | undefined;
    at: string;
  }): void;
  removed(row: RecordRow, at: string): void;
  /** Its details came: nothing has changed, but until now the mirror knew less of it. */
  completed(row: RecordRow, at: string): void;
}

/** What is known of earlier readings: it tells since when a change can have come. */
export interface Readings {
  /** What was read completely so far, by this run too. */
  coverage: readonly Covered[];
  /** When a record that the newest reading did not show was shown last, ISO 8601; null for others. None: all are shown. */
  lastSeen?(recordId: number): string | null;
}

export function openChangeLog(
  mirror: Mirror,
  resource: Resource,
  { runId, coverage, lastSeen }: { runId: number } & Readings,
): ChangeLog {
  if (!resource.history)
    return { added: () => {}, changed: () => {}, removed: () => {}, completed: () => {} };
  const { db } = mirror;
  const insert = db.prepare(
    `INSERT INTO changes (resource, key, kind, field, old, new, last_seen_unchanged_at, seen_changed_at, run_id)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const keep = db.prepare(
    "INSERT INTO record_versions (record_id, json, since_at, until_at, present, run_id) VALUES (?, ?, ?, ?, ?, ?)",
  );
  const goneAt = db
    .prepare<[string, string], [string, string]>(
      `SELECT key, last_seen_unchanged_at FROM changes
       WHERE seen_changed_at = ? AND resource = ? AND kind = 'removed' ORDER BY change_id`,
    )
    .raw();
  // As it stood before this run: what this run reads says nothing about before.
  const spans = coverage.filter((span) => span.runId !== runId);

  /** When a read last covered this date. The API gives no date of a change: an interval is the truth. */
  const coveredAt = (dated: number | null) => lastRead(spans, dated);

  function lastSeenUnchanged(row: RecordRow, dated: number | null): string {
    // A read that did not show it says nothing of how it was then.
    const seen = lastSeen?.(row.record_id) ?? coveredAt(dated);
    return seen !== null && seen > row.since_at ? seen : row.since_at;
  }

  let removedTogether = { at: "", lastSeen: new Map<string, string>() };

  /**
   * When a removed record was last seen as it was: before it went, whatever was read since. Those that went together
   * are asked for together, and may well return together.
   */
  function lastSeenPresent(key: string, removedAt: string): string | undefined {
    if (removedTogether.at !== removedAt)
      removedTogether = { at: removedAt, lastSeen: new Map(goneAt.all(removedAt, resource.name)) };
    return removedTogether.lastSeen.get(key);
  }

  function keepVersion(row: RecordRow, at: string): void {
    keep.run(row.record_id, row.json, row.since_at, at, row.removed_at === null ? 1 : 0, runId);
  }

  return {
    added(key, dated, at) {
      const covered = coveredAt(dated);
      if (covered !== null) insert.run(resource.name, key, "added", null, null, null, covered, at, runId);
    },
    changed({ row, before, after, json, dated, isDetail, at }) {
      const { key } = row;
      // It was seen where it stood: a read of where it is dated now need not have come by there.
      let unchanged = lastSeenUnchanged(row, row.dated_at);
      const listed = isDetail && row.list_json !== null ? (JSON.parse(row.list_json) as JsonObject) : null;
      const isUnlisted = (field: string) => listed !== null && !((field.split(/[.[]/)[0] ?? "") in listed);
      const texts = { before: row.json, after: json };
      keepVersion(row, at);
      if (row.removed_at !== null) {
        const absent = lastSeenUnchanged(row, dated);
        insert.run(resource.name, key, "returned", null, null, null, absent, at, runId);
        unchanged = lastSeenPresent(key, row.removed_at) ?? row.since_at;
      }
      for (const { field, old, new: now } of diffRecords(before, after, resource, texts)) {
        // What the list does not show was seen when the details were.
        const seenAt = isUnlisted(field) ? (row.detailed_at ?? unchanged) : unchanged;
        insert.run(resource.name, key, "changed", field, old, now, seenAt, at, runId);
      }
    },
    removed(row, at) {
      removedTogether.at = "";
      keepVersion(row, at);
      const unchanged = lastSeenUnchanged(row, row.dated_at);
      insert.run(resource.name, row.key, "removed", null, null, null, unchanged, at, runId);
    },
    completed: keepVersion,
  };
}
