import type { ScalarType } from "../resources/fields.js";
import type { ShapeColumn, TableShape } from "../resources/table-shape.js";
import type { JsonObject } from "../util/json-value.js";
import { type Mirror, parseStoredJson } from "./database.js";
import type { StoredRecord } from "./records.js";
import type { SchemaIssue } from "./schema-issues.js";

const sqlTypes: Record<ScalarType, string> = {
  text: " TEXT",
  timestamp: " TEXT",
  date: " TEXT",
  integer: " INTEGER",
  number: " REAL",
  boolean: " INTEGER",
  json: " TEXT",
};

/** A column of a typed table. A discovered column has no declared type, so each value keeps its own type. */
export interface TableColumn extends ShapeColumn {
  isDiscovered: boolean;
}

/**
 * `main` is the mirror file. Tables in `temp` exist on one connection only and hide tables in `main` that have the same
 * name.
 */
export type SchemaName = "main" | "temp";

/**
 * Current records are in the table `NAME`, and removed records in `NAME_removed`, which has an additional column
 * `removed_at`. Child tables are split in the same way.
 */
export type RecordState = "current" | "removed";
export const recordStates: readonly RecordState[] = ["current", "removed"];

export function tableName({ name }: Pick<TableShape, "name">, state: RecordState = "current"): string {
  return state === "current" ? name : `${name}_removed`;
}

export function createTableSql(
  shape: TableShape,
  columns: readonly TableColumn[],
  { state = "current", schema = "main" }: { state?: RecordState; schema?: SchemaName } = {},
): string {
  const create = schema === "temp" ? "CREATE TEMP TABLE" : "CREATE TABLE";
  const definitions = [
    ...columns.map(({ isDiscovered, name, type }) => `${quote(name)}${isDiscovered ? "" : sqlTypes[type]}`),
    ...addedColumns(shape, state).map(({ definition }) => definition),
  ];
  return `${create} ${quote(tableName(shape, state))} (${definitions.join(", ")})`;
}

export function columnNames(
  shape: TableShape,
  columns: readonly TableColumn[],
  state: RecordState,
): readonly string[] {
  return [...columns, ...addedColumns(shape, state)].map(({ name }) => name);
}

/** A record and, in a child table, the position of the list item that becomes a row. */
interface RowOrigin {
  record: StoredRecord;
  position: number;
  /** The record's main date as formatted by `formatUtc`, or null if it is missing or unreadable. */
  utcTime: string | null;
}

/** A column that the mirror adds to the API's columns. */
export interface AddedColumn {
  name: string;
  type: ScalarType;
  definition: string;
  value(origin: RowOrigin): string | number | null;
}

/** Returns the columns that follow the API's columns in each table. */
export function addedColumns(shape: TableShape, state: RecordState): AddedColumn[] {
  const key = rowIdColumn(shape);
  const removedAt: AddedColumn = {
    name: "removed_at",
    type: "timestamp",
    definition: "removed_at TEXT NOT NULL",
    value: ({ record }) => record.removedAt,
  };
  return [
    ...utcDateColumns(shape).map(({ name, type, length }) => ({
      name,
      type,
      definition: `${quote(name)} TEXT`,
      value: ({ utcTime }: RowOrigin) => utcTime?.slice(0, length) ?? null,
    })),
    {
      name: "synced_at",
      type: "timestamp",
      definition: "synced_at TEXT NOT NULL",
      value: ({ record }) => record.sinceAt,
    },
    ...(state === "removed" ? [removedAt] : []),
    {
      name: key,
      type: "integer",
      definition: `${key} INTEGER PRIMARY KEY`,
      value: ({ position, record }) => rowId(shape, record.recordId, position),
    },
  ];
}

/**
 * Returns the columns that contain the UTC day, month and time of a table's main date. `length` is the number of
 * characters of the time that a column contains.
 */
function utcDateColumns(shape: TableShape): { name: string; type: ScalarType; length: number | undefined }[] {
  const date = mainDateColumn(shape);
  if (!date) return [];
  return [
    { name: "day", type: "date", length: "2026-10-31".length },
    { name: "month", type: "text", length: "2026-10".length },
    { name: `${date.name}_utc`, type: "timestamp", length: undefined },
  ];
}

/** Returns the timestamp column to which `--since` and `--until` apply, or undefined if the table has none. */
export function mainDateColumn({ resource, list, columns }: TableShape): ShapeColumn | undefined {
  if (list) return undefined;
  return columns.find(({ name, type }) => name === resource.dateColumn && type === "timestamp");
}

export function rowIdColumn({ list }: Pick<TableShape, "list">): "record_id" | "row_id" {
  return list ? "row_id" : "record_id";
}

/**
 * A child row's `row_id` is the record's ID times this number, plus the row's position in the list. A record's child
 * rows therefore have contiguous integer keys, and are faster to replace than rows with text keys.
 */
export const positionsPerRecord = 2 ** 20;

function rowId({ list }: Pick<TableShape, "list">, recordId: number, position: number): number {
  return list ? recordId * positionsPerRecord + position : recordId;
}

/** Returns the lowest and the highest ID that the rows of a record can have. */
export function rowIdRange(shape: Pick<TableShape, "list">, recordId: number): [number, number] {
  return [rowId(shape, recordId, 0), rowId(shape, recordId, positionsPerRecord - 1)];
}

/**
 * Returns an SQL expression for the ID of the record that a row belongs to.
 * @param rowIdSql an SQL expression for the row's ID
 */
export function recordIdSql({ list }: Pick<TableShape, "list">, rowIdSql: string): string {
  return list ? `${rowIdSql} / ${positionsPerRecord}` : rowIdSql;
}

export function createIndexSql(shape: TableShape): readonly string[] {
  return recordStates.flatMap((state) => {
    const table = quote(tableName(shape, state));
    return shape.indexes.map((columns) => {
      const name = quote(indexName(shape, state, columns));
      return `CREATE INDEX IF NOT EXISTS ${name} ON ${table} (${columns.map(quote).join(", ")})`;
    });
  });
}

export function indexNames(shape: TableShape): readonly string[] {
  return recordStates.flatMap((state) => shape.indexes.map((columns) => indexName(shape, state, columns)));
}

function indexName(shape: TableShape, state: RecordState, columns: readonly string[]): string {
  return `${tableName(shape, state)}_by_${columns.join("_")}`;
}

export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

const mixedType: ScalarType = "json";

const maxDiscoveredColumns = 300;
const maxNameLength = 63;
/** The maximum nesting depth of a field that gets a column. More deeply nested fields are stored only in the record. */
const maxDepth = 2;
const reservedNames = ["synced_at", "removed_at", "record_id", "row_id"];

/**
 * Unless they are quoted, SQLite treats these names as literals. In subqueries, it cannot resolve columns named `true`
 * or `false` even if they are quoted.
 */
const sqlValueNames = ["true", "false", "null", "current_date", "current_time", "current_timestamp"];

/** Returns the declared columns, which exist even if no record has a value for them. */
export function declaredColumns({ columns }: TableShape): TableColumn[] {
  return columns.map((column) => ({ ...column, isDiscovered: false }));
}

/**
 * A table's columns: the declared ones and, if the resource has no documented fields, those discovered in its records.
 * Characters in a discovered name that would need quoting become `_`, and a suffix such as `_2` makes duplicate names
 * unique.
 */
export class TableColumns {
  readonly #columns: TableColumn[];
  readonly #takenNames: Set<string>;
  readonly #byPath = new Map<string, TableColumn>();

  constructor(
    private readonly mirror: Mirror,
    private readonly shape: TableShape,
  ) {
    const discovered = shape.discoversColumns ? readDiscovered(mirror, shape.name) : [];
    this.#columns = [...declaredColumns(shape), ...discovered];
    const names = this.#columns.map(({ name }) => name.toLowerCase());
    this.#takenNames = new Set([...names, ...reservedNames, ...sqlValueNames]);
    for (const column of this.#columns)
      if (column.from === "record") this.#byPath.set(pathKey(column.path), column);
  }

  all(): readonly TableColumn[] {
    return this.#columns;
  }

  /**
   * Adds a column for each scalar value that has none. Request parameters in `context` already have columns.
   * @param issues receives columns whose name differs from the field's name, and fields without a column
   */
  discover(item: JsonObject, context: JsonObject, issues: SchemaIssue[]): void {
    const table = this.shape.name;
    for (const { path, value } of listFields(item)) {
      if (isParameter(path, value, context)) continue;
      const column = this.#byPath.get(pathKey(path));
      if (column && typeof value !== "object") {
        if (isMixture(column, value)) markMixed(this.mirror, table, column);
        continue;
      }
      const name = typeof value === "object" ? null : this.#addColumn(path, scalarType(value));
      if (name !== path.join("_")) issues.push({ kind: "column", table, path: path.join("."), name });
    }
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
  return Object.entries(object).flatMap(([member, value]) => {
    if (value === null || Array.isArray(value)) return [];
    const path = [...parent, member];
    return typeof value === "object" && path.length <= maxDepth ? listFields(value, path) : [{ path, value }];
  });
}

type Scalar = string | number | boolean;

function scalarType(value: Scalar): ScalarType {
  return typeof value === "string" ? "text" : (typeof value as "number" | "boolean");
}

function isParameter(
  [member = "", ...below]: readonly string[],
  value: unknown,
  context: JsonObject,
): boolean {
  return below.length === 0 && Object.hasOwn(context, member) && String(context[member]) === String(value);
}

/**
 * True if a value would make a discovered column contain both booleans and other values for the first time. A 1 in such
 * a column can mean `true` or the number.
 */
function isMixture({ isDiscovered, type }: TableColumn, value: Scalar): boolean {
  return isDiscovered && type !== mixedType && (type === "boolean") !== (typeof value === "boolean");
}

/** True if SQLite's JSON functions can find a field with this name. */
function isReadable(member: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: JSON escapes them
  return member.isWellFormed() && !/["\\\u0000-\u001f]/.test(member);
}

function columnName(path: readonly string[]): string {
  const name = path.join("_").replaceAll(/[^A-Za-z0-9_]/g, "_");
  return name.replace(/^(?![A-Za-z_])/, "_");
}

function pathKey(path: readonly string[]): string {
  return path.join("\u0000");
}

type Discovered = Pick<TableColumn, "name" | "path" | "type">;

function discoveredColumn({ name, path, type }: Discovered): TableColumn {
  return { name, path, type, about: "found in the API's responses", from: "record", isDiscovered: true };
}

export function readDiscovered(mirror: Mirror, table: string): TableColumn[] {
  const rows = mirror.selectRows<{ name: string; path: string; type: ScalarType }>(
    "SELECT name, path, type FROM discovered_columns WHERE table_name = ? ORDER BY position",
    table,
  );
  return rows.map((row) =>
    discoveredColumn({
      ...row,
      path: parseStoredJson<string[]>(mirror, row.path, `the path of the column ${row.name}`),
    }),
  );
}

/** Adds a discovered column to the tables for current and removed records, unless it exists, and stores its path. */
function saveDiscovered(mirror: Mirror, table: string, column: Discovered, position: number): TableColumn {
  for (const state of recordStates) {
    const name = quote(tableName({ name: table }, state));
    const columns = mirror.db.pragma(`table_info(${name})`) as { name: string }[];
    if (!columns.some((one) => one.name.toLowerCase() === column.name.toLowerCase()))
      mirror.db.exec(`ALTER TABLE ${name} ADD COLUMN ${quote(column.name)}`);
  }
  const insert = `INSERT OR REPLACE INTO discovered_columns (table_name, name, position, path, type)
    VALUES (?, ?, ?, ?, ?)`;
  mirror.run(insert, table, column.name, position, JSON.stringify(column.path), column.type);
  return discoveredColumn(column);
}

function markMixed(mirror: Mirror, table: string, column: TableColumn): void {
  const update = "UPDATE discovered_columns SET type = ? WHERE table_name = ? AND name = ?";
  mirror.run(update, mixedType, table, column.name);
  column.type = mixedType;
}

/**
 * Deletes discovered columns whose names are now declared, or which SQLite treats as literals. They are rediscovered
 * under new names.
 */
export function deleteUnusableColumns(mirror: Mirror, shape: TableShape): void {
  const remove = "DELETE FROM discovered_columns WHERE table_name = ? AND lower(name) = ?";
  const declared = shape.columns.map(({ name }) => name.toLowerCase());
  for (const name of [...declared, ...sqlValueNames]) mirror.run(remove, shape.name, name);
}

/**
 * Makes a name unique, ignoring case, by appending `_2`, `_3` and so on.
 * @param taken names in lower case
 * @param maxLength includes the suffix
 */
export function uniqueName(
  name: string,
  taken: ReadonlySet<string>,
  maxLength = Number.POSITIVE_INFINITY,
): string {
  let candidate = name.slice(0, maxLength);
  for (let n = 2; taken.has(candidate.toLowerCase()); n += 1)
    candidate = `${name.slice(0, maxLength - 1 - String(n).length)}_${n}`;
  return candidate;
}
