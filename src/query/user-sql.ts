import type { ColumnDefinition, Database, Statement } from "better-sqlite3";
import { UsageError } from "../errors.js";
import type { Mirror } from "../store/database.js";
import { amountNames } from "../store/views/all-views.js";
import { uniqueName } from "../util/files.js";
import { errorCode } from "../util/system-errors.js";
import type { ReadableTable } from "./readable-tables.js";
import { inBatches, type Row, type RowSource, type RowValue } from "./select.js";
import { explainMistake } from "./sql-mistakes.js";

/** Values by name. A whole number is a `bigint`, because SQLite takes a `number` for a fraction. */
export type QueryParameters = ReadonlyMap<string, string | number | bigint>;

/** Comments, then the statement's first word: ATTACH and some pragmas are read-only for SQLite, too. */
const readingStatement = /^(?:\s|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)*(?:select|with|values|explain)\b/i;

/** SQLite's errors that are of a statement, not of the file that it reads. */
const statementErrors = /^SQLITE_(ERROR|TOOBIG|NOMEM|MISMATCH|RANGE|AUTH)$/;

/**
 * Compiles a person's SQL: one statement that reads, with the values of its parameters.
 * @throws UsageError with SQLite's own message, or if values and parameters do not match
 */
export function compileQuery({ db }: Mirror, sql: string, values: QueryParameters = new Map()): Statement {
  const tables = "`brandapi tables` lists the tables and views, `brandapi tables NAME` the columns of one";
  const statement = compile(db, sql, "SQLite does not understand this", tables);
  if (!readingStatement.test(sql) || !statement.readonly || !statement.reader)
    throw new UsageError("`query` only reads: this statement would do something else.", {
      hint: "begin with SELECT or WITH; only `brandapi sync` changes the mirror",
    });
  const unknown = [...values.keys()].find((name) => !new RegExp(`[:@$]${name}\\b`).test(sql));
  if (unknown !== undefined)
    throw new UsageError(`The statement has no parameter \`:${unknown}\`.`, {
      hint: `write \`:${unknown}\` where its value belongs`,
    });
  try {
    return statement.bind(...(values.size > 0 ? [Object.fromEntries(values)] : []));
  } catch (cause) {
    throw new UsageError(`A parameter has no value: ${messageOf(cause)}.`, {
      hint: "add `-p NAME=VALUE` for each `:NAME` of the statement",
      cause,
    });
  }
}

/**
 * Checks a person's `--where`: one expression over the table's columns, which may ask other tables in subqueries. Between
 * `WHEN` and `THEN` nothing but a whole expression compiles; the line break ends a comment.
 * @throws UsageError with SQLite's own message
 */
export function checkCondition(
  { db }: Mirror,
  { sources: [source] }: ReadableTable,
  condition: string,
): void {
  const hint = "use for example `--where \"currency = 'EUR' AND total_amount > 100\"`";
  const reason = "`--where` is not a condition that SQLite understands";
  for (const expression of [condition, `CASE WHEN ${condition}\nTHEN 1 END`]) {
    const statement = compile(db, conditionSql(source, expression), reason, hint);
    try {
      statement.bind();
    } catch (cause) {
      throw new UsageError(`${reason}: ${messageOf(cause)}.`, {
        hint: "write values, not `:name` or `?`",
        cause,
      });
    }
  }
}

/**
 * Returns a statement that reads a table under a condition. A line break ends the condition, because it may end in a comment.
 * @param source one of the table's sources
 */
export function conditionSql(source: string, condition: string): string {
  return `SELECT 1 FROM ${source} WHERE (${condition}\n)`;
}

/** Returns the error to report if a person's SQL compiles and fails while rows are read, such as `json('x')`. */
export function explainRuntimeError(error: unknown, culprit: "query" | "--where"): unknown {
  if (!(error instanceof Error) || !statementErrors.test(errorCode(error))) return error;
  const hint = `check the ${culprit === "query" ? "query" : "condition"}`;
  return new UsageError(`SQLite stopped at \`${culprit}\`: ${error.message}.`, { hint, cause: error });
}

/** @throws UsageError with SQLite's own message, and what was most likely meant */
function compile(db: Database, sql: string, reason: string, hint: string): Statement {
  try {
    return db.prepare(sql);
  } catch (cause) {
    const code = errorCode(cause);
    if (code.startsWith("SQLITE_") && !statementErrors.test(code)) throw cause;
    const error = messageOf(cause);
    const mistake = explainMistake(db, sql, error);
    throw new UsageError(`${mistake.reason ?? `${reason}: ${error.replace(/\?$/, "")}`}.`, {
      hint: mistake.hint ?? hint,
      cause,
    });
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Returns a person's statement as an export reads it, at most `most` rows: each value has SQLite's own type, so 0 and 1
 * stay numbers and JSON stays text. Each reading runs the statement again.
 */
export function openQueryResult(statement: Statement, most = Number.POSITIVE_INFINITY): RowSource {
  const described = statement.columns();
  const names = uniqueNames(described.map(({ name }) => name));
  const isAmount = ({ name, column }: ColumnDefinition) => amountNames.has(column ?? name);
  return {
    name: "answer",
    columns: described.map((column, index) => ({
      name: names[index] ?? column.name,
      type: "any",
      about: "",
      stored: null,
      isAmount: isAmount(column) ? true : undefined,
    })),
    rows: () => inBatches(readResultRows(statement, most)),
  };
}

/** Numbers columns of one name, because a JSON object has each member once. */
function uniqueNames(names: readonly string[]): string[] {
  const taken = new Set<string>();
  return names.map((name) => {
    const free = uniqueName(name, taken);
    taken.add(free.toLowerCase());
    return free;
  });
}

/** @throws UsageError with SQLite's message if the statement stops; errors of the mirror's file as they are */
function* readResultRows(statement: Statement, most: number): Iterable<Row> {
  let left = most;
  try {
    for (const row of statement.raw().safeIntegers().iterate() as Iterable<unknown[]>) {
      if (left-- <= 0) return;
      yield row.map(toCell);
    }
  } catch (error) {
    throw explainRuntimeError(error, "query");
  }
}

/** Integers are `bigint`; bytes become hexadecimal text, because no format has a type for them. */
function toCell(value: unknown): RowValue {
  return value instanceof Uint8Array ? Buffer.from(value).toString("hex") : (value as RowValue);
}
