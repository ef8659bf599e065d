import type { Resource } from "../resources/resource.js";
import type { Json } from "../util/json-value.js";
import type { Mirror } from "./database.js";
import { filterFlags, type RecordRow, recordDate } from "./stored-record.js";

/** The columns of a record that are written unchanged. Its date and flags are derived from the value. */
export type RecordContent = Pick<
  RecordRow,
  "json" | "list_json" | "detailed_at" | "outdated" | "context" | "since_at"
>;

/** A present record of a resource with dates. */
export type MirroredRecord = Pick<RecordRow, "key" | "json"> & { id: number };

const columns =
  "record_id, key, json, list_json, detailed_at, outdated, context, dated_at, since_at, removed_at";

/** Reads and writes one resource's rows of the table `records`. */
export class RecordTable {
  readonly #find;
  readonly #findByDates;
  readonly #get;
  readonly #insert;
  readonly #update;
  readonly #remove;

  constructor(
    { db }: Mirror,
    private readonly resource: Resource,
  ) {
    this.#find = db.prepare<[string, string], RecordRow>(
      `SELECT ${columns} FROM records WHERE resource = ? AND key = ?`,
    );
    this.#findByDates = db.prepare<[string, number | null, number | null, number], MirroredRecord>(
      `SELECT record_id AS id, key, json FROM records
       WHERE resource = ? AND dated_at BETWEEN ? AND ? AND removed_at IS NULL LIMIT ?`,
    );
    this.#get = db.prepare<[number], RecordRow>(`SELECT ${columns} FROM records WHERE record_id = ?`);
    this.#insert = db.prepare(
      `INSERT INTO records (resource, key, json, list_json, detailed_at, outdated, context, since_at, dated_at, flags)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (resource, key) DO NOTHING`,
    );
    this.#update = db.prepare(
      `UPDATE records SET json = ?, list_json = ?, detailed_at = ?, outdated = ?, context = ?, since_at = ?,
         dated_at = ?, flags = ?, removed_at = NULL WHERE record_id = ?`,
    );
    this.#remove = db.prepare("UPDATE records SET removed_at = ?, since_at = ? WHERE record_id = ?");
  }

  find(key: string): RecordRow | undefined {
    return this.#find.get(this.resource.name, key);
  }

  /**
   * Returns the present records within the dates of a response, by key: one statement finds nearly all of its records. The
   * number is limited, because the mirror may hold any number of records that the API has withdrawn.
   */
  findByDates(response: readonly Json[]): Map<string, MirroredRecord> {
    const [newest, oldest] = [response[0], response.at(-1)].map((record = null) =>
      recordDate(this.resource, record),
    );
    const limit = 2 * response.length;
    const rows = this.#findByDates.all(this.resource.name, oldest ?? null, newest ?? null, limit);
    return new Map(rows.map((row) => [row.key, row]));
  }

  get(recordId: number): RecordRow | undefined {
    return this.#get.get(recordId);
  }

  /** Adds a record. @returns its ID; null if there already is a record with this key */
  add(key: string, content: RecordContent, value: Json): number | null {
    const values = this.#parameters(content, value);
    const { changes, lastInsertRowid } = this.#insert.run(this.resource.name, key, ...values);
    return changes === 1 ? Number(lastInsertRowid) : null;
  }

  /** Overwrites a record. A removed record becomes present again. */
  replace(recordId: number, content: RecordContent, value: Json): void {
    this.#update.run(...this.#parameters(content, value), recordId);
  }

  markRemoved(recordId: number, at: string): void {
    this.#remove.run(at, at, recordId);
  }

  #parameters(content: RecordContent, value: Json) {
    return [
      content.json,
      content.list_json,
      content.detailed_at,
      content.outdated,
      content.context,
      content.since_at,
      recordDate(this.resource, value),
      filterFlags(this.resource, value),
    ];
  }
}
