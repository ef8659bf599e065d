import { createHash } from "node:crypto";
import type { Deps } from "../deps.js";
import { atOnce } from "../lib/in-parts.js";
import {
  createTable,
  type Mirror,
  quote,
  readInfo,
  statement,
  transactInParts,
  writeInfo,
} from "../mirror/index.js";
import { details, resources } from "../resources/index.js";
import { tablesOf } from "../resources/shape.js";
import type { Resource } from "../resources/types.js";
import { dropDeclared, openColumns } from "./open-columns.js";
import { indexesOf, openProjection, type Projection } from "./projection.js";
import { recordBatches } from "./record-batches.js";
import { createIfMissing } from "./table-writer.js";

/**
 * Typed tables follow from the registry: a newer program may declare other columns than those that a mirror's tables
 * were made with. They are then made anew from the records, which hold everything; the API is not asked.
 */

/** Whether some typed table is not as this version declares it, or not there: somebody else took it away. */
export function isOutdated(mirror: Mirror): boolean {
  return [...resources, ...details].some((resource) => !isCurrent(mirror, resource));
}

/** Whether some typed table was made by another version, with other columns. */
export function isOfOtherShape(mirror: Mirror): boolean {
  return [...resources, ...details].some((resource) => !hasShape(mirror, resource));
}

/** Brings every typed table to this version's shape, and creates those that are missing. Call it in a transaction. */
export function reproject(mirror: Mirror): void {
  for (const resource of [...resources, ...details])
    if (!isCurrent(mirror, resource)) atOnce(rebuild(mirror, resource));
}

/** Makes all tables of these resources anew from their records, in one transaction. */
export async function rebuildTables(
  mirror: Mirror,
  resources: readonly Resource[],
  waiting: Pick<Deps, "clock" | "signal">,
): Promise<void> {
  const all = function* () {
    for (const resource of resources) yield* rebuild(mirror, resource);
  };
  await transactInParts(mirror, all(), waiting);
}

/** Writes the rows of every record into new tables, and then the indexes. */
function* rebuild(mirror: Mirror, resource: Resource): Generator<void> {
  dropTables(mirror, resource);
  createTables(mirror, resource);
  // A new mirror has no records: there is nothing to prepare for.
  let projection: Projection | undefined;
  let count = 0;
  for (const batch of recordBatches(mirror, [resource])) {
    // What is wrong with a record was said when it came.
    projection ??= openProjection(mirror, resource, () => {});
    for (const { record } of batch) {
      for (let part = 0; !projection.write(record, part); part += 1) yield;
      yield;
    }
    count += batch.length;
  }
  if (count > 0)
    for (const index of indexesOf(resource)) {
      mirror.db.exec(index);
      yield;
    }
  writeInfo(mirror, infoName(resource), fingerprint(resource));
}

function isCurrent(mirror: Mirror, resource: Resource): boolean {
  const find = statement(mirror, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?");
  return hasShape(mirror, resource) && tablesOf(resource).every(({ name }) => find.get(name) !== undefined);
}

function hasShape(mirror: Mirror, resource: Resource): boolean {
  return readInfo(mirror, infoName(resource)) === fingerprint(resource);
}

function infoName({ table }: Resource): string {
  return `shape:${table}`;
}

/** Which members become columns, and under which name, where the document shows none: by its number. */
const discovery = 2;

const fingerprints = new WeakMap<Resource, string>();

/** All that a resource's rows depend on, beside its records. Each mirror that is opened is asked for it. */
function fingerprint(resource: Resource): string {
  const known = fingerprints.get(resource) ?? workOutFingerprint(resource);
  fingerprints.set(resource, known);
  return known;
}

function workOutFingerprint(resource: Resource): string {
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
