import type { Statement } from "better-sqlite3";
import { UsageError } from "../errors.js";
import type { Mirror } from "../mirror/index.js";

/** Values by name. A whole number is a `bigint`, because SQLite takes a `number` for a fraction. */
export type Parameters = ReadonlyMap<string, string | number | bigint>;

/** Comments, then the statement's first word: ATTACH and some pragmas are read-only for SQLite, too. */
const reading = /^(?:\s|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)*(?:select|with|values|explain)\b/i;

/**
 * Compiles a person's SQL: one statement that reads, with the values of its parameters.
 * @throws UsageError with SQLite's own message, or if values and parameters do not match
 */
export function prepareReading(mirror: Mirror, sql: string, values: Parameters = new Map()): Statement {
  const statement = compile(mirror, sql);
  if (!reading.test(sql) || !statement.readonly || !statement.reader)
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
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new UsageError(`A parameter has no value: ${error.message}.`, {
      hint: "add `-p NAME=VALUE` for each `:NAME` of the statement",
      cause: error,
    });
  }
}

function compile(mirror: Mirror, sql: string): Statement {
  try {
    return mirror.db.prepare(sql);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new UsageError(`SQLite does not understand this: ${error.message}.`, {
      hint: "`brandapi tables` lists the tables and views, `brandapi tables NAME` the columns of one",
      cause: error,
    });
  }
}
