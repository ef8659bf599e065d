import type { Statement } from "better-sqlite3";
import { MirrorUnusable } from "../errors.js";
import { damagedHint } from "../lib/failures.js";
import type { Mirror, Part } from "../mirror/index.js";
import { asObject, type JsonObject } from "../resources/types.js";

/** A record with everything that its rows are made of. */
export interface StoredRecord {
  recordId: number;
  value: JsonObject;
  context: JsonObject;
  sinceAt: string;
  removedAt: string | null;
}

/** Returns which tables have the rows of a record. */
export function partOf({ removedAt }: Pick<StoredRecord, "removedAt">): Part {
  return removedAt === null ? "current" : "removed";
}

/** A record as a statement returns it. */
export interface StoredRow {
  record_id: number;
  json: string;
  context: string | null;
  since_at: string;
  removed_at: string | null;
}

/** @throws MirrorUnusable if its text is not JSON: another program wrote it */
export function storedRecord({ path }: Mirror, row: StoredRow): StoredRecord {
  try {
    return {
      recordId: row.record_id,
      value: asObject(JSON.parse(row.json)),
      context: row.context === null ? {} : asObject(JSON.parse(row.context)),
      sinceAt: row.since_at,
      removedAt: row.removed_at,
    };
  } catch (cause) {
    throw new MirrorUnusable(`The mirror is damaged, record ${row.record_id} is not JSON: ${path}.`, {
      hint: damagedHint,
      cause,
    });
  }
}

const rowsPerBatch = 1_000;
const charactersPerBatch = 2_000_000;

/**
 * Returns a statement's records, batch by batch: no statement may be open while the connection writes.
 * @param select takes the record id to go on after, and `more`
 */
export function* storedRecords<Row extends StoredRow, More extends unknown[]>(
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
    for (const row of rows) yield { ...storedRecord(mirror, row), row };
  }
}

/** Returns every record of some resources, removed ones too, in the order in which they came. */
export function recordsOf(mirror: Mirror, names: readonly string[]) {
  const select = mirror.db.prepare<
    [number, string],
    StoredRow & { resource: string; dated_at: number | null }
  >(
    `SELECT record_id, resource, json, context, since_at, removed_at, dated_at FROM records
     WHERE record_id > ? AND +resource IN (SELECT value FROM json_each(?)) ORDER BY record_id`,
  );
  return storedRecords(mirror, select, JSON.stringify(names));
}
