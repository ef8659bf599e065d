import { createHash } from "node:crypto";
import { allResources } from "../resources/registry.js";
import type { Resource } from "../resources/resource.js";
import { listTableShapes } from "../resources/table-shape.js";
import { views } from "../views/all-views.js";
import { type View, viewQuery } from "../views/view.js";
import { loadInfo, type Mirror, parseStoredJson, saveInfo } from "./database.js";
import { deleteUnusableColumns } from "./discovered-columns.js";
import { rebuildHostNames } from "./host-names.js";
import { createTables, indexTables, Projection } from "./projection.js";
import { loadRecords, recordDate, recordMonth } from "./records.js";
import { clearUnexpectedValues, SchemaIssues } from "./schema-issues.js";
import { createTableSql, indexNames, quote, recordStates, tableName } from "./table-sql.js";

/**
 * The version of the rules for names in `host_names`. If `mirror_info` contains a different version, the table is
 * rebuilt.
 */
const hostNameRules = "no display names if first or last names are omitted";

export function hasOutdatedTables(mirror: Mirror): boolean {
  return (
    hasOutdatedHostNames(mirror) || allResources.some((resource) => !hasUpToDateTables(mirror, resource))
  );
}

export function hasOutdatedColumns(mirror: Mirror): boolean {
  return allResources.some((resource) => !hasUpToDateColumns(mirror, resource));
}

/**
 * Creates missing tables, and rebuilds outdated ones from the records.
 * @returns a message for each user-defined index or trigger that was lost
 */
export function createOrRebuildTables(mirror: Mirror): string[] {
  const outdated = allResources.filter((resource) => !hasUpToDateTables(mirror, resource));
  const warnings = outdated.flatMap((resource) => rebuild(mirror, resource));
  if (hasOutdatedHostNames(mirror)) rebuildHostNames(mirror);
  saveInfo(mirror, "host_names", hostNameRules);
  return warnings;
}

function hasOutdatedHostNames(mirror: Mirror): boolean {
  return loadInfo(mirror, "host_names") !== hostNameRules;
}

/**
 * Rebuilds all tables for the given resources in one transaction.
 * @returns a message for each user-defined index or trigger that was lost
 */
export function rebuildTables(mirror: Mirror, resources: readonly Resource[]): string[] {
  return mirror.transaction(() => resources.flatMap((resource) => rebuild(mirror, resource)));
}

function rebuild(mirror: Mirror, resource: Resource): string[] {
  const shapes = listTableShapes(resource);
  const tables = listTableNames(resource);
  const userObjects = loadUserObjects(mirror, tables, shapes.flatMap(indexNames));
  for (const table of tables) mirror.db.exec(`DROP TABLE IF EXISTS ${quote(table)}`);
  for (const shape of shapes) deleteUnusableColumns(mirror, shape);
  clearUnexpectedValues(mirror, resource.name);

  // Without a reporter, notices are not printed.
  const issues = new SchemaIssues(mirror, resource);
  createTables(mirror, shapes, "main");
  const projection = new Projection(mirror, shapes);
  let hasRecords = false;
  for (const record of loadRecords(mirror, [resource.name])) {
    hasRecords = true;
    const rowIssues = projection.write(record, { isNew: true });
    issues.save(record, rowIssues, { isNew: true, readAt: record.sinceAt });
    const date = recordDate(resource, record.value);
    if (date !== record.row.dated_ms)
      mirror.execute("UPDATE records SET dated_ms = ? WHERE record_id = ?", date, record.recordId);
  }
  if (hasRecords) indexTables(mirror, resource);
  if (resource.strategy.kind === "dated") setVersionMonths(mirror, resource);
  saveInfo(mirror, `shape:${resource.table}`, fingerprint(resource));
  // Restore user-defined triggers last, so that they do not fire while rows are rebuilt.
  return restoreUserObjects(mirror, userObjects);
}

function setVersionMonths(mirror: Mirror, resource: Resource): void {
  mirror.db.function("version_month", (json) =>
    recordMonth(recordDate(resource, parseStoredJson(mirror, String(json), "a record's version"))),
  );
  mirror.execute(
    `UPDATE record_versions SET month = version_month(json)
     WHERE record_id IN (SELECT record_id FROM records WHERE resource = ?)`,
    resource.name,
  );
}

function listTableNames(resource: Resource): string[] {
  return listTableShapes(resource).flatMap((shape) => recordStates.map((state) => tableName(shape, state)));
}

function hasUpToDateTables(mirror: Mirror, resource: Resource): boolean {
  const find = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?";
  return (
    hasUpToDateColumns(mirror, resource) &&
    listTableNames(resource).every((name) => mirror.selectValue(find, name) === 1)
  );
}

function hasUpToDateColumns(mirror: Mirror, resource: Resource): boolean {
  return loadInfo(mirror, `shape:${resource.table}`) === fingerprint(resource);
}

/**
 * Increment this number when the code that derives rows or discovered columns changes, so that all tables are rebuilt.
 */
const rowRules = 6;

/** Returns a hash of the columns in a resource's tables and of the fields that provide their values. */
function fingerprint(resource: Resource): string {
  const shapes = listTableShapes(resource).map((shape) => {
    const sources = shape.columns.map(({ source, path }) => [source, ...path]);
    const tables = recordStates.map((state) => createTableSql(shape, shape.columns, state));
    return [tables, shape.discoversColumns, shape.list?.path ?? null, sources];
  });
  const text = JSON.stringify([rowRules, shapes]);
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

export function findOutdatedViews(mirror: Mirror): View[] {
  const existing = new Set(mirror.selectValues("SELECT sql FROM sqlite_master WHERE type = 'view'"));
  return views.filter((view) => !existing.has(createViewSql(view)));
}

/**
 * Creates missing and outdated views. The tables that they select from must exist.
 * @returns a message for each user-defined trigger that is no longer valid
 */
export function createViews(mirror: Mirror): string[] {
  return findOutdatedViews(mirror).flatMap((view) => {
    const userObjects = loadUserObjects(mirror, [view.name], []);
    mirror.db.exec(`DROP VIEW IF EXISTS ${quote(view.name)}; ${createViewSql(view)}`);
    return restoreUserObjects(mirror, userObjects);
  });
}

export function createViewSql(view: View): string {
  return `CREATE VIEW ${quote(view.name)} AS ${viewQuery(view)}`;
}

/** A user-defined index or trigger, which SQLite drops together with its table or view. */
interface UserObject {
  type: "index" | "trigger";
  name: string;
  table: string;
  sql: string;
}

function loadUserObjects(
  mirror: Mirror,
  tables: readonly string[],
  programIndexes: readonly string[],
): UserObject[] {
  // Exclude the indexes that SQLite creates for constraints, which have no SQL text.
  const objects = mirror.selectRows<UserObject>(
    `SELECT type, name, tbl_name AS "table", sql FROM main.sqlite_master WHERE type IN ('index', 'trigger')
       AND sql IS NOT NULL AND tbl_name IN (SELECT value FROM json_each(?)) ORDER BY rowid`,
    JSON.stringify(tables),
  );
  return objects.filter(({ name }) => !programIndexes.includes(name));
}

function restoreUserObjects(mirror: Mirror, objects: readonly UserObject[]): string[] {
  return objects.flatMap((object) => {
    const reason = restoreUserObject(mirror, object);
    if (reason === null) return [];
    return `the ${object.type} \`${object.name}\` that was added to \`${object.table}\` is no longer valid and was dropped (${reason}): ${object.sql}`;
  });
}

function restoreUserObject({ db }: Mirror, { name, sql, table, type }: UserObject): string | null {
  const findTable = db.prepare("SELECT 1 FROM main.sqlite_master WHERE type = 'table' AND name = ?");
  try {
    db.exec(sql);
    // SQLite does not compile a trigger until it fires. An invalid trigger would make every later sync fail.
    if (type === "trigger" && findTable.get(table) !== undefined)
      for (const statement of [`INSERT INTO ${quote(table)} DEFAULT VALUES`, `DELETE FROM ${quote(table)}`])
        db.prepare(statement);
    return null;
  } catch (error) {
    db.exec(`DROP ${type} IF EXISTS ${quote(name)}`);
    return error instanceof Error ? error.message : String(error);
  }
}
