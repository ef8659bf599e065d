import { UsageError } from "../errors.js";
import { type Mirror, quote } from "../mirror/index.js";
import type { ReadableTable } from "./tables.js";

/**
 * Checks a person's `--where`: one expression over the table's columns, which may ask other tables in subqueries. Between
 * `WHEN` and `THEN` nothing but a whole expression compiles; the line break ends a comment.
 * @throws UsageError with SQLite's own message
 */
export function checkCondition(mirror: Mirror, table: ReadableTable, condition: string): void {
  try {
    // A parameter has no value here, so `bind` refuses it.
    for (const expression of [`(${condition}\n)`, `CASE WHEN ${condition}\nTHEN 1 END`])
      mirror.db.prepare(`SELECT 1 FROM ${quote(table.name)} WHERE ${expression}`).bind();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw refused(error.message, error);
  }
}

/** SQLite's errors that are of a statement, not of the file that it reads. */
const ofStatement = /^SQLITE_(ERROR|TOOBIG|NOMEM|MISMATCH|RANGE|AUTH)$/;

/** Returns the error to report if a person's SQL compiles and fails while rows are read, such as `json('x')`. */
export function explainRunning(error: unknown, culprit: "query" | "--where"): unknown {
  if (!(error instanceof Error) || !("code" in error) || !ofStatement.test(String(error.code))) return error;
  const hint = `check the ${culprit === "query" ? "query" : "condition"}`;
  return new UsageError(`SQLite stopped at \`${culprit}\`: ${error.message}.`, { hint, cause: error });
}

function refused(why: string, cause?: unknown): UsageError {
  return new UsageError(`\`--where\` is not a condition that SQLite understands: ${why}.`, {
    hint: "use for example `--where \"currency = 'EUR' AND total_amount > 100\"`",
    cause,
  });
}
