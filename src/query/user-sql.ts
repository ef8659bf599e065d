import type { ColumnDefinition, Database, Statement } from "better-sqlite3";
import { UsageError } from "../errors.js";
import type { Mirror } from "../store/database.js";
import { uniqueName } from "../util/format-text.js";
import { errorCode } from "../util/system-errors.js";
import { amountNames } from "../views/all-views.js";
import { inBatches, type Row, type RowSource, type RowValue } from "./open-rows.js";
import type { ReadableTable } from "./readable-tables.js";
import { explainMistake } from "./sql-mistakes.js";
import { blankQuotedText, parenthesize } from "./sql-tokens.js";
import type { SqlParameters } from "./statement-reads.js";

/**
 * Matches the first keyword of a read-only statement in the result of `blankQuotedText`. Checking `statement.readonly`
 * is not enough, because SQLite considers ATTACH read-only.
 */
const readingStatement = /^(?:\s|'')*(?:select|with|values|explain)\b/i;

/**
 * Matches statements that change data. They are rejected before they are compiled, because an error about an unknown
 * column would suggest that the corrected statement would run.
 */
const writingStatement =
  /^(?:\s|'')*(?:(?:insert|update|delete|replace|merge|drop|create|alter|truncate)\b|with\b[\s\S]*\)\s*(?:(?:insert|replace)\s+into|update|delete\s+from)\b)/i;

/** Matches the error codes for problems with the statement rather than with the database file. */
const statementErrors = /^SQLITE_(ERROR|TOOBIG|NOMEM|MISMATCH|RANGE|AUTH)$/;

/**
 * Compiles a read-only statement and binds its parameters.
 * @throws UsageError if the statement does not compile, is not read-only, or has parameters that do not match the
 * values
 */
export function compileQuery({ db }: Mirror, sql: string, values: SqlParameters = new Map()): Statement {
  const hint =
    "`brandapi tables` lists the tables and views, and `brandapi tables NAME` lists the columns of one table or view";
  const code = blankQuotedText(sql);
  if (writingStatement.test(code)) throw createNotReadOnlyError();
  const statement = compile(db, sql, "SQLite cannot parse this", hint);
  const pragma = /^\s*pragma\s+\w+\s*(?:\(\s*['"]?(\w+))?/i.exec(sql);
  if (pragma)
    throw createNotReadOnlyError(
      `use \`brandapi tables${pragma[1] === undefined ? "" : ` ${pragma[1]}`}\` instead of PRAGMA`,
    );
  if (!readingStatement.test(code) || !statement.readonly) throw createNotReadOnlyError();
  const unknown = [...values.keys()].find((name) => !new RegExp(`[:@$]${name}\\b`).test(sql));
  const missing = findMissingParameter(db, sql, values);
  if (unknown !== undefined)
    throw new UsageError(`The statement has no parameter \`:${unknown}\`.`, {
      hint:
        missing === undefined
          ? `write \`:${unknown}\` where the value should go`
          : `to set \`:${missing}\`, use \`-p ${missing}=VALUE\``,
    });
  if (missing !== undefined)
    throw new UsageError(`The parameter \`:${missing}\` has no value.`, {
      hint: `add \`-p ${missing}=VALUE\``,
    });
  try {
    return statement.bind(...(values.size > 0 ? [Object.fromEntries(values)] : []));
  } catch (cause) {
    throw new UsageError(`A parameter has no value: ${errorMessage(cause)}.`, {
      hint: "use named parameters such as `:month`, with `-p month=VALUE`",
      cause,
    });
  }
}

function createNotReadOnlyError(
  hint = "begin with SELECT or WITH; only `brandapi sync` changes the mirror",
): UsageError {
  return new UsageError("`query` runs only read-only statements.", { hint });
}

/**
 * Returns the name of a parameter that has no value. Binds the values to a copy of the statement, because a statement
 * can be bound only once.
 */
function findMissingParameter(db: Database, sql: string, values: SqlParameters): string | undefined {
  try {
    db.prepare(sql).bind(Object.fromEntries(values));
    return undefined;
  } catch (error) {
    return /^Missing named parameter "(.+)"$/.exec(errorMessage(error))?.[1];
  }
}

/**
 * Checks a `--where` condition, which may contain subqueries on other tables.
 * @throws UsageError if SQLite rejects the condition
 */
export function checkCondition({ db }: Mirror, table: ReadableTable, condition: string): void {
  const hint = "use a condition such as `--where \"currency = 'EUR' AND total_amount > 100\"`";
  const reason = "`--where` is not a valid SQL condition";
  // Only a complete expression compiles between WHEN and THEN, so input such as `1) OR (1` is rejected.
  for (const expression of [condition, `CASE WHEN ${condition}\nTHEN 1 END`]) {
    const statement = compile(db, conditionTestSql(table, expression), reason, hint);
    try {
      statement.bind();
    } catch (cause) {
      throw new UsageError(`${reason}: ${errorMessage(cause)}.`, {
        hint: "use literal values instead of parameters such as `:name` or `?`",
        cause,
      });
    }
  }
}

/** Returns a statement that tests a condition. */
export function conditionTestSql({ tableSql }: ReadableTable, condition: string): string {
  return `SELECT 1 FROM ${tableSql} WHERE ${parenthesize(condition)}`;
}

/**
 * Converts an SQLite error that occurs while rows are being read, such as invalid JSON in `json('x')`, to a UsageError.
 */
export function explainRuntimeError(error: unknown, culprit: "query" | "--where"): unknown {
  if (!(error instanceof Error) || !statementErrors.test(errorCode(error))) return error;
  const hint = /not authorized/.test(error.message)
    ? "omit `load_extension`, because SQLite extensions cannot be loaded"
    : `check the ${culprit === "query" ? "query" : "condition"}`;
  return new UsageError(`SQLite stopped at \`${culprit}\`: ${error.message}.`, { hint, cause: error });
}

function compile(db: Database, sql: string, reason: string, hint: string): Statement {
  try {
    return db.prepare(sql);
  } catch (cause) {
    const code = errorCode(cause);
    if (code.startsWith("SQLITE_") && !statementErrors.test(code)) throw cause;
    const error = errorMessage(cause);
    const mistake = explainMistake(db, sql, error);
    throw new UsageError(`${mistake.reason ?? `${reason}: ${error.replace(/\?$/, "")}`}.`, {
      hint: mistake.hint ?? hint,
      cause,
    });
  }
}

function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Opens a query result for an export. Values have SQLite's types: booleans are 0 or 1, and JSON is text. */
export function openQueryResult(statement: Statement, limit?: number): RowSource {
  const columns = statement.columns();
  const names = uniqueNames(columns.map(({ name }) => name));
  const isAmount = ({ name, column }: ColumnDefinition) => amountNames.has(column ?? name);
  return {
    name: "answer",
    columns: columns.map((column, index) => ({
      name: names[index] ?? column.name,
      type: "any",
      about: "",
      isAmount: isAmount(column) ? true : undefined,
    })),
    batches: () => inBatches(loadResultRows(statement, limit)),
  };
}

/** Makes column names unique, because they become keys in JSON objects. */
function uniqueNames(names: readonly string[]): string[] {
  const taken = new Set<string>();
  return names.map((name) => {
    const free = uniqueName(name, taken);
    taken.add(free.toLowerCase());
    return free;
  });
}

function* loadResultRows(statement: Statement, limit: number | undefined): Iterable<Row> {
  let count = 0;
  try {
    for (const row of statement.raw().safeIntegers().iterate() as Iterable<unknown[]>) {
      if (count === limit) return;
      count += 1;
      yield row.map(toRowValue);
    }
  } catch (error) {
    throw explainRuntimeError(error, "query");
  }
}

/** Converts blobs to hexadecimal strings, because no export format supports binary values. */
function toRowValue(value: unknown): RowValue {
  return value instanceof Uint8Array ? Buffer.from(value).toString("hex") : (value as RowValue);
}
