import { DuckDBInstance } from "@duckdb/node-api";

export type Answer = Record<string, unknown>[];

/**
 * Runs statements in DuckDB and returns the rows of the last statement. File names can be used as tables. Times are in
 * UTC, numbers are returned as strings with full precision, and nulls are sorted as in SQLite.
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
