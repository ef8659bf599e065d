import { createHash } from "node:crypto";
import { detailResources, resources } from "../resources/registry.js";
import type { Resource } from "../resources/resource.js";
import { tablesOf } from "../resources/table-shape.js";
import type { Json } from "../util/json-value.js";
import { views } from "../views/all-views.js";
import { type View, viewQuery } from "../views/view.js";
import { type Mirror, readInfo, writeInfo } from "./database.js";
import { rebuildHostNames } from "./host-names.js";
import { createTables, indexTables, Projection } from "./projection.js";
import { recordDate, utcMonth } from "./record-key.js";
import { readRecords } from "./records.js";
import { omitsHostNames, readRedactionRules } from "./redaction-rules.js";
import { AttributeWatch, clearUnexpectedValues, SchemaIssues } from "./schema-issues.js";
import { forgetDeclaredColumns, forgetUnusableNames, TableColumns } from "./table-columns.js";
import { createTableSql, indexNames, quote, recordStates, tableName } from "./table-sql.js";
import { freeTableNames, readUserObjects, restoreUserObjects } from "./user-objects.js";

// Tables whose columns were defined by another version are rebuilt from the records, without requests to the
// API.

/** True if a table is missing or outdated. */
export function hasOutdatedTables(mirror: Mirror): boolean {
  return (
    !hasCurrentHostNames(mirror) ||
    [...resources, ...detailResources].some((resource) => !hasCurrentTables(mirror, resource))
  );
}

/** True if a table has columns that another version defined. */
export function hasOutdatedColumns(mirror: Mirror): boolean {
  return [...resources, ...detailResources].some((resource) => !hasCurrentColumns(mirror, resource));
}

/**
 * Rebuilds missing and outdated tables. Must be called in a transaction.
 * @returns a message for each user-defined table or view that was renamed or dropped, and for each
 * user-defined index or trigger that was lost
 */
export function rebuildOutdatedTables(mirror: Mirror): string[] {
  const all = [...resources, ...detailResources];
  const hasRemovedTables = readInfo(mirror, removedTables) !== null;
  const cleared = hasRemovedTables ? [] : freeTableNames(mirror, all.flatMap(removedTableNames));
  writeInfo(mirror, removedTables, "separate");
  const outdated = all.filter((resource) => !hasCurrentTables(mirror, resource));
  const lost = outdated.flatMap((resource) => rebuild(mirror, resource));
  if (!hasCurrentHostNames(mirror)) rebuildHostNames(mirror);
  writeInfo(mirror, hostNames, hostNameRules);
  return [...cleared, ...lost];
}

/** The `mirror_info` key that marks mirrors with separate tables for removed records. */
const removedTables = "removed_tables";

/** The `mirror_info` key for the rules that were used to fill `host_names`. */
const hostNames = "host_names";
const hostNameRules = "no display names if first or last names are omitted";

/** Earlier rules gave different results only in mirrors that omit names. */
function hasCurrentHostNames(mirror: Mirror): boolean {
  const rules = readInfo(mirror, hostNames);
  return rules === hostNameRules || (rules !== null && !omitsHostNames(readRedactionRules(mirror)));
}

function removedTableNames(resource: Resource): string[] {
  return tablesOf(resource).map((shape) => tableName(shape, "removed"));
}

/**
 * Rebuilds all tables for the given resources in one transaction.
 * @returns a message for each user-defined index or trigger that was lost
 */
export function rebuildTables(mirror: Mirror, resources: readonly Resource[]): string[] {
  return mirror.transaction(() => resources.flatMap((resource) => rebuild(mirror, resource)));
}

function rebuild(mirror: Mirror, resource: Resource): string[] {
  const tables = tablesOf(resource).flatMap((shape) => recordStates.map((state) => tableName(shape, state)));
  const ownIndexes = tablesOf(resource).flatMap((shape) => indexNames(shape));
  const added = readUserObjects(mirror, tables, ownIndexes);
  for (const shape of tablesOf(resource)) {
    for (const state of recordStates)
      mirror.db.exec(`DROP TABLE IF EXISTS ${quote(tableName(shape, state))}`);
    forgetDeclaredColumns(mirror, shape);
    forgetUnusableNames(mirror, shape);
    createTables(mirror, shape, new TableColumns(mirror, shape).all());
  }
  clearUnexpectedValues(mirror, resource.name);
  const issues = new SchemaIssues(mirror, resource);
  const attributes = new AttributeWatch(resource, issues.report);
  let projection: Projection | undefined;
  const setDate = mirror.db.prepare("UPDATE records SET dated_at = ? WHERE record_id = ?");
  for (const record of readRecords(mirror, [resource.name])) {
    projection ??= new Projection(mirror, tablesOf(resource), issues.report);
    issues.startRecord(record.recordId, record.sinceAt);
    attributes.check(record.value);
    projection.write(record, true);
    const date = recordDate(resource, record.value);
    if (date !== record.row.dated_at) setDate.run(date, record.recordId);
  }
  if (resource.strategy.kind === "dated") setVersionMonths(mirror, resource);
  if (projection) indexTables(mirror, resource);
  writeInfo(mirror, infoName(resource), fingerprint(resource));
  // Users' triggers are restored last, so that they do not fire for rebuilt rows.
  return restoreUserObjects(mirror, added);
}

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

function hasCurrentTables(mirror: Mirror, resource: Resource): boolean {
  const find = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?";
  const names = tablesOf(resource).flatMap((shape) => recordStates.map((state) => tableName(shape, state)));
  return hasCurrentColumns(mirror, resource) && names.every((name) => mirror.selectValue(find, name) === 1);
}

function hasCurrentColumns(mirror: Mirror, resource: Resource): boolean {
  return readInfo(mirror, infoName(resource)) === fingerprint(resource);
}

function infoName({ table }: Resource): string {
  return `shape:${table}`;
}

/** Increment this number when the rules for discovered columns or row timestamps change. */
const rules = 6;

/** Returns a hash of the declarations that determine a resource's rows. */
function fingerprint(resource: Resource): string {
  const shapes = tablesOf(resource).map((shape) => {
    const columns = shape.columns.map((column) => ({ ...column, isDiscovered: false }));
    const sources = columns.map(({ from, path }) => [from, ...path]);
    const tables = recordStates.map((state) => createTableSql(shape, columns, { state }));
    return [tables, shape.discoversColumns, shape.list?.path ?? null, sources];
  });
  const text = JSON.stringify([rules, shapes]);
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

/** Returns the views that are missing from a mirror or were created by another version. */
export function findOutdatedViews({ db }: Mirror): View[] {
  const existing = new Set(db.prepare("SELECT sql FROM sqlite_master WHERE type = 'view'").pluck().all());
  return views.filter((view) => !existing.has(createViewSql(view)));
}

/**
 * Creates missing and outdated views. The tables they select from must exist.
 * @returns a message for each user-defined trigger that is no longer valid
 */
export function createViews(mirror: Mirror): string[] {
  return findOutdatedViews(mirror).flatMap((view) => {
    const added = readUserObjects(mirror, [view.name]);
    mirror.db.exec(`DROP VIEW IF EXISTS ${quote(view.name)}; ${createViewSql(view)}`);
    return restoreUserObjects(mirror, added);
  });
}

function createViewSql(view: View): string {
  return `CREATE VIEW ${quote(view.name)} AS ${viewQuery(view)}`;
}
