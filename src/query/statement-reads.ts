import type { Database } from "better-sqlite3";
import { quote } from "../store/table-sql.js";
import { views } from "../views/all-views.js";

/** The values of named parameters. Integers are bigints, because better-sqlite3 binds every `number` as REAL. */
export type SqlParameters = ReadonlyMap<string, string | number | bigint>;

export interface StatementReads {
  /**
   * The tables and built-in views that the statement reads. A user-defined view is replaced with the tables and
   * built-in views that it reads.
   */
  names: string[];
  /** The tables that the statement qualifies with the `main` schema, as in `main.orders`. */
  qualified: string[];
}

/** An instruction of a compiled statement, as listed by `EXPLAIN` (https://sqlite.org/opcode.html). */
interface Instruction {
  opcode: string;
  p2: number;
  p3: number;
}

/** A table or built-in view in the mirror. */
export interface SchemaTable {
  name: string;
  columns: string[];
}

/**
 * Finds the tables and views that a user's statement reads. `EXPLAIN` lists an `OpenRead` instruction with the root
 * page of each table, but not the views, which it replaces with the tables that they read. The statement is therefore
 * compiled while empty temporary tables shadow all tables and views.
 * @param sql a statement that compiles
 * @returns undefined if SQLite cannot explain the statement, as with `EXPLAIN …`, `INDEXED BY` or `main.orders.id`
 */
export function findReads(
  db: Database,
  sql: string,
  values: SqlParameters = new Map(),
): StatementReads | undefined {
  const parameters = values.size > 0 ? [Object.fromEntries(values)] : [];
  return withEmptyTables(db, () => {
    try {
      const instructions = db.prepare(`EXPLAIN ${sql}`).all(...parameters) as Instruction[];
      return collectReads(db, instructions);
    } catch {
      return undefined;
    }
  });
}

function collectReads(db: Database, instructions: readonly Instruction[]): StatementReads {
  const temporary = tablesByRootPage(db, "temp");
  const main = tablesByRootPage(db, "main");
  const names = new Set<string>();
  const qualified = new Set<string>();
  for (const { opcode, p2: rootPage, p3: schema } of instructions) {
    if (opcode !== "OpenRead") continue;
    // Temporary tables shadow all tables except those that the statement qualifies with `main`.
    const isTemporary = schema === 1;
    const name = (isTemporary ? temporary : main).get(rootPage);
    if (name === undefined) continue;
    names.add(name);
    if (!isTemporary && name !== schemaTable) qualified.add(name);
  }
  return { names: [...names], qualified: [...qualified] };
}

const schemaTable = "sqlite_schema";

function tablesByRootPage(db: Database, schema: "main" | "temp"): Map<number, string> {
  const rows = db.prepare(`SELECT rootpage, tbl_name FROM ${schema}.sqlite_schema`).raw().all() as [
    number,
    string,
  ][];
  return new Map([[1, schemaTable], ...rows]);
}

/** Calls `work` while empty temporary tables shadow all tables and built-in views. */
export function withEmptyTables<T>(db: Database, work: (tables: readonly SchemaTable[]) => T): T {
  const tables = loadSchemaTables(db);
  db.exec("SAVEPOINT empty_tables");
  try {
    for (const table of tables) db.exec(emptyTableSql(table));
    createTempViews(db, (name) => !isProgramView(name));
    return work(tables);
  } finally {
    db.exec("ROLLBACK TO empty_tables; RELEASE empty_tables");
  }
}

/** Returns the tables and built-in views in the mirror, with their columns. */
export function loadSchemaTables(db: Database): SchemaTable[] {
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
        // The columns of a virtual table cannot be listed if its module is not loaded, so such a table is omitted.
        return [];
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

export function emptyTableSql({ name, columns }: SchemaTable, more: readonly string[] = []): string {
  return `CREATE TEMP TABLE ${quote(name)} (${[...columns, ...more].map(quote).join(", ")})`;
}
