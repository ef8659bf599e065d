import type { Statement } from "better-sqlite3";
import { UsageError } from "../errors.js";
import { nearest, suggest } from "../lib/nearest.js";
import type { Mirror } from "../mirror/index.js";
import { knownTableNames } from "./names.js";
import { describeTable } from "./tables.js";

/** Values by name. A whole number is a `bigint`, because SQLite takes a `number` for a fraction. */
export type Parameters = ReadonlyMap<string, string | number | bigint>;

/** Comments, then the statement's first word: ATTACH and some pragmas are read-only for SQLite, too. */
const reading = /^(?:\s|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)*(?:select|with|values|explain)\b/i;

/** Texts, quoted names and comments, none of which holds a parameter; then the parameters. */
const tokens =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|(\?)\d*|[:@$](\w+)/g;

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
  const names = parametersOf(sql);
  const unknown = [...values.keys()].find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new UsageError(`The statement has no parameter \`:${unknown}\`.`, {
      hint: names.length > 0 ? suggest(unknown, names) : `write \`:${unknown}\` where its value belongs`,
    });
  const missing = names.find((name) => !values.has(name));
  if (missing !== undefined)
    throw new UsageError(`A parameter has no value: \`:${missing}\`.`, {
      hint: `add \`-p ${missing}=VALUE\``,
    });
  return values.size > 0 ? statement.bind(Object.fromEntries(values)) : statement;
}

/** Returns the names of a statement's parameters: `:name`, `@name` or `$name`; `?` for one without a name. */
export function parametersOf(sql: string): string[] {
  return [...new Set([...sql.matchAll(tokens)].flatMap(([, unnamed, name]) => unnamed ?? name ?? []))];
}

function compile(mirror: Mirror, sql: string): Statement {
  try {
    return mirror.db.prepare(sql);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new UsageError(`SQLite does not understand this: ${error.message}.`, {
      hint: nearestName(mirror, sql, error.message) ?? "`brandapi tables` lists the tables and views",
      cause: error,
    });
  }
}

/** Returns where a missing column is, or the table or column that a missing name most likely meant. */
function nearestName(mirror: Mirror, sql: string, message: string): string | undefined {
  const [, what, name] = /no such (table|column): (?:\w+\.)*(\w+)/.exec(message) ?? [];
  if (name === undefined) return undefined;
  const tables = knownTableNames();
  const columnsOf = (table: string) => describeTable(mirror, table).columns.map((column) => column.name);
  const [first = "orders", ...others] = tables.filter((table) => new RegExp(`\\b${table}\\b`, "i").test(sql));
  const having = what === "column" ? tables.filter((table) => columnsOf(table).includes(name)) : [];
  // `orders_net` is nearer to `orders` than `sales_by_month` is.
  const best = [...new Set([...having.filter((table) => table.startsWith(first)), ...having])].slice(0, 2);
  if (best.length > 0)
    return `\`${name}\` is a column of ${best.map((table) => `\`${table}\``).join(" and ")}`;
  const near = nearest(name, what === "table" ? tables : [first, ...others].flatMap(columnsOf));
  if (near !== undefined) return `did you mean \`${near}\`?`;
  return what === "column" ? `see the columns with \`brandapi tables ${first}\`` : undefined;
}
