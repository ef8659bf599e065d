import type { Statement } from "better-sqlite3";
import { MirrorUnusable } from "../../errors.js";
import type { Resource } from "../../resources/resource.js";
import { asObject, type Json, type JsonObject } from "../../util/json-value.js";
import { damagedHint } from "../../util/system-errors.js";
import type { Mirror } from "../mirror/database.js";
import type { RecordState } from "../tables/table-sql.js";
import { filterFlags, recordDate } from "./record-key.js";

/** The columns of `records` that are not computed from the record's value. */
export type RecordContent = Pick<
  RecordRow,
  "json" | "list_json" | "detailed_at" | "outdated" | "context" | "since_at"
>;

export type MirroredRecord = Pick<RecordRow, "key" | "json"> & { id: number };

const columns =
  "record_id, key, json, list_json, detailed_at, outdated, context, dated_at, since_at, removed_at";

/** Reads and writes a resource's rows in the table `records`. */
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
   * Returns the current records dated between a response's oldest and newest record, by key. One query finds nearly all
   * records in the response. The query has a limit, because the mirror may have any number of records in this range
   * that the API no longer returns.
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

  /**
   * Adds a record.
   * @returns its ID, or null if a record with this key exists
   */
  add(key: string, content: RecordContent, value: Json): number | null {
    const values = this.#parameters(content, value);
    const { changes, lastInsertRowid } = this.#insert.run(this.resource.name, key, ...values);
    return changes === 1 ? Number(lastInsertRowid) : null;
  }

  /** Overwrites a record. A removed record becomes current again. */
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

/** The columns of `records` from which a record's rows are built. */
export interface StoredRow {
  record_id: number;
  json: string;
  context: string | null;
  /** The time at which this version was first read, or at which the record was removed (ISO 8601). */
  since_at: string;
  removed_at: string | null;
}

/** A row of `records`. `list_json`, `detailed_at` and `outdated` apply only to resources with details. */
export interface RecordRow extends StoredRow {
  key: string;
  /** The list item, if the resource merges details into it. */
  list_json: string | null;
  detailed_at: string | null;
  /** 1 if the list item has changed since the details were read. */
  outdated: 0 | 1;
  dated_at: number | null;
}

export interface StoredRecord {
  recordId: number;
  value: JsonObject;
  context: JsonObject;
  sinceAt: string;
  removedAt: string | null;
}

export function recordState({ removedAt }: Pick<StoredRecord, "removedAt">): RecordState {
  return removedAt === null ? "current" : "removed";
}

/** @throws MirrorUnusable if another program has overwritten the record with invalid JSON */
export function parseRecord({ path }: Mirror, row: StoredRow): StoredRecord {
  try {
    return {
      recordId: row.record_id,
      value: asObject(JSON.parse(row.json)),
      context: row.context === null ? {} : asObject(JSON.parse(row.context)),
      sinceAt: row.since_at,
      removedAt: row.removed_at,
    };
  } catch (cause) {
    throw new MirrorUnusable(`The mirror is damaged (record ${row.record_id} is not JSON): ${path}.`, {
      hint: damagedHint,
      cause,
    });
  }
}

const rowsPerBatch = 1_000;

const charactersPerBatch = 2_000_000;

/**
 * Yields the records that a query selects, in batches, because the connection cannot write while a statement is open.
 * @param select returns rows ordered by `record_id`; its parameters are the ID to continue after, then `more`
 */
export function* readInBatches<Row extends StoredRow, More extends unknown[]>(
  mirror: Mirror,
  select: Statement<[number, ...More], Row>,
  ...more: More
): Generator<StoredRecord & { row: Row }> {
  for (let last: number | undefined = Number.MIN_SAFE_INTEGER; last !== undefined; ) {
    const rows: Row[] = [];
    let characters = 0;
    for (const row of select.iterate(last, ...more)) {
      rows.push(row);
      characters += row.json.length;
      if (rows.length === rowsPerBatch || characters >= charactersPerBatch) break;
    }
    last = rows.at(-1)?.record_id;
    for (const row of rows) yield { ...parseRecord(mirror, row), row };
  }
}

/** Yields these resources' current and removed records, ordered by `record_id`. */
export function readRecords(mirror: Mirror, resources: readonly string[]) {
  const select = mirror.db.prepare<
    [number, string],
    StoredRow & { resource: string; dated_at: number | null }
  >(
    `SELECT record_id, resource, json, context, since_at, removed_at, dated_at FROM records
     WHERE record_id > ? AND +resource IN (SELECT value FROM json_each(?)) ORDER BY record_id`,
  );
  return readInBatches(mirror, select, JSON.stringify(resources));
}
