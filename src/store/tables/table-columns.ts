import type { ScalarType } from "../../resources/fields.js";
import type { TableShape } from "../../resources/table-shape.js";
import type { JsonObject } from "../../util/json-value.js";
import { uniqueName } from "../../util/text.js";
import type { Mirror } from "../mirror/database.js";
import type { ReportIssue } from "./schema-issues.js";
import { quote, recordStates, type TableColumn, tableName } from "./table-sql.js";

/** The type of discovered columns that contain both booleans and other values. */
const mixedType: ScalarType = "json";

const maxDiscoveredColumns = 300;
const maxNameLength = 63;
/** Members nested more deeply are stored in records only. */
const maxDepth = 2;
const reservedNames = ["synced_at", "removed_at", "record_id", "row_id"];

/**
 * Unquoted, SQL treats these names as values. In subqueries, SQLite does not find columns named `true` or
 * `false` even if they are quoted.
 */
const sqlValueNames = ["true", "false", "null", "current_date", "current_time", "current_timestamp"];

/**
 * The columns of a table: the declared ones, and those discovered in the records of resources without
 * documented fields. In names of discovered columns, `_` replaces characters that would need quotes, and a
 * suffix such as `_2` makes a name unique.
 */
export class TableColumns {
  readonly #declared: readonly TableColumn[];
  readonly #discovered: TableColumn[];
  readonly #takenNames: Set<string>;
  /** The columns by path. Null stands for members that are stored in records only. */
  readonly #byPath = new Map<string, TableColumn | null>();

  /** @param report receives columns that are not named like their member, and members without a column */
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

  /** Adds columns for scalars that have none. @returns true if any were added */
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
      // Parameters of the request already have columns.
      if (Object.hasOwn(context, member) && String(context[member]) === String(value)) continue;
      const column = this.#byPath.get(pathKey(path));
      const type = typeof value === "string" ? "text" : (typeof value as "number" | "boolean");
      if (!column) hasNew = this.#add(path, type) || hasNew;
      else if (
        column.isDiscovered &&
        column.type !== mixedType &&
        (column.type === "boolean") !== (type === "boolean")
      )
        // From now on a 1 in this column can be `true` or a number. Only the record shows which.
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

/** True if SQLite can find a member with this name in JSON. */
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

/** Returns the discovered columns of a table, oldest first. */
export function readDiscovered({ db }: Mirror, table: string): TableColumn[] {
  const rows = db
    .prepare("SELECT name, path, type FROM open_columns WHERE table_name = ? ORDER BY position")
    .all(table) as { name: string; path: string; type: ScalarType }[];
  return rows.map((row) => discoveredColumn({ ...row, path: JSON.parse(row.path) as string[] }));
}

/**
 * Adds a column to the tables of current and removed records if it is missing, and stores the path of its
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

/** Forgets discovered columns whose names SQL would treat as values, so that they are renamed. */
export function forgetUnusableNames({ db }: Mirror, { name }: TableShape): void {
  const remove = db.prepare("DELETE FROM open_columns WHERE table_name = ? AND lower(name) = ?");
  for (const column of sqlValueNames) remove.run(name, column);
}

export function forgetDeclaredColumns({ db }: Mirror, shape: TableShape): void {
  const remove = db.prepare("DELETE FROM open_columns WHERE table_name = ? AND lower(name) = ?");
  for (const { name } of shape.columns) remove.run(shape.name, name.toLowerCase());
}
