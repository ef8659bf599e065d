import type { Statement } from "better-sqlite3";
import { UsageError } from "../errors.js";
import { nearest } from "../lib/nearest.js";
import type { Mirror } from "../mirror/index.js";
import { bindable, type Parameters } from "./parameters.js";
import { describeTable, isHelper, listTables } from "./tables.js";

/** Pragmas that tell something and change nothing. Only these take a name or a number: for others it would be a value to set. */
const asking = [
  "table_info",
  "table_xinfo",
  "table_list",
  "index_list",
  "index_info",
  "index_xinfo",
  "integrity_check",
  "quick_check",
];
const telling = new Set([
  ...asking,
  "database_list",
  "collation_list",
  "function_list",
  "compile_options",
  "page_count",
  "page_size",
  "freelist_count",
  "user_version",
  "application_id",
  "encoding",
  "journal_mode",
]);

/**
 * Compiles a person's SQL: one statement that reads, with the values of its parameters.
 * @throws UsageError with SQLite's own message and the nearest name, or where values and parameters do not match
 */
export function prepareReading(mirror: Mirror, sql: string, values: Parameters = new Map()): Statement {
  const statement = compile(mirror, sql);
  // ATTACH and some pragmas count as reading for SQLite; they are not what `query` is for.
  const word = /^(?:\s|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)*([a-z]+)/i.exec(sql)?.[1]?.toUpperCase() ?? "";
  const pragma = /pragma\s+(?:\w+\s*\.\s*)?(\w+)([\s\S]*)$/i.exec(sql);
  const [, name = "", rest = ""] = pragma ?? [];
  const isSet = rest.includes("=") || (rest.includes("(") && !asking.includes(name.toLowerCase()));
  const tells = word === "PRAGMA" && telling.has(name.toLowerCase()) && !isSet;
  const reads = ["SELECT", "WITH", "VALUES", "EXPLAIN"].includes(word) && statement.readonly;
  if ((!reads && !tells) || !statement.reader)
    throw new UsageError("`query` only reads: this statement would do something else.", {
      hint: "begin with SELECT or WITH; the mirror is changed by `brandapi sync` alone",
    });
  const bound = bindable(sql, values);
  return values.size > 0 ? statement.bind(bound) : statement;
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
