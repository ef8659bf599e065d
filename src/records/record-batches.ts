import type { Statement } from "better-sqlite3";
import { MirrorUnusable } from "../errors.js";
import type { Mirror } from "../mirror/index.js";
import type { Resource } from "../resources/types.js";
import { type StoredRecord, type StoredRow, storedRecord } from "./stored-record.js";

/** What is held at a time, of rows as the mirror has them: SQLite takes no writes while a statement is being read. */
const rowsPerBatch = 1_000;
/** Characters. A record of the API's may have millions. */
const textPerBatch = 2_000_000;

/** A record, and the name of its resource. */
interface Named {
  resource: string;
  record: StoredRecord;
}

/**
 * Every record of these resources, in the order in which they came, with all that its rows are made of.
 * @throws MirrorUnusable when one is no JSON: somebody else wrote into it
 */
export function* recordBatches({ db, path }: Mirror, resources: readonly Resource[]): Generator<Named[]> {
  // A removal moves `since_at`, but writes no row anew: that is as old as the version kept then.
  const select = db.prepare<[number, string], StoredRow & { resource: string }>(
    `SELECT record_id, resource, json, context, removed_at,
       CASE WHEN removed_at IS NULL THEN r.since_at ELSE coalesce(
         (SELECT v.since_at FROM record_versions v WHERE v.record_id = r.record_id ORDER BY version_id DESC LIMIT 1),
         r.since_at) END AS since_at
     FROM records r WHERE record_id > ? AND +resource IN (SELECT value FROM json_each(?)) ORDER BY record_id`,
  );
  const names = JSON.stringify(resources.map(({ name }) => name));
  for (const rows of rowBatches(select, names))
    yield rows.map((row) => ({ resource: row.resource, record: readable(row, path) }));
}

/**
 * All rows of a statement that goes on after the record that it is given first. Between two batches it is not being
 * read.
 */
export function* rowBatches<Row extends StoredRow, More extends unknown[]>(
  select: Statement<[number, ...More], Row>,
  ...more: More
): Generator<Row[]> {
  for (let last: number | undefined = Number.MIN_SAFE_INTEGER; last !== undefined; ) {
    const rows: Row[] = [];
    let text = 0;
    for (const row of select.iterate(last, ...more)) {
      rows.push(row);
      text += row.json.length;
      if (rows.length === rowsPerBatch || text >= textPerBatch) break;
    }
    last = rows.at(-1)?.record_id;
    if (rows.length > 0) yield rows;
  }
}

function readable(row: StoredRow & { resource: string }, path: string): StoredRecord {
  try {
    return storedRecord(row);
  } catch (cause) {
    throw new MirrorUnusable(`The mirror is damaged, a record of ${row.resource} is no JSON: ${path}.`, {
      hint: "restore it from a backup, or move it away and run `brandapi sync --full`",
      cause,
    });
  }
}
