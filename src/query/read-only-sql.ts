import type { Statement } from "better-sqlite3";
import { UsageError } from "../errors.js";
import { nearest } from "../lib/nearest.js";
import type { Mirror } from "../mirror/index.js";
import { checkParameters, type Parameters } from "./parameters.js";
import { describeTable, isHelper, listTables } from "./tables.js";

/** Comments, then the statement's first word: ATTACH and some pragmas are read-only for SQLite, too. */
const reading = /^(?:\s|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)*(?:select|with|values|explain)\b/i;

/**
 * Compiles a person's SQL: one statement that reads, with the values of its parameters.
 * @throws UsageError with SQLite's own message and the nearest name, or if values and parameters do not match
 */
export function prepareReading(mirror: Mirror, sql: string, values: Parameters = new Map()): Statement {
  const statement = compile(mirror, sql);
  if (!reading.test(sql) || !statement.readonly || !statement.reader)
    throw new UsageError("`query` only reads: this statement would do something else.", {
      hint: "begin with SELECT or WITH; only `brandapi sync` changes the mirror",
    });
  checkParameters(sql, values);
  return values.size > 0 ? statement.bind(Object.fromEntries(values)) : statement;
}

function compile(mirror: Mirror, sql: string): Statement {
  try {
    return mirror.db.prepare(sql);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const { message } = error;
    if (/more than one statement/.test(message))
      throw new UsageError("`query` takes one statement, and these are several.", {
        hint: "send them one at a time",
        cause: error,
      });
    if (/no statements/.test(message))
      throw new UsageError("There is no SQL statement in this.", { hint: whereToLook, cause: error });
    throw new UsageError(`SQLite does not understand this: ${message}.`, {
      hint: hintFor(mirror, sql, message),
      cause: error,
    });
  }
}

const whereToLook = "`brandapi tables` lists the tables and views";

/** Returns the tables that have a missing column, or the nearest name, or where the names are listed. */
function hintFor(mirror: Mirror, sql: string, message: string): string {
  const [, what, name] = /no such (table|column): (?:\w+\.)*(\w+)/.exec(message) ?? [];
  // A word of SQL's own, such as `order`, is a syntax error and not a missing table.
  const [, word] = /near "(\w+)": syntax error/.exec(message) ?? [];
  const isNamed = word !== undefined && new RegExp(`\\b(?:from|join)\\s+${word}\\b`, "i").test(sql);
  const tables = listTables(mirror);
  if (what === "table" || isNamed) {
    const near = nearest(name ?? word ?? "", tables);
    return near === undefined ? whereToLook : `did you mean \`${near}\`?`;
  }
  return what === undefined || name === undefined ? whereToLook : columnHint(mirror, sql, name, tables);
}

function columnHint(mirror: Mirror, sql: string, typed: string, tables: readonly string[]): string {
  const namesOf = (table: string) => describeTable(mirror, table).columns.map((column) => column.name);
  const asked = tables.filter((table) => new RegExp(`\\b${table}\\b`, "i").test(sql));
  const [first = "orders"] = asked;
  const having = tables.filter((table) => !isHelper(table) && namesOf(table).includes(typed.toLowerCase()));
  // `orders_net` is nearer to `orders` than `sales_by_month` is.
  const ofFirst = having.filter((table) => table.startsWith(first));
  const best = [...new Set([...ofFirst, ...having])].slice(0, 2);
  if (best.length > 0)
    return `\`${typed}\` is a column of ${best.map((table) => `\`${table}\``).join(" and ")}`;
  const near = nearest(typed, asked.flatMap(namesOf));
  return near === undefined
    ? `see the columns with \`brandapi tables ${first}\``
    : `did you mean \`${near}\`?`;
}
