import { formatInstant } from "../lib/times.js";
import { parseTimestamp } from "../lib/timestamp.js";
import type { Mirror } from "../mirror/index.js";
import type { Json, Resource } from "../resources/types.js";
import type { StoredRow } from "./stored-record.js";
import { valueAt } from "./values.js";

/** A row of the table `records`: `list_json`, `detailed_at` and `outdated` of a resource with details. */
export interface RecordRow extends StoredRow {
  key: string;
  list_json: string | null;
  detailed_at: string | null;
  outdated: 0 | 1;
  dated_at: number | null;
}

/** A row as it is written; dates and flags follow from the value. */
export type RecordText = Pick<
  RecordRow,
  "json" | "list_json" | "detailed_at" | "outdated" | "context" | "since_at"
>;

/** A present record of a resource with dates. */
export type Known = Pick<RecordRow, "key" | "json"> & { id: number };

export type RecordTable = ReturnType<typeof openRecordTable>;

/** Prepares reading and writing one resource's rows of the table `records`. */
export function openRecordTable({ db }: Mirror, resource: Resource) {
  const columns =
    "record_id, key, json, list_json, detailed_at, outdated, context, dated_at, since_at, removed_at";
  const find = db.prepare<[string, string], RecordRow>(
    `SELECT ${columns} FROM records WHERE resource = ? AND key = ?`,
  );
  const findDated = db.prepare<[string, number | null, number | null, number], Known>(
    `SELECT record_id AS id, key, json FROM records
     WHERE resource = ? AND dated_at BETWEEN ? AND ? AND removed_at IS NULL LIMIT ?`,
  );
  const get = db.prepare<[number], RecordRow>(`SELECT ${columns} FROM records WHERE record_id = ?`);
  const add = db.prepare(
    `INSERT INTO records (resource, key, json, list_json, detailed_at, outdated, context, since_at, dated_at, flags)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (resource, key) DO NOTHING`,
  );
  const replace = db.prepare(
    `UPDATE records SET json = ?, list_json = ?, detailed_at = ?, outdated = ?, context = ?, since_at = ?,
       dated_at = ?, flags = ?, removed_at = NULL WHERE record_id = ?`,
  );
  const setRemoved = db.prepare("UPDATE records SET removed_at = ?, since_at = ? WHERE record_id = ?");

  /** Returns what both statements bind, in their order. */
  const bound = (text: RecordText, value: Json) => [
    text.json,
    text.list_json,
    text.detailed_at,
    text.outdated,
    text.context,
    text.since_at,
    datedOf(resource, value),
    flagsOf(resource, value),
  ];

  return {
    find: (key: string) => find.get(resource.name, key),
    /**
     * Returns the present records of the dates of an answer, by key: one statement finds nearly all of its records. At most
     * twice as many as it has, because the mirror may hold any number that the API has withdrawn.
     */
    findAround(answer: readonly Json[]): Map<string, Known> {
      const [newest = null, oldest = null] = [answer[0], answer.at(-1)].map((one = null) =>
        datedOf(resource, one),
      );
      const rows = findDated.all(resource.name, oldest, newest, 2 * answer.length);
      return new Map(rows.map((row) => [row.key, row]));
    },
    get: (recordId: number) => get.get(recordId),
    /** @returns the new record's id; null if there is one with this key */
    add(key: string, text: RecordText, value: Json): number | null {
      const { changes, lastInsertRowid } = add.run(resource.name, key, ...bound(text, value));
      return changes === 1 ? Number(lastInsertRowid) : null;
    },
    /** Overwrites a record, which is present from then on. */
    replace: (recordId: number, text: RecordText, value: Json) =>
      void replace.run(...bound(text, value), recordId),
    setRemoved: (recordId: number, at: string) => void setRemoved.run(at, at, recordId),
  };
}

/** Returns the instant that ranges go by, in milliseconds; null if the resource has none or it is no timestamp. */
export function datedOf({ strategy }: Resource, value: Json): number | null {
  if (strategy.kind !== "dated") return null;
  const text = valueAt(value, [strategy.date]);
  return typeof text === "string" ? (parseTimestamp(text) ?? null) : null;
}

/** Returns the month (UTC) of an instant that `datedOf` returned. */
export function monthOf(dated: number | null): string | null {
  return dated === null ? null : formatInstant(Math.floor(dated)).slice(0, 7);
}

/** Returns one bit per filter of the API that would select this record. */
function flagsOf({ strategy }: Resource, value: Json): number {
  if (strategy.kind !== "dated") return 0;
  let flags = 0;
  for (const [bit, { member }] of (strategy.counts ?? []).entries())
    if (valueAt(value, [member]) === true) flags |= 1 << bit;
  return flags;
}
