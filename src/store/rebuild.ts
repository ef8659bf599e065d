import { createHash } from "node:crypto";
import { details, resources } from "../resources/registry.js";
import type { Resource } from "../resources/resource.js";
import { tablesOf } from "../resources/table-shape.js";
import type { Json } from "../util/json-value.js";
import { clearConflictingNames, readAddedObjects, restoreAddedObjects } from "./added-objects.js";
import { forgetDeclaredColumns, forgetUnusableNames, openAttributeWatch, openColumns } from "./columns.js";
import { type Mirror, readInfo, statement, writeInfo } from "./database.js";
import { rebuildHostNames } from "./host-names.js";
import { createTables, indexTables, openTables, type WriteRows } from "./projection.js";
import { recordDate, utcMonth } from "./records.js";
import { omitsHostNames, readRedactionRules } from "./redaction-rules.js";
import { readRecords } from "./stored-record.js";
import { createTableSql, indexNames, quote, recordStates, tableName } from "./table-sql.js";
import { clearUnexpectedValues, openUnexpectedValues } from "./unexpected-values.js";
import type { SchemaIssue } from "./values.js";

/**
 * Typed tables follow from the registry: a newer program may declare other columns than a mirror's tables have. They
 * are then rebuilt from the records, which hold everything; the API is not asked.
 */

/** True if some typed table is missing, or not as this version declares it. */
export function hasOutdatedTables(mirror: Mirror): boolean {
  return (
    !hasCurrentHostNames(mirror) ||
    [...resources, ...details].some((resource) => !isCurrent(mirror, resource))
  );
}

/** True if some typed table was made by another version, with other columns. */
export function hasOtherColumns(mirror: Mirror): boolean {
  return [...resources, ...details].some((resource) => !hasShape(mirror, resource));
}

/**
 * Brings every typed table to this version's shape, and creates missing ones. Call it in a transaction.
 * @returns a sentence for each index and trigger that somebody added and that no longer fits
 */
export function rebuildOutdatedTables(mirror: Mirror): string[] {
  const all = [...resources, ...details];
  const cleared =
    readInfo(mirror, removedTables) === null ? clearConflictingNames(mirror, all.flatMap(removedOf)) : [];
  writeInfo(mirror, removedTables, "separate");
  const outdated = all.filter((resource) => !isCurrent(mirror, resource));
  const lost = outdated.flatMap((resource) => rebuild(mirror, resource));
  if (!hasCurrentHostNames(mirror)) rebuildHostNames(mirror);
  writeInfo(mirror, hostNames, hostNameRules);
  return [...cleared, ...lost];
}

/** The name of the note that removed records have tables of their own in this mirror. */
const removedTables = "removed_tables";

/** The rules by which the table `host_names` was filled, in `mirror_info`. */
const hostNames = "host_names";
const hostNameRules = "no display names if first or last names are omitted";

/** Other rules make a difference only to a mirror that omits names. */
function hasCurrentHostNames(mirror: Mirror): boolean {
  const rules = readInfo(mirror, hostNames);
  return rules === hostNameRules || (rules !== null && !omitsHostNames(readRedactionRules(mirror)));
}

function removedOf(resource: Resource): string[] {
  return tablesOf(resource).map((shape) => tableName(shape, "removed"));
}

/**
 * Rebuilds all tables of these resources from their records, in one transaction.
 * @returns a sentence for each index and trigger that somebody added and that no longer fits
 */
export function rebuildTables(mirror: Mirror, resources: readonly Resource[]): string[] {
  return mirror.transaction(() => resources.flatMap((resource) => rebuild(mirror, resource)));
}

function rebuild(mirror: Mirror, resource: Resource): string[] {
  const tables = tablesOf(resource).flatMap((shape) => recordStates.map((part) => tableName(shape, part)));
  const ownIndexes = tablesOf(resource).flatMap((shape) => indexNames(shape));
  const added = readAddedObjects(mirror, tables, ownIndexes);
  for (const shape of tablesOf(resource)) {
    for (const part of recordStates) mirror.db.exec(`DROP TABLE IF EXISTS ${quote(tableName(shape, part))}`);
    forgetDeclaredColumns(mirror, shape);
    forgetUnusableNames(mirror, shape);
    createTables(mirror, shape, openColumns(mirror, shape).all());
  }
  clearUnexpectedValues(mirror, resource.name);
  const unexpected = openUnexpectedValues(mirror);
  let recordId = 0;
  const complain = (complaint: SchemaIssue) => {
    if (complaint.kind === "type") unexpected.add(recordId, complaint);
  };
  const watch = openAttributeWatch(resource, complain);
  let write: WriteRows | undefined;
  const setDate = mirror.db.prepare("UPDATE records SET dated_at = ? WHERE record_id = ?");
  for (const record of readRecords(mirror, [resource.name])) {
    write ??= openTables(mirror, tablesOf(resource), complain);
    recordId = record.recordId;
    watch(record.value);
    write(record, true);
    const dated = recordDate(resource, record.value);
    if (dated !== record.row.dated_at) setDate.run(dated, record.recordId);
  }
  if (resource.strategy.kind === "dated") setVersionMonths(mirror, resource);
  if (write) indexTables(mirror, resource);
  writeInfo(mirror, infoName(resource), fingerprint(resource));
  // The rows are not new, so no trigger runs for them.
  return restoreAddedObjects(mirror, added);
}

/** Sets the month of each earlier version of a resource's records. */
function setVersionMonths({ db }: Mirror, resource: Resource): void {
  const next = db.prepare<[number, string], { version_id: number; json: string }>(
    `SELECT version_id, v.json FROM record_versions AS v JOIN records AS r USING (record_id)
     WHERE version_id > ? AND +resource = ? ORDER BY version_id LIMIT 1000`,
  );
  const set = db.prepare("UPDATE record_versions SET month = ? WHERE version_id = ?");
  for (let versions = next.all(0, resource.name); versions.length > 0; ) {
    for (const { json, version_id } of versions)
      set.run(utcMonth(recordDate(resource, JSON.parse(json) as Json)), version_id);
    versions = next.all(versions.at(-1)?.version_id ?? 0, resource.name);
  }
}

function isCurrent(mirror: Mirror, resource: Resource): boolean {
  const find = statement(mirror, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?");
  const names = tablesOf(resource).flatMap((shape) => recordStates.map((part) => tableName(shape, part)));
  return hasShape(mirror, resource) && names.every((name) => find.get(name) !== undefined);
}

function hasShape(mirror: Mirror, resource: Resource): boolean {
  return readInfo(mirror, infoName(resource)) === fingerprint(resource);
}

function infoName({ table }: Resource): string {
  return `shape:${table}`;
}

/** The version of the rules by which discovered members become columns, and rows get their times. */
const rules = 6;

/** Returns a hash of all that a resource's rows depend on, beside its records. */
function fingerprint(resource: Resource): string {
  const shapes = tablesOf(resource).map((shape) => {
    const columns = shape.columns.map((column) => ({ ...column, isDiscovered: false }));
    const sources = columns.map(({ from, path }) => [from, ...path]);
    const tables = recordStates.map((part) => createTableSql(shape, columns, { part }));
    return [tables, shape.discoversColumns, shape.list?.path ?? null, sources];
  });
  const text = JSON.stringify([rules, shapes]);
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
