import type { ScalarType } from "../resources/fields.js";
import type { TableShape } from "../resources/table-shape.js";
import type { JsonObject } from "../util/json-value.js";
import { uniqueName } from "../util/text.js";
import type { Mirror } from "./database.js";
import type { ReportIssue } from "./schema-issues.js";
import { quote, recordStates, type TableColumn, tableName } from "./table-sql.js";

/** The type of discovered columns that contain both booleans and other values. */
const mixedType: ScalarType = "json";

const maxDiscoveredColumns = 300;
const maxNameLength = 63;
/** Fields below this depth are stored only in records. */
const maxDepth = 2;
const reservedNames = ["synced_at", "removed_at", "record_id", "row_id"];

/**
 * SQL reads these names as values unless they are quoted. In subqueries, SQLite cannot find columns named `true` or
 * `false` even if the name is quoted.
 */
const sqlValueNames = ["true", "false", "null", "current_date", "current_time", "current_timestamp"];

/**
 * A table's columns: the declared columns, and the columns discovered in records of resources without
 * documented fields. In the name of a discovered column, `_` replaces characters that would need quoting, and
 * a suffix such as `_2` makes the name unique.
 */
export class TableColumns {
  readonly #declared: readonly TableColumn[];
  readonly #discovered: TableColumn[];
  readonly #takenNames: Set<string>;
  /** The columns by path. */
  readonly #byPath = new Map<string, TableColumn | null>();

  /** @param report called for columns whose name differs from the field's name, and for fields without a column */
  constructor(
    private readonly mirror: Mirror,
    private readonly shape: TableShape,
    private readonly report: ReportIssue = () => {},
  ) {
    this.#declared = shape.columns.map((column) => ({ ...column, isDiscovered: false }));
    this.#discovered = shape.discoversColumns ? readDiscovered(mirror, shape.name) : [];
    const columns = this.all();
    const names = columns.map(({ name }) => name.toLowerCase());
    this.#takenNames = new Set([...names, ...reservedNames, ...sqlValueNames]);
    for (const column of columns)
      if (column.from === "record") this.#byPath.set(pathKey(column.path), column);
  }

  all(): readonly TableColumn[] {
    return [...this.#declared, ...this.#discovered];
  }

  /**
   * Adds columns for scalar values that have none.
   * @returns true if any were added
   */
  discover(item: JsonObject, context: JsonObject): boolean {
    return this.#scan(item, [], context);
  }

  #scan(object: JsonObject, parent: readonly string[], context: JsonObject): boolean {
    let hasNew = false;
    for (const [member, value] of Object.entries(object)) {
      if (value === null || Array.isArray(value)) continue;
      const path = [...parent, member];
      if (typeof value === "object") {
        if (path.length <= maxDepth) hasNew = this.#scan(value, path, {}) || hasNew;
        else this.#reportNoColumn(path);
        continue;
      }
      // Request parameters already have columns.
      if (Object.hasOwn(context, member) && String(context[member]) === String(value)) continue;
      const column = this.#byPath.get(pathKey(path));
      const type = typeof value === "string" ? "text" : (typeof value as "number" | "boolean");
      if (!column) hasNew = this.#add(path, type) || hasNew;
      else if (
        column.isDiscovered &&
        column.type !== mixedType &&
        (column.type === "boolean") !== (type === "boolean")
      )
        // From now on, a 1 in this column can mean `true` or a number. Only the record shows which.
        markMixed(this.mirror, this.shape.name, column);
    }
    return hasNew;
  }

  #add(path: readonly string[], type: ScalarType): boolean {
    if (this.#discovered.length >= maxDiscoveredColumns || !path.every(isReadable)) {
      this.#reportNoColumn(path);
      return false;
    }
    const table = this.shape.name;
    const name = uniqueName(columnName(path), this.#takenNames, maxNameLength);
    if (name !== path.join("_")) this.report({ kind: "column", table, path: path.join("."), name });
    const column = saveDiscovered(this.mirror, table, { name, path, type }, this.#discovered.length);
    this.#discovered.push(column);
    this.#takenNames.add(name.toLowerCase());
    this.#byPath.set(pathKey(path), column);
    return true;
  }

  #reportNoColumn(path: readonly string[]): void {
    this.report({ kind: "column", table: this.shape.name, path: path.join("."), name: null });
  }
}

/** True if SQLite can find a field with this name in JSON. */
function isReadable(member: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: JSON escapes them
  return member.isWellFormed() && !/["\\\u0000-\u001f]/.test(member);
}

function columnName(path: readonly string[]): string {
  const name = path.join("_").replaceAll(/[^A-Za-z0-9_]/g, "_");
  return name.replace(/^(?![A-Za-z_])/, "_");
}

function pathKey(path: readonly string[]): string {
  return path.length === 1 ? (path[0] ?? "") : path.join("\u0000");
}

type Discovered = Pick<TableColumn, "name" | "path" | "type">;

function discoveredColumn({ name, path, type }: Discovered): TableColumn {
  return { name, path, type, about: "found in the API's responses", from: "record", isDiscovered: true };
}

/** Returns a table's discovered columns, oldest first. */
export function readDiscovered({ db }: Mirror, table: string): TableColumn[] {
  const rows = db
    .prepare("SELECT name, path, type FROM open_columns WHERE table_name = ? ORDER BY position")
    .all(table) as { name: string; path: string; type: ScalarType }[];
  return rows.map((row) => discoveredColumn({ ...row, path: JSON.parse(row.path) as string[] }));
}

/**
 * Adds a column to the tables for current and removed records if it is missing, and stores the path of its
 * values.
 */
function saveDiscovered({ db }: Mirror, table: string, column: Discovered, position: number): TableColumn {
  for (const state of recordStates) {
    const name = quote(tableName({ name: table }, state));
    const columns = db.pragma(`table_info(${name})`) as { name: string }[];
    if (!columns.some((one) => one.name.toLowerCase() === column.name.toLowerCase()))
      db.exec(`ALTER TABLE ${name} ADD COLUMN ${quote(column.name)}`);
  }
  const insert = db.prepare("INSERT OR REPLACE INTO open_columns VALUES (?, ?, ?, ?, ?)");
  insert.run(table, column.name, position, JSON.stringify(column.path), column.type);
  return discoveredColumn(column);
}

function markMixed({ db }: Mirror, table: string, column: TableColumn): void {
  const update = db.prepare("UPDATE open_columns SET type = ? WHERE table_name = ? AND name = ?");
  update.run(mixedType, table, column.name);
  column.type = mixedType;
}

/**
 * Deletes the definitions of discovered columns whose names belong to declared columns of this version or are read as
 * values by SQL, so that these columns get new names.
 */
export function forgetColumns(mirror: Mirror, shape: TableShape): void {
  const remove = "DELETE FROM open_columns WHERE table_name = ? AND lower(name) = ?";
  const declared = shape.columns.map(({ name }) => name.toLowerCase());
  for (const name of [...declared, ...sqlValueNames]) mirror.run(remove, shape.name, name);
}
