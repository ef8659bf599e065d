import { DuckDBInstance } from "@duckdb/node-api";

export type Answer = Record<string, unknown>[];

/**
 * Asks DuckDB, which reads files by their names in the SQL. Times come as it prints them in UTC, amounts and whole numbers
 * as text to the last digit, and nulls stand where SQLite has them.
 */
export async function askDuckDb(...statements: string[]): Promise<Answer> {
  const instance = await DuckDBInstance.create(":memory:", { threads: "1" });
  const connection = await instance.connect();
  try {
    await connection.run("SET TimeZone = 'UTC'; SET default_null_order = 'sqlite'");
    for (const statement of statements.slice(0, -1)) await connection.run(statement);
    const reader = await connection.runAndReadAll(statements.at(-1) ?? "SELECT 1");
    return reader.getRowObjectsJson();
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}
