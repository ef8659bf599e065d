import type { Database } from "better-sqlite3";
import { quote } from "../store/table-sql.js";
import { quoteShellWord } from "../util/format-text.js";
import { didYouMean, findOwnColumn, namesContaining, similarNames } from "../util/suggestions.js";
import { mainTableNames, tableNames } from "./readable-tables.js";
import { blankQuotedText } from "./sql-tokens.js";
import { emptyTableSql, type SchemaTable, withEmptyTables } from "./statement-reads.js";

/** An explanation for users: a hint and, if SQLite's error message is unclear, a reason that replaces it. */
interface Mistake {
  reason?: string;
  hint?: string | undefined;
}

/** Explanations of SQLite's error messages that do not depend on the statement. */
const explainedErrors: readonly [pattern: RegExp, Mistake][] = [
  [
    /more than one statement$/,
    { reason: "The SQL contains several statements", hint: "run one statement at a time" },
  ],
  [
    /no statements$/,
    {
      reason: "The SQL contains no statements",
      hint: 'for example `brandapi query "SELECT * FROM sales_by_month"`',
    },
  ],
  [
    /^incomplete input$/,
    {
      reason: "The SQL is incomplete",
      hint: "check the end of the statement: close each `(` with `)`, and finish the last clause",
    },
  ],
  [
    /^misuse of aggregate/,
    {
      hint: "WHERE tests individual rows; to test a sum or a count, use HAVING after GROUP BY: `GROUP BY host_id HAVING sum(total_amount) > 5`",
    },
  ],
  [/^ambiguous column name: /, { hint: "write the table's name or alias before it, as in `o.id`" }],
];

const renamedColumns: Readonly<Record<string, string>> = { host_name: "host_label" };

/** Syntax from other SQL dialects, with hints on the SQLite equivalent. */
const otherDialects: readonly [pattern: RegExp, hint: string][] = [
  [/::\s*\w+/, "SQLite has no `::`; use `CAST(id AS text)`"],
  [/\bwhere\s*\(\s*where\b/i, "omit WHERE: `--where` takes only the condition"],
  [/\bselect\s+(?:distinct\s+)?top\b/i, "SQLite has no TOP; end the statement with `LIMIT 10`"],
  [/\bfetch\s+(?:first|next)\b/i, "SQLite has no FETCH; end the statement with `LIMIT 10`"],
  [/\bilike\b/i, "SQLite has no ILIKE; use LIKE, which is case-insensitive for ASCII letters"],
  [/\bregexp\b|\bsimilar\s+to\b/i, "SQLite has no regular expressions; use LIKE with `%`, or GLOB with `*`"],
  [/\binterval\b|\bdate_?(?:add|sub)\s*\(/i, "SQLite has no INTERVAL; use `date('now', '-7 days')`"],
  [/\bdatediff\s*\(/i, "SQLite has no DATEDIFF; use `julianday(a) - julianday(b)`"],
  [
    /\b(?:now|getdate|curdate|today)\s*\(|\bsysdate\b/i,
    "for the current time, use `datetime('now')`; for a date, use `date('now', '-7 days')`",
  ],
  [
    /\b(?:extract|date_trunc|date_part|date_format|to_char|to_date|year|month|day)\s*\(/i,
    "for parts of a date, use `strftime('%Y-%m', order_date)`",
  ],
  [
    /\b(?:date|timestamp)\s+''/i,
    "write a date as plain text, without `date` or `timestamp` before it: `'2026-10-01'`",
  ],
  [/\bdistinct\s+on\b/i, "SQLite has no DISTINCT ON; use `GROUP BY`"],
  [/\b(?:nvl|isnull)\s*\(/i, "use `coalesce(a, b)`"],
  [/\bleft\s*\(/i, "use `substr(text, 1, 3)`"],
  [/\b(?:charindex|strpos)\s*\(/i, "use `instr(text, 'part')`"],
  [/\blen\s*\(/i, "use `length(text)`"],
  [/\b(?:greatest|least)\s*\(/i, "use `max(a, b)` or `min(a, b)`"],
  [
    /^\s*(?:(?:show|desc|describe)\b|\.(?:tables|schema)\b|\\d)/i,
    "`brandapi tables` lists the tables, and `brandapi tables NAME` lists the columns of one table",
  ],
];

/**
 * Explains why a statement does not compile.
 * @param error SQLite's error message
 */
export function explainMistake(db: Database, sql: string, error: string): Mistake {
  return (
    explainedErrors.find(([pattern]) => pattern.test(error))?.[1] ??
    explainOtherDialect(sql, error) ??
    explainSyntaxError(db, sql, error) ??
    explainNameError(db, sql, error) ??
    {}
  );
}

/** Finds quotes and syntax that other databases accept, no matter which error SQLite reports for them. */
function explainOtherDialect(sql: string, error: string): Mistake | undefined {
  const code = blankQuotedText(sql);
  if (/[‘’“”]/.test(code)) return { hint: "replace the curly quotes (`‘’“”`) with straight ones: `'text'`" };
  const apostrophe = /syntax error$|^unrecognized token/.test(error) ? findApostrophe(sql) : undefined;
  if (apostrophe !== undefined) return { hint: `double each apostrophe inside text: \`${apostrophe}\`` };
  // An unknown name is not a syntax problem, unless it is a keyword, such as `sysdate`, that SQLite took for a name.
  if (/^no such (?:table|column): (?!sysdate|interval|timestamp|date|day|month|year)/i.test(error))
    return undefined;
  const hint = otherDialects.find(([pattern]) => pattern.test(code))?.[1];
  return hint === undefined ? undefined : { hint };
}

function explainSyntaxError(db: Database, sql: string, error: string): Mistake | undefined {
  const token = /^unrecognized token: "([\s\S]*)"$/.exec(error)?.[1];
  const near = /^near "([\s\S]*)": syntax error$/.exec(error)?.[1];
  if (token !== undefined && /^['"`[]/.test(token))
    return {
      reason: `A quote is not closed: ${token.split("\n")[0]?.slice(0, 40)}`,
      hint: "add the closing quote",
    };
  if (token !== undefined || near?.startsWith("#"))
    return { hint: "write text and dates in single quotes: `'2026-10-01'`" };
  if (near === undefined) return undefined;
  const dashed = findDashedName(db, sql);
  if (dashed !== undefined)
    return { hint: `write \`${dashed.replaceAll("-", "_")}\` instead of \`${dashed}\`` };
  if (tableNames.includes(`${near}s`))
    return { hint: `\`${near}\` is a keyword of SQL; the table is \`${near}s\`` };
  if (/^\s*[\w./\\~-]+\.sql\s*$/i.test(sql))
    return {
      hint: `to run the statement in a file, use \`brandapi query -f ${quoteShellWord(sql.trim())}\``,
    };
  if (tableNames.includes(sql.trim()))
    return { hint: `write a statement, such as \`SELECT * FROM ${sql.trim()} LIMIT 10\`` };
  return { hint: `check the SQL just before \`${near}\`; \`brandapi tables\` lists the tables and views` };
}

function explainNameError(db: Database, sql: string, error: string): Mistake | undefined {
  if (error.startsWith("no such function: "))
    return {
      hint: "use SQLite's own functions, such as `date('now', '-7 days')`: https://sqlite.org/lang.html",
    };
  const table = /^no such table: (?:main\.)?(.+)$/.exec(error)?.[1];
  if (table !== undefined) return { hint: didYouMean(...similarNames(table, loadTableNames(db))) };
  const [, quoted, plain] = /^no such column: (?:"(.+)" - should this be|(.+)$)/.exec(error) ?? [];
  const column = quoted ?? plain;
  return column === undefined ? undefined : { hint: columnHint(db, sql, column, error) };
}

/**
 * Matches the rest of a string literal after an unescaped apostrophe. Does not match if a keyword follows, because the
 * apostrophe is then the closing quote.
 */
const restOfText =
  /^(?!(?:and|as|asc|between|collate|desc|else|end|from|in|is|like|or|order|then|union|when)\b)\w[^'\n]*'/i;

/** Finds text with an unescaped apostrophe, such as `'O'Brien'`, and returns it with the apostrophe written twice. */
function findApostrophe(sql: string): string | undefined {
  for (const { 0: text, index } of sql.matchAll(/'(?:[^']|'')*'/g)) {
    const [rest] = restOfText.exec(sql.slice(index + text.length)) ?? [];
    if (rest !== undefined) return `${text}'${rest}`;
  }
  return undefined;
}

/** Finds a table name that is written with `-`. Only `export` accepts this spelling. */
function findDashedName(db: Database, sql: string): string | undefined {
  const names = loadTableNames(db);
  const words = sql.match(/\w+(?:-\w+)+/g) ?? [];
  return words.find((word) => names.includes(word.replaceAll("-", "_").toLowerCase()));
}

/**
 * Suggests a fix for a missing column.
 * @param written the column's name in the statement, possibly prefixed with a table name or alias
 */
function columnHint(db: Database, sql: string, written: string, error: string): string {
  const [column = written, alias] = written.split(".").reverse();
  if (/^now$/i.test(written)) return "write the current time in single quotes: `'now'`";
  return withEmptyTables(db, (tables) => {
    const scope = tables.filter((table) => wouldResolve(db, sql, table, column, error));
    // The alias may refer to a subquery, whose columns are unknown.
    if (scope.length === 0 && alias)
      return `check \`${alias}\`: the name before the dot is a table, or an alias from the FROM clause`;
    const withRemoved = scope.find(({ name }) => tableNames.includes(`${name}_removed`));
    if (withRemoved && column.toLowerCase() === "removed_at")
      return `\`${withRemoved.name}\` has current records only; removed ones are in \`${withRemoved.name}_removed\``;

    const available = new Set((scope.length > 0 ? scope : tables).flatMap(({ columns }) => columns));
    const renamed = renamedColumns[column.toLowerCase()];
    if (renamed !== undefined && scope.length > 0 && available.has(renamed))
      return `\`${column}\` is now \`${renamed}\``;

    const own = scope.length === 1 && scope[0] && findOwnColumn(column, scope[0].name, scope[0].columns);
    if (own) return `did you mean \`${own}\`?`;

    const otherTables = otherTablesHint(column, tables, scope);
    if (otherTables !== undefined) return otherTables;
    const columnsOf = `\`brandapi tables ${scope[0]?.name ?? "NAME"}\` lists the columns`;
    const suggestion = didYouMean(...similarNames(column, available));
    return suggestion ?? (alias ? columnsOf : `${columnsOf}; write text in single quotes: \`'${column}'\``);
  });
}

/**
 * True if SQLite looked for the column in this table, which is the case if adding the column to the table changes the
 * error.
 */
function wouldResolve(db: Database, sql: string, table: SchemaTable, column: string, error: string): boolean {
  if (hasColumn(table, column)) return false;
  db.exec(`DROP TABLE temp.${quote(table.name)}; ${emptyTableSql(table, [column])}`);
  try {
    db.prepare(sql);
    return true;
  } catch (other) {
    return !(other instanceof Error) || other.message !== error;
  } finally {
    db.exec(`DROP TABLE temp.${quote(table.name)}; ${emptyTableSql(table)}`);
  }
}

/**
 * Returns a hint that names the tables with a column, or undefined if no table has it.
 * @param scope the tables in which SQLite looked for the column
 */
export function otherTablesHint(
  column: string,
  tables: readonly SchemaTable[],
  scope: readonly SchemaTable[],
): string | undefined {
  const owners = findTablesWithColumn(column, tables, scope);
  if (owners.length === 0) return undefined;
  const available = new Set(scope.flatMap(({ columns }) => columns));
  const suggestion = didYouMean(...namesContaining(column, available));
  const location = `\`${column}\` is a column of ${owners.map(inBackticks).join(", ")}`;
  return suggestion === undefined ? location : `${location}; ${suggestion}`;
}

/** Returns up to three tables that have the column. Tables that share columns with the tables in scope come first. */
function findTablesWithColumn(
  column: string,
  tables: readonly SchemaTable[],
  scope: readonly SchemaTable[],
): string[] {
  const inScope = new Set(scope.flatMap(({ columns }) => columns));
  const sharedColumns = ({ columns }: SchemaTable) => columns.filter((name) => inScope.has(name)).length;
  return tables
    .filter((table) => mainTableNames.includes(table.name) && hasColumn(table, column))
    .sort((a, b) => sharedColumns(b) - sharedColumns(a))
    .slice(0, 3)
    .map(({ name }) => name);
}

function hasColumn({ columns }: SchemaTable, name: string): boolean {
  return columns.some((column) => column.toLowerCase() === name.toLowerCase());
}

function loadTableNames(db: Database): string[] {
  const stored = db.prepare("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')").pluck();
  return [...new Set([...tableNames, ...(stored.all() as string[])])];
}

function inBackticks(name: string): string {
  return `\`${name}\``;
}
