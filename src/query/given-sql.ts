import type { Statement } from "better-sqlite3";
import { UsageError } from "../errors.js";
import { codeOf } from "../lib/failures.js";
import { type Mirror, quote } from "../mirror/index.js";
import type { ReadableTable } from "./tables.js";

/** Values by name. A whole number is a `bigint`, because SQLite takes a `number` for a fraction. */
export type Parameters = ReadonlyMap<string, string | number | bigint>;

/** Comments, then the statement's first word: ATTACH and some pragmas are read-only for SQLite, too. */
const reading = /^(?:\s|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)*(?:select|with|values|explain)\b/i;

/** SQLite's errors that are of a statement, not of the file that it reads. */
const ofStatement = /^SQLITE_(ERROR|TOOBIG|NOMEM|MISMATCH|RANGE|AUTH)$/;

/**
 * Compiles a person's SQL: one statement that reads, with the values of its parameters.
 * @throws UsageError with SQLite's own message, or if values and parameters do not match
 */
export function prepareReading({ db }: Mirror, sql: string, values: Parameters = new Map()): Statement {
  const tables = "`brandapi tables` lists the tables and views, `brandapi tables NAME` the columns of one";
  const statement = orRefuse(() => db.prepare(sql), "SQLite does not understand this", tables);
  if (!reading.test(sql) || !statement.readonly || !statement.reader)
    throw new UsageError("`query` only reads: this statement would do something else.", {
      hint: "begin with SELECT or WITH; only `brandapi sync` changes the mirror",
    });
  const unknown = [...values.keys()].find((name) => !new RegExp(`[:@$]${name}\\b`).test(sql));
  if (unknown !== undefined)
    throw new UsageError(`The statement has no parameter \`:${unknown}\`.`, {
      hint: `write \`:${unknown}\` where its value belongs`,
    });
  const bind = () => statement.bind(...(values.size > 0 ? [Object.fromEntries(values)] : []));
  return orRefuse(bind, "A parameter has no value", "add `-p NAME=VALUE` for each `:NAME` of the statement");
}

/**
 * Checks a person's `--where`: one expression over the table's columns, which may ask other tables in subqueries. Between
 * `WHEN` and `THEN` nothing but a whole expression compiles; the line break ends a comment.
 * @throws UsageError with SQLite's own message
 */
export function checkCondition({ db }: Mirror, { name }: ReadableTable, condition: string): void {
  const hint = "use for example `--where \"currency = 'EUR' AND total_amount > 100\"`";
  for (const expression of [condition, `CASE WHEN ${condition}\nTHEN 1 END`]) {
    // A parameter has no value here, so `bind` refuses it.
    const compile = () => db.prepare(conditionSql(name, expression)).bind();
    orRefuse(compile, "`--where` is not a condition that SQLite understands", hint);
  }
}

/** Returns a statement that reads a table under a condition. A line break ends the condition, because it may end in a comment. */
export function conditionSql(table: string, condition: string): string {
  return `SELECT 1 FROM ${quote(table)} WHERE (${condition}\n)`;
}

/** Returns the error to report if a person's SQL compiles and fails while rows are read, such as `json('x')`. */
export function explainRunning(error: unknown, culprit: "query" | "--where"): unknown {
  if (!(error instanceof Error) || !ofStatement.test(codeOf(error))) return error;
  const hint = `check the ${culprit === "query" ? "query" : "condition"}`;
  return new UsageError(`SQLite stopped at \`${culprit}\`: ${error.message}.`, { hint, cause: error });
}

/** Compiles. @throws UsageError with SQLite's own message */
function orRefuse(compile: () => Statement, reason: string, hint: string): Statement {
  try {
    return compile();
  } catch (cause) {
    if (!(cause instanceof Error)) throw cause;
    throw new UsageError(`${reason}: ${cause.message}.`, { hint, cause });
  }
}
