import type { Statement } from "better-sqlite3";
import { UsageError } from "../errors.js";
import type { Mirror } from "../mirror/index.js";

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
 * Compiles a person's SQL: one statement that reads.
 * @throws UsageError with SQLite's own message
 */
export function prepareReading(mirror: Mirror, sql: string): Statement {
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
  return statement;
}

function compile(mirror: Mirror, sql: string): Statement {
  try {
    return mirror.db.prepare(sql);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const several = /more than one statement/.test(error.message);
    const none = /no statements/.test(error.message);
    const column = /no such column/.test(error.message);
    throw new UsageError(
      several
        ? "`query` takes one statement, and these are several."
        : none
          ? "There is no SQL statement in this."
          : `SQLite does not understand this: ${error.message}.`,
      {
        hint: several
          ? "send them one at a time"
          : column
            ? 'see the columns of `orders`, for one, with `brandapi query "PRAGMA table_info(orders)"`'
            : 'see the tables with `brandapi query "PRAGMA table_list"`',
        cause: error,
      },
    );
  }
}
