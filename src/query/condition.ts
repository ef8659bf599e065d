import { UsageError } from "../errors.js";
import { type Mirror, quote } from "../mirror/index.js";
import { parametersOf } from "./read-only-sql.js";
import type { ReadableTable } from "./tables.js";

/**
 * Checks a person's `--where`: one expression over the table's columns, which may ask other tables in subqueries. Between
 * `WHEN` and `THEN` nothing but a whole expression compiles; the line break ends a comment.
 * @throws UsageError with SQLite's own message
 */
export function checkCondition(mirror: Mirror, table: ReadableTable, condition: string): void {
  if (parametersOf(condition).length > 0) throw refused("parameters have no value here");
  try {
    for (const expression of [`(${condition}\n)`, `CASE WHEN ${condition}\nTHEN 1 END`])
      mirror.db.prepare(`SELECT 1 FROM ${quote(table.name)} WHERE ${expression}`);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw refused(error.message, error);
  }
}

/** True if SQLite speaks of the file that it reads, not of a statement. */
export function isOfFile(error: Error): boolean {
  return "code" in error && /^SQLITE_(?!(ERROR|TOOBIG|NOMEM|MISMATCH|RANGE|AUTH)$)/.test(String(error.code));
}

/** Returns the error to tell if a condition that compiles fails while rows are read, such as `json('x')`. */
export function explainRunning(error: unknown, condition: string | undefined): unknown {
  if (condition === undefined || !(error instanceof Error) || !("code" in error)) return error;
  if (!String(error.code).startsWith("SQLITE_") || isOfFile(error)) return error;
  return new UsageError(`SQLite stopped at \`--where\`: ${error.message}.`, {
    hint: "check the condition",
    cause: error,
  });
}

function refused(why: string, cause?: unknown): UsageError {
  return new UsageError(`\`--where\` is not a condition that SQLite understands: ${why}.`, {
    hint: "use for example `--where \"currency = 'EUR' AND total_amount > 100\"`",
    cause,
  });
}
