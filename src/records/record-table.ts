import { parseTimestamp } from "../lib/times.js";
import type { Mirror } from "../mirror/index.js";
import type { ApiRecord, JsonObject, Resource } from "../resources/types.js";
import type { StoredRow } from "./stored-record.js";
import { asObject } from "./values.js";

/** A record as the table `records` has it: `list_json`, `detailed_at` and `outdated` where the resource has details. */
export interface RecordRow extends StoredRow {
  key: string;
  list_json: string | null;
  detailed_at: string | null;
  outdated: 0 | 1;
  dated_at: number | null;
}

/** What is written of a record that is there. */
export interface RecordText {
  json: string;
  value: JsonObject;
  listJson: string | null;
  detailedAt: string | null;
  outdated: 0 | 1;
  context: JsonObject | undefined;
  /** See `datedAt`. */
  dated: number | null;
  sinceAt: string;
}

/** One resource's rows of the table `records`. */
export interface RecordTable {
  find(key: string): RecordRow | undefined;
  get(recordId: number): RecordRow | undefined;
  /** @returns the new record's id; null when there is one of this key already */
  add(key: string, text: RecordText): number | null;
  /** Writes a record anew; it is there, whether it was removed or not. */
  replace(recordId: number, text: RecordText): void;
  /** Notes what the list says now, and when details were read, of a record that is as it was. */
  setRead(recordId: number, read: Pick<RecordText, "listJson" | "detailedAt" | "outdated">): void;
  setRemoved(recordId: number, at: string): void;
}

export function openRecordTable({ db }: Mirror, resource: Resource): RecordTable {
  const columns =
    "record_id, key, json, list_json, detailed_at, outdated, context, dated_at, since_at, removed_at";
  const find = db.prepare<[string, string], RecordRow>(
    `SELECT ${columns} FROM records WHERE resource = ? AND key = ?`,
  );
  const get = db.prepare<[number], RecordRow>(`SELECT ${columns} FROM records WHERE record_id = ?`);
  const add = db.prepare(
    `INSERT INTO records (resource, key, json, list_json, detailed_at, outdated, context, dated_at, flags, since_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (resource, key) DO NOTHING`,
  );
  const replace = db.prepare(
    `UPDATE records SET json = ?, list_json = ?, detailed_at = ?, outdated = ?, context = ?, dated_at = ?, flags = ?,
       since_at = ?, removed_at = NULL
     WHERE record_id = ?`,
  );
  const setRead = db.prepare(
    "UPDATE records SET list_json = ?, detailed_at = ?, outdated = ? WHERE record_id = ?",
  );
  const setRemoved = db.prepare("UPDATE records SET removed_at = ?, since_at = ? WHERE record_id = ?");

  /** From `json` to `since_at`, in the statements' order. */
  function bound({ json, value, listJson, detailedAt, outdated, context, dated, sinceAt }: RecordText) {
    const flags = flagsOf(resource, value);
    return [json, listJson, detailedAt, outdated, contextText(context), dated, flags, sinceAt];
  }

  return {
    find: (key) => find.get(resource.name, key),
    get: (recordId) => get.get(recordId),
    add(key, text) {
      const done = add.run(resource.name, key, ...bound(text));
      return done.changes === 1 ? Number(done.lastInsertRowid) : null;
    },
    replace: (recordId, text) => void replace.run(...bound(text), recordId),
    setRead: (recordId, { listJson, detailedAt, outdated }) =>
      void setRead.run(listJson, detailedAt, outdated, recordId),
    setRemoved: (recordId, at) => void setRemoved.run(at, at, recordId),
  };
}

/** What was asked for, as it is stored. */
export function contextText(context: JsonObject | undefined): string | null {
  return context ? JSON.stringify(context) : null;
}

/** The instant that ranges go by, in milliseconds; null where the resource has none or it cannot be read. */
export function datedAt(resource: Resource, value: JsonObject): number | null {
  const { strategy } = resource;
  if (strategy.kind !== "dated") return null;
  const text = value[strategy.date];
  return typeof text === "string" ? (parseTimestamp(text) ?? null) : null;
}

/** The same of a record that came; one that is held need not be parsed for it. */
export function datedOf(resource: Resource, record: ApiRecord): number | null {
  if (record.held) return record.held.dated;
  record.dated ??= datedAt(resource, asObject(record.value));
  return record.dated;
}

/** A bit for each filter that the API would select this record by. */
function flagsOf({ strategy }: Resource, value: JsonObject): number {
  if (strategy.kind !== "dated") return 0;
  return (strategy.counts ?? []).reduce(
    (flags, { member }, bit) => (value[member] === true ? flags | (1 << bit) : flags),
    0,
  );
}
