import { createHash } from "node:crypto";
import { createTable, type Mirror, quote, readInfo, writeInfo } from "../mirror/index.js";
import { details, resources } from "../resources/index.js";
import { tablesOf } from "../resources/shape.js";
import type { Resource } from "../resources/types.js";
import { dropDeclared, openColumns } from "./open-columns.js";
import { indexProjection, openProjection } from "./projection.js";
import { type StoredRow, storedRecord } from "./stored-record.js";
import { createIfMissing } from "./table-writer.js";

/**
 * Typed tables follow from the registry: a newer program may declare other columns than those that a mirror's tables
 * were made with. They are then made anew from the records, which hold everything; the API is not asked.
 */

/** Whether some typed table is not as this version declares it, or not there: somebody else took it away. */
export function isOutdated(mirror: Mirror): boolean {
  return [...resources, ...details].some((resource) => !isCurrent(mirror, resource));
}

/** Brings every typed table to this version's shape, and creates those that are missing. Call it in a transaction. */
export function reproject(mirror: Mirror): void {
  for (const resource of [...resources, ...details]) {
    if (!isCurrent(mirror, resource)) {
      dropTables(mirror, resource);
      createTables(mirror, resource);
      if (fill(mirror, resource) > 0) indexProjection(mirror, resource);
      writeInfo(mirror, infoName(resource), fingerprint(resource));
    } else createTables(mirror, resource);
  }
}

function isCurrent(mirror: Mirror, resource: Resource): boolean {
  if (readInfo(mirror, infoName(resource)) !== fingerprint(resource)) return false;
  const find = mirror.db.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?");
  return tablesOf(resource).every(({ name }) => find.get(name) !== undefined);
}

function infoName({ table }: Resource): string {
  return `shape:${table}`;
}

/** Which members become columns, and under which name, where the document shows none: by its number. */
const discovery = 2;

/** All that a resource's rows depend on, beside its records. */
function fingerprint(resource: Resource): string {
  const parts = tablesOf(resource).map((shape) => {
    const columns = shape.columns.map((column) => ({ ...column, open: false }));
    const sources = columns.map(({ from, path }) => [from, ...path]);
    return [createTable(shape, columns), shape.open && discovery, shape.list?.path ?? null, sources];
  });
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 16);
}

function createTables(mirror: Mirror, resource: Resource): void {
  for (const shape of tablesOf(resource)) createIfMissing(mirror, shape, openColumns(mirror, shape).all());
}

function dropTables(mirror: Mirror, resource: Resource): void {
  for (const shape of tablesOf(resource)) {
    mirror.db.exec(`DROP TABLE IF EXISTS ${quote(shape.name)}`);
    dropDeclared(mirror, shape);
  }
}

/** Records read at a time: SQLite takes no writes while a statement is being read. */
const recordsPerBatch = 500;

/** Writes the rows of every record. @returns how many records there are */
function fill(mirror: Mirror, resource: Resource): number {
  // What is wrong with a record was said when it came.
  const projection = openProjection(mirror, resource, () => {});
  // A removal moves `since_at`, but writes no row anew: that is as old as the version kept then.
  const batch = mirror.db.prepare(
    `SELECT record_id, json, context, removed_at,
       CASE WHEN removed_at IS NULL THEN r.since_at ELSE coalesce(
         (SELECT v.since_at FROM record_versions v WHERE v.record_id = r.record_id ORDER BY version_id DESC LIMIT 1),
         r.since_at) END AS since_at
     FROM records r WHERE record_id > ? AND +resource = ? ORDER BY record_id LIMIT ${recordsPerBatch}`,
  );
  let last = 0;
  let count = 0;
  for (;;) {
    const rows = batch.all(last, resource.name) as StoredRow[];
    for (const row of rows) projection.write(storedRecord(row), false);
    count += rows.length;
    const end = rows.at(-1);
    if (!end || rows.length < recordsPerBatch) return count;
    last = end.record_id;
  }
}
