import type { Database } from "better-sqlite3";
import { quote, recordStates, tableName } from "../store/table-sql.js";
import { views } from "../views/all-views.js";
import { isUtcTime } from "../views/view.js";
import { typedTables } from "./readable-tables.js";

/**
 * The values of named parameters. Integers are passed as `bigint`, because better-sqlite3 binds every `number` as REAL.
 */
export type SqlParameters = ReadonlyMap<string, string | number | bigint>;

export interface StatementReads {
  /**
   * The tables and built-in views that the statement reads. A user-defined view is resolved to the tables and built-in
   * views on which it is based.
   */
  names: string[];
  /** The tables that the statement qualifies with their schema, as in `main.orders`. */
  qualified: string[];
  /**
   * The timestamp columns in the API's format that the statement compares with `datetime()`, which uses a different
   * format.
   */
  datetimeComparisons: string[];
}

interface Instruction {
  opcode: string;
  p1: number;
  p2: number;
  p3: number;
  p4: string | null;
}

export interface SchemaTable {
  name: string;
  columns: string[];
}

/**
 * Finds the tables and views that a user's statement reads. SQLite compiles the statement while empty temporary tables shadow
 * all tables and views. `EXPLAIN` therefore lists each of them by name and does not expand the views.
 * @param sql a statement that compiles
 * @returns undefined if SQLite cannot explain the statement, as with `EXPLAIN …`, `INDEXED BY` or `main.orders.id`
 */
export function findReads(
  db: Database,
  sql: string,
  values: SqlParameters = new Map(),
): StatementReads | undefined {
  return withEmptyTables(db, (tables) => {
    try {
      return readListing(db, explain(db, sql, values), tables);
    } catch {
      return undefined;
    }
  });
}

/** Copies views to the temporary schema, because only temporary views can select from temporary tables. */
export function createTempViews(db: Database, isWanted: (name: string) => boolean): void {
  const stored = db.prepare("SELECT name, sql FROM main.sqlite_schema WHERE type = 'view'").raw();
  for (const [name, sql] of stored.all() as [string, string][])
    if (isWanted(name)) db.exec(sql.replace(/^CREATE VIEW/, "CREATE TEMP VIEW"));
}

function isProgramView(name: string): boolean {
  return views.some((view) => view.name === name);
}

/** Calls `work` while empty temporary tables shadow all tables and views. */
export function withEmptyTables<T>(db: Database, work: (tables: readonly SchemaTable[]) => T): T {
  const tables = schemaTables(db);
  db.exec("SAVEPOINT empty_tables");
  try {
    for (const table of tables) db.exec(emptyTableSql(table));
    createTempViews(db, (name) => !isProgramView(name));
    return work(tables);
  } finally {
    db.exec("ROLLBACK TO empty_tables; RELEASE empty_tables");
  }
}

export function emptyTableSql({ name, columns }: SchemaTable, more: readonly string[] = []): string {
  const timestamps = timestampColumns(name);
  // `EXPLAIN` prints the collation of each comparison, so a special collation can identify timestamp columns.
  const own = columns.map((column) => `${quote(column)}${timestamps.has(column) ? " COLLATE RTRIM" : ""}`);
  return `CREATE TEMP TABLE ${quote(name)} (${[...own, ...more.map(quote)].join(", ")})`;
}

/** Returns the columns with timestamps in the API's format, which contains `T` and `Z`. */
function timestampColumns(table: string): Set<string> {
  const { columns = [] } =
    typedTables().find((shape) => recordStates.some((state) => tableName(shape, state) === table)) ??
    views.find(({ name }) => name === table) ??
    {};
  const declared = columns
    .filter(({ name, type }) => type === "timestamp" && !isUtcTime(name))
    .map(({ name }) => name);
  return new Set([...declared, "synced_at", "removed_at"]);
}

function schemaTables(db: Database): SchemaTable[] {
  const stored = db
    .prepare(
      "SELECT name, type FROM main.sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite!_%' ESCAPE '!'",
    )
    .raw()
    .all() as [string, string][];
  const columns = db.prepare("SELECT name FROM pragma_table_xinfo(?, 'main')").pluck();
  return stored
    .filter(([name, type]) => type === "table" || isProgramView(name))
    .flatMap(([name]) => {
      try {
        return [{ name, columns: columns.all(name) as string[] }];
      } catch {
        // The columns of a virtual table cannot be listed if its module is not loaded.
        return [];
      }
    });
}

function explain(db: Database, sql: string, values: SqlParameters = new Map()): Instruction[] {
  const statement = db.prepare(`EXPLAIN ${sql}`);
  return statement.all(...(values.size > 0 ? [Object.fromEntries(values)] : [])) as Instruction[];
}

function readListing(
  db: Database,
  listing: readonly Instruction[],
  tables: readonly SchemaTable[],
): StatementReads {
  const temporary = tablesByRootPage(db, "temp");
  const main = tablesByRootPage(db, "main");
  const cursors = new Map<number, string>();
  const qualified = new Set<string>();
  const names = new Set<string>();
  for (const { opcode, p1, p2, p3 } of listing) {
    if (opcode !== "OpenRead") continue;
    const name = p3 === 1 ? temporary.get(p2) : main.get(p2);
    if (name === undefined) continue;
    names.add(name);
    if (p3 === 1) cursors.set(p1, name);
    else if (name !== schemaTable) qualified.add(name);
  }
  const columnAt = ({ p1, p2 }: Instruction) =>
    tables.find(({ name }) => name === cursors.get(p1))?.columns[p2];
  return {
    names: [...names],
    qualified: [...qualified],
    datetimeComparisons: findDatetimeComparisons(listing, columnAt),
  };
}

/** Finds timestamp columns that are compared with `datetime()`, by tracking values through SQLite's registers. */
function findDatetimeComparisons(
  listing: readonly Instruction[],
  columnAt: (instruction: Instruction) => string | undefined,
): string[] {
  const registers = new Map<number, string>();
  const compared = new Set<string>();
  // `EXPLAIN` lists constants last although SQLite computes them first, so two passes are needed.
  for (const instruction of [...listing, ...listing]) {
    const { opcode, p1, p3, p4 } = instruction;
    if (opcode === "Column") registers.set(p3, columnAt(instruction) ?? "");
    else if (/Func|Function/.test(opcode))
      registers.set(p3, p4?.startsWith("datetime(") ? datetimeResult : "");
    else if (p4?.startsWith("RTRIM")) {
      const sides = [registers.get(p1), registers.get(p3)];
      const column = sides.find((side) => side && side !== datetimeResult);
      if (sides.includes(datetimeResult) && column) compared.add(column);
    }
  }
  return [...compared];
}

const datetimeResult = "datetime()";
const schemaTable = "sqlite_schema";

function tablesByRootPage(db: Database, schema: "main" | "temp"): Map<number, string> {
  const rows = db
    .prepare(`SELECT rootpage, tbl_name FROM ${schema}.sqlite_schema WHERE rootpage > 0`)
    .raw()
    .all() as [number, string][];
  return new Map([[1, schemaTable], ...rows]);
}
