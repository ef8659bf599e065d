import { migrations } from "../../src/store/schema.js";
import { loadSqlite } from "../../src/util/sqlite.js";

const heading =
  "-- Generated from schema.ts by `npm run docs`: the system tables and indexes of a new mirror, after all migrations.";

const commentAndName =
  /^ *-- (.+)\n *((?:CREATE (?:UNIQUE )?(?:TABLE|INDEX)|ALTER TABLE \w+ ADD COLUMN) \w+)/gm;

/**
 * Runs all migrations and returns the resulting schema. SQLite stores a comment only if it is inside a statement. A
 * comment before a statement is therefore moved into the statement, and is moved back after the migrations.
 */
export async function formatSystemSchema(): Promise<string> {
  const Sqlite = await loadSqlite();
  const db = new Sqlite(":memory:");
  for (const step of migrations) db.exec(step.replace(commentAndName, "$2 /* $1 */"));
  // The indexes follow their table.
  const select = `SELECT sql FROM sqlite_schema AS object WHERE sql IS NOT NULL ORDER BY
    (SELECT rowid FROM sqlite_schema WHERE name = object.tbl_name), type = 'index', rowid`;
  const statements = db.prepare<[], string>(select).pluck().all();
  db.close();
  return `${heading}\n${statements.map(formatStatement).join("")}`;
}

function formatStatement(sql: string): string {
  const formatted = sql.replace(/^ {2}/gm, "").replace(/^( *)(.+) \/\* (.+) \*\//gm, "$1-- $3\n$1$2");
  return `${sql.startsWith("CREATE TABLE") ? "\n" : ""}${formatted};\n`;
}
