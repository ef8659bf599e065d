import { MirrorUnusable } from "../errors.js";
import type { Mirror } from "../mirror/index.js";
import type { Resource } from "../resources/types.js";
import { type StoredRecord, type StoredRow, storedRecord } from "./stored-record.js";

/** Records read at a time: SQLite takes no writes while a statement is being read. */
const recordsPerBatch = 1_000;

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
  const batch = db.prepare<[number, string], StoredRow & { resource: string }>(
    `SELECT record_id, resource, json, context, removed_at,
       CASE WHEN removed_at IS NULL THEN r.since_at ELSE coalesce(
         (SELECT v.since_at FROM record_versions v WHERE v.record_id = r.record_id ORDER BY version_id DESC LIMIT 1),
         r.since_at) END AS since_at
     FROM records r WHERE record_id > ? AND +resource IN (SELECT value FROM json_each(?))
     ORDER BY record_id LIMIT ${recordsPerBatch}`,
  );
  const names = JSON.stringify(resources.map(({ name }) => name));
  for (let last = Number.MIN_SAFE_INTEGER; ; ) {
    const rows = batch.all(last, names);
    yield rows.map((row) => ({ resource: row.resource, record: readable(row, path) }));
    const end = rows.at(-1);
    if (!end || rows.length < recordsPerBatch) return;
    last = end.record_id;
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
