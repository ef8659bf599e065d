import type { ScalarType } from "../resources/fields.js";
import type { ShapeColumn, TableShape } from "../resources/table-shape.js";
import { uniqueName } from "../util/format-text.js";
import type { JsonObject } from "../util/json-value.js";
import { type Mirror, parseStoredJson } from "./database.js";
import type { SchemaIssue } from "./schema-issues.js";
import { quote, recordStates, tableName } from "./table-sql.js";

const mixedType: ScalarType = "json";

const maxDiscoveredColumns = 300;
const maxNameLength = 63;
/** The maximum nesting depth at which fields get columns. More deeply nested fields are stored only in the record. */
const maxDepth = 2;
const reservedNames = ["synced_at", "removed_at", "record_id", "row_id"];

/**
 * SQLite treats these names as literals unless they are quoted. In subqueries, it cannot resolve columns named `true`
 * or `false`, even if the names are quoted.
 */
const sqlValueNames = ["true", "false", "null", "current_date", "current_time", "current_timestamp"];

/**
 * A table's columns: the declared ones and, if the resource has no documented fields, those discovered in its records.
 * Characters in a discovered name that would need quoting become `_`, and a suffix such as `_2` makes duplicate names
 * unique.
 */
export class TableColumns {
  readonly #columns: ShapeColumn[];
  readonly #takenNames: Set<string>;
  readonly #byPath = new Map<string, ShapeColumn>();

  constructor(
    private readonly mirror: Mirror,
    private readonly shape: TableShape,
  ) {
    this.#columns = loadColumns(mirror, shape);
    const names = this.#columns.map(({ name }) => name.toLowerCase());
    this.#takenNames = new Set([...names, ...reservedNames, ...sqlValueNames]);
    for (const column of this.#columns)
      if (column.source === "record") this.#byPath.set(pathKey(column.path), column);
  }

  all(): readonly ShapeColumn[] {
    return this.#columns;
  }

  /**
   * Adds a column for each scalar value that has none. Skips copies of request parameters, which already have columns.
   * @param issues receives an issue for each new column whose name differs from the field's, and for each field without
   * a column
   * @returns true if a column was added
   */
  discover(item: JsonObject, parameters: JsonObject, issues: SchemaIssue[]): boolean {
    const table = this.shape.name;
    const countBefore = this.#columns.length;
    for (const { path, value } of listFields(item)) {
      if (isParameter(path, value, parameters)) continue;
      const column = this.#byPath.get(pathKey(path));
      if (column && typeof value !== "object") {
        if (isMixture(column, value)) markMixed(this.mirror, table, column);
        continue;
      }
      const name = typeof value === "object" ? null : this.#addColumn(path, scalarType(value));
      if (name !== path.join("_")) issues.push({ kind: "column", table, path: path.join("."), name });
    }
    return this.#columns.length > countBefore;
  }

  /** @returns the column's name, or null if there are too many columns or the field's name is invalid */
  #addColumn(path: readonly string[], type: ScalarType): string | null {
    const position = this.#columns.length - this.shape.columns.length;
    if (position >= maxDiscoveredColumns || !path.every(isReadable)) return null;
    const name = uniqueName(columnName(path), this.#takenNames, maxNameLength);
    const column = saveDiscovered(this.mirror, this.shape.name, { name, path, type }, position);
    this.#columns.push(column);
    this.#takenNames.add(name.toLowerCase());
    this.#byPath.set(pathKey(path), column);
    return name;
  }
}

/**
 * Returns an item's scalar values, including those in nested objects. An object that is nested too deeply is returned
 * as a single value.
 */
function listFields(
  object: JsonObject,
  parent: readonly string[] = [],
): { path: readonly string[]; value: Scalar | JsonObject }[] {
  return Object.entries(object).flatMap(([name, value]) => {
    if (value === null || Array.isArray(value)) return [];
    const path = [...parent, name];
    return typeof value === "object" && path.length <= maxDepth ? listFields(value, path) : [{ path, value }];
  });
}

type Scalar = string | number | boolean;

function scalarType(value: Scalar): ScalarType {
  return typeof value === "string" ? "text" : (typeof value as "number" | "boolean");
}

function isParameter(
  [name = "", ...nested]: readonly string[],
  value: unknown,
  parameters: JsonObject,
): boolean {
  return nested.length === 0 && Object.hasOwn(parameters, name) && String(parameters[name]) === String(value);
}

/**
 * True if this value is the first to mix booleans and other types in a discovered column. In a mixed column, a 1 can
 * mean either `true` or the number.
 */
function isMixture({ isDiscovered, type }: ShapeColumn, value: Scalar): boolean {
  return isDiscovered === true && type !== mixedType && (type === "boolean") !== (typeof value === "boolean");
}

/** True if SQLite's JSON functions can find a field with this name. */
function isReadable(name: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: JSON escapes them
  return name.isWellFormed() && !/["\\\u0000-\u001f]/.test(name);
}

function columnName(path: readonly string[]): string {
  const name = path.join("_").replaceAll(/[^A-Za-z0-9_]/g, "_");
  return name.replace(/^(?![A-Za-z_])/, "_");
}

function pathKey(path: readonly string[]): string {
  return path.join("\u0000");
}

type Discovered = Pick<ShapeColumn, "name" | "path" | "type">;

function discoveredColumn({ name, path, type }: Discovered): ShapeColumn {
  return { name, path, type, about: "found in the API's responses", source: "record", isDiscovered: true };
}

/** Returns a table's columns: the declared ones, followed by those that were discovered in its records. */
export function loadColumns(mirror: Mirror, shape: TableShape): ShapeColumn[] {
  if (!shape.discoversColumns) return [...shape.columns];
  const rows = mirror.selectRows<{ name: string; path: string; type: ScalarType }>(
    "SELECT name, path, type FROM discovered_columns WHERE table_name = ? ORDER BY position",
    shape.name,
  );
  const discovered = rows.map((row) =>
    discoveredColumn({
      ...row,
      path: parseStoredJson<string[]>(mirror, row.path, `the path of the ${row.name} column`),
    }),
  );
  return [...shape.columns, ...discovered];
}

/**
 * Adds a discovered column to the tables for current and removed records, unless it already exists, and stores its
 * path.
 */
function saveDiscovered(mirror: Mirror, table: string, column: Discovered, position: number): ShapeColumn {
  for (const state of recordStates) {
    const name = quote(tableName({ name: table }, state));
    const columns = mirror.db.pragma(`table_info(${name})`) as { name: string }[];
    if (!columns.some((one) => one.name.toLowerCase() === column.name.toLowerCase()))
      mirror.db.exec(`ALTER TABLE ${name} ADD COLUMN ${quote(column.name)}`);
  }
  const insert = `INSERT INTO discovered_columns (table_name, name, position, path, type)
    VALUES (?, ?, ?, ?, ?)`;
  mirror.execute(insert, table, column.name, position, JSON.stringify(column.path), column.type);
  return discoveredColumn(column);
}

function markMixed(mirror: Mirror, table: string, column: ShapeColumn): void {
  const update = "UPDATE discovered_columns SET type = ? WHERE table_name = ? AND name = ?";
  mirror.execute(update, mixedType, table, column.name);
  column.type = mixedType;
}

/**
 * Deletes discovered columns whose names are now used by declared columns or are treated as literals by SQLite. The
 * columns are rediscovered under new names.
 */
export function deleteUnusableColumns(mirror: Mirror, shape: TableShape): void {
  const remove = "DELETE FROM discovered_columns WHERE table_name = ? AND lower(name) = ?";
  const declared = shape.columns.map(({ name }) => name.toLowerCase());
  for (const name of [...declared, ...sqlValueNames]) mirror.execute(remove, shape.name, name);
}
