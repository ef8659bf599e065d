import type { Field } from "../resources/fields.js";
import { mergesDetails, type Resource } from "../resources/resource.js";
import { tablesOf } from "../resources/table-shape.js";
import { nearlyEqual } from "../util/amounts.js";
import { asObject, isObject, type Json, type JsonObject } from "../util/json-value.js";
import { type CoveredRange, lastReadAt } from "../util/ranges.js";
import type { Mirror } from "./database.js";
import { type RecordRow, recordDate, utcMonth } from "./records.js";
import { createRedactor } from "./redaction-rules.js";

/** True if two states of a record are equal, whatever the order of members and the signatures of signed URLs. */
export function sameRecord(a: Json, b: Json, resource: Resource): boolean {
  return sameJson(a, b, signedUrlsOf(resource));
}

/** The places of signed URLs: by member, and `url` for one. The items of a list have the same. */
export type SignedUrls = "url" | { readonly [member: string]: SignedUrls };

/**
 * True if two values are equal. The order of members, the query of a signed URL and the last digits of a computed number
 * make no difference.
 */
export function sameJson(a: Json, b: Json, signed?: SignedUrls): boolean {
  if (a === b) return true;
  if (typeof a === "number" && typeof b === "number") return nearlyEqual(a, b);
  if (signed === "url") return typeof a === "string" && typeof b === "string" && sameFile(a, b);
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b))
    return (
      Array.isArray(a) &&
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((item, i) => sameJson(item, b[i] ?? null, signed))
    );
  const members = Object.keys(a);
  return (
    members.length === Object.keys(b).length &&
    members.every(
      (member) =>
        Object.hasOwn(b, member) &&
        sameJson(a[member] ?? null, b[member] ?? null, signedUrlsBelow(signed, member)),
    )
  );
}

/** Returns the signed places below a member. */
export function signedUrlsBelow(signed: SignedUrls | undefined, member: string): SignedUrls | undefined {
  return typeof signed === "object" && Object.hasOwn(signed, member) ? signed[member] : undefined;
}

/** Returns the places of a resource's signed URLs; undefined if it has none. */
export function signedUrlsOf(resource: Resource): SignedUrls | undefined {
  if (!known.has(resource)) known.set(resource, compile(resource.fields));
  return known.get(resource);
}

const known = new WeakMap<Resource, SignedUrls | undefined>();

function compile(fields: readonly Field[]): SignedUrls | undefined {
  const members = fields.flatMap((field): [string, SignedUrls][] => {
    if (field.kind === "scalar") return field.isSignedUrl ? [[field.name, "url"]] : [];
    const signed = compile(field.fields);
    return signed ? [[field.name, signed]] : [];
  });
  return members.length > 0 ? Object.fromEntries(members) : undefined;
}

function sameFile(a: string, b: string): boolean {
  return /^https?:\/\//i.test(a) && beforeQuery(a) === beforeQuery(b);
}

function beforeQuery(url: string): string {
  return url.split("?", 1)[0] ?? "";
}

/** One field of a record that changed; values as text, null if there is none. */
export interface FieldChange {
  field: string;
  old: string | null;
  new: string | null;
}

/**
 * Returns the differences between two states of a record by column name: nested objects with their prefix, list items
 * that have an id one by one (`assignments.<id>.status`), other lists as a whole. Neither the order of members nor the
 * signature of a URL is a difference, if the resource is given.
 */
export function diffRecords(before: Json, after: Json, resource?: Resource): FieldChange[] {
  const columns = resource ? tablesOf(resource).flatMap((table) => table.columns) : [];
  const closed = columns.filter(({ type }) => type === "json");
  const changes: FieldChange[] = [];
  const pair = { before, after, name: "", separator: "_", signed: resource && signedUrlsOf(resource) };
  compare(pair, new Set(closed.map(({ name }) => name)), changes);
  return changes;
}

interface Pair {
  before: Json | undefined;
  after: Json | undefined;
  name: string;
  separator: string;
  signed: SignedUrls | undefined;
}

function compare(pair: Pair, closed: ReadonlySet<string>, changes: FieldChange[]): void {
  const { before, after, name, signed } = pair;
  if (sameJson(before ?? null, after ?? null, signed)) return;
  const members = closed.has(name) ? undefined : comparableMembers(before, after);
  if (!members) {
    changes.push({ field: name, old: changeText(before), new: changeText(after) });
    return;
  }
  const separator = members.areItems ? "." : pair.separator;
  for (const member of new Set([...Object.keys(members.before), ...Object.keys(members.after)])) {
    const inner = {
      before: members.before[member],
      after: members.after[member],
      name: name === "" ? member : `${name}${separator}${member}`,
      separator,
      signed: members.areItems ? signed : signedUrlsBelow(signed, member),
    };
    compare(inner, closed, changes);
  }
}

/** Returns two values whose members can be compared one by one: objects, or lists whose items have ids. */
function comparableMembers(before: Json | undefined, after: Json | undefined) {
  if (isObject(before) && isObject(after)) return { before, after, areItems: false };
  const old = itemsById(before);
  const now = itemsById(after);
  return old && now ? { before: old, after: now, areItems: true } : undefined;
}

function itemsById(value: Json | undefined): JsonObject | undefined {
  if (!Array.isArray(value)) return undefined;
  const items: JsonObject = Object.create(null);
  for (const item of value) {
    if (!isObject(item) || typeof item.id !== "string" || item.id in items) return undefined;
    items[item.id] = item;
  }
  return items;
}

/** Returns a value as `changes` spells it. */
export function changeText(value: Json | undefined): string | null {
  if (value === undefined || value === null) return null;
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Prepares comparing records of the API with the mirror's; of a resource with details, with the list's records. */
export function openRecordComparison(mirror: Mirror, resource: Resource) {
  const json = mergesDetails(resource) ? "coalesce(list_json, json)" : "json";
  const door = createRedactor(mirror);
  const find = mirror.db
    .prepare(`SELECT ${json} FROM records WHERE resource = ? AND key = ? AND removed_at IS NULL`)
    .pluck();
  return (value: Json, key: string): "same" | "changed" | "absent" => {
    const stored = find.get(resource.name, key) as string | undefined;
    if (stored === undefined) return "absent";
    return sameRecord(JSON.parse(stored) as Json, door(value, resource.name), resource) ? "same" : "changed";
  };
}

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
export interface ReadHistory {
  /** The dates that were read completely so far, also by this run. */
  coverage: readonly CoveredRange[];
  /** Returns when a missing record was last shown, ISO 8601; null for others. Absent: none is missing. */
  lastSeen?(recordId: number): string | null;
}

const noLog: ChangeLog = { added() {}, changed() {}, removed() {}, completed() {} };

export function openChangeLog(
  mirror: Mirror,
  resource: Resource,
  { runId, coverage, lastSeen }: { runId: number } & ReadHistory,
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
    return isUndated ? null : lastReadAt(spans, dated);
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
    keep.run(row.record_id, row.json, row.since_at, at, present, runId, utcMonth(row.dated_at));
  }

  return {
    added(key, value, at) {
      const covered = spans.length > 0 ? lastReadOf(recordDate(resource, value)) : null;
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
        note("returned", key, lastReadOf(recordDate(resource, after)) ?? unchanged, at);
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
