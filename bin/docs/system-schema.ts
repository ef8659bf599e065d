import { migrations } from "../../src/store/schema.js";
import { loadSqlite } from "../../src/util/sqlite.js";

const heading =
  "-- Generated from schema.ts by `npm run docs`: the system tables and indexes of a new mirror, after all migrations.";

const commentedStatement =
  /((?:^ *--.*\n)+) *((?:CREATE (?:UNIQUE )?(?:TABLE|INDEX)|ALTER TABLE \w+ ADD COLUMN) \w+)/gm;

/**
 * Runs all migrations and returns the resulting schema. SQLite stores only comments within a statement, so those before
 * a statement are moved into it first.
 */
export async function formatSystemSchema(): Promise<string> {
  const Sqlite = await loadSqlite();
  const db = new Sqlite(":memory:");
  for (const step of migrations)
    db.exec(
      step.replace(commentedStatement, (_, comment: string, start: string) => {
        return `${start} /*${comment.replace(/\s*-- */g, " ").trimEnd()} */`;
      }),
    );
  // The indexes follow their table.
  const select = `SELECT sql FROM sqlite_schema AS object WHERE sql IS NOT NULL ORDER BY
    (SELECT rowid FROM sqlite_schema WHERE name = object.tbl_name), type = 'index', rowid`;
  const statements = db.prepare<[], string>(select).pluck().all();
  db.close();
  return `${heading}\n${statements.map(formatStatement).join("")}`;
}

function formatStatement(sql: string): string {
  const formatted = sql
    .replace(/^CREATE TABLE "(\w+)"/, "CREATE TABLE $1")
    // When a column is added to a table, SQLite appends it to the last line of the CREATE TABLE statement.
    .replace(/( *--.*)?\n *, (.+)\)/, (_, comment: string | undefined, columns: string) => {
      const lines = columns.split(/, (?=\w+ (?:\/\*|[A-Z]))/).map((column) => `\n    ${column}`);
      return `,${comment ?? ""}${lines.join(",")}\n  )`;
    })
    .replace(/^ {2}/gm, "")
    .replace(/ +--/g, " --")
    .replace(/^( *)((?:CREATE .*)?\b\w+) \/\* (.*) \*\//gm, "$1-- $3\n$1$2");
  return `${sql.startsWith("CREATE TABLE") ? "\n" : ""}${formatted};\n`;
}
