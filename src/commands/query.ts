import { join } from "node:path";
import { addAbortSignal } from "node:stream";
import type { Statement } from "better-sqlite3";
import type { Command } from "commander";
import { parseCount, parsedOption } from "../cli/flags.js";
import { chooseOutput, createOutputOptions, type OutputFlags, selectsOutput } from "../cli/output.js";
import { type ReadSession, withReadSession } from "../cli/read-session.js";
import {
  parseAsOf,
  useDataAsOf,
  warnAboutPartialTables,
  warnAboutUnreadTables,
} from "../cli/table-selection.js";
import { writeTables } from "../cli/write-tables.js";
import { expandPath } from "../config/folders.js";
import type { GlobalFlags } from "../config/settings.js";
import type { Context, Deps } from "../deps.js";
import { UsageError } from "../errors.js";
import { type FormatName, tableFormats } from "../export/formats.js";
import { requireReadsWithHistory } from "../query/as-of.js";
import { findReads, type SqlParameters } from "../query/statement-reads.js";
import { compileQuery, openQueryResult } from "../query/user-sql.js";
import { findWrongComparisons } from "../query/wrong-comparisons.js";
import { readStream, readTextFile } from "../util/files.js";
import { formatCount, quoteShellWord } from "../util/format-text.js";
import { renderBlocks, renderTable, tableFits } from "../util/terminal-table.js";

type QueryFlags = GlobalFlags &
  OutputFlags & { file?: string; param?: SqlParameters; limit?: number; asOf?: string };

/** The default for `--limit` in text output. Export formats have no limit by default. */
const terminalLimit = 1_000;

/** Help text for the formats whose output differs between `query` and `export`. */
const abouts: Partial<Record<FormatName, string>> = {
  json: "a JSON array with one object per row",
  ndjson: "newline-delimited JSON, with one object per row",
  xlsx: "a workbook with one sheet",
};
const queryFormats = tableFormats.map((format) => ({
  ...format,
  about: abouts[format.name] ?? format.about,
}));

export const about =
  "Runs one statement from the argument, a file or stdin. Requires no key or network access. " +
  "`brandapi tables` lists the tables and views, and `brandapi tables NAME` lists a table's columns.\n\n" +
  "Dates: compare `day` with `date('now', '-7 days')`, `month` with `'2026-10'`, and `order_date_utc` with `datetime('now', '-7 days')`. " +
  "Other timestamps are text with `T` and `Z`, so use `datetime(synced_at)`.";

export const examples = {
  'brandapi query "SELECT host_label, orders, net_by_currency FROM hosts" --csv':
    "print orders per host as CSV",
  'brandapi query "SELECT * FROM sales_by_month" --as-of 30d': "print monthly sales as of 30 days ago",
  "brandapi query -f own.sql -p month=2026-10 -o october.xlsx":
    "run your own statement with a value for `:month`, and write a workbook",
};

export function define(command: Command): void {
  command
    .argument("[sql]", "the statement, in quotes; omit it or use `-` to read stdin")
    .option("-f, --file <file>", "read the statement from a file, or from stdin if FILE is `-`")
    .option("-p, --param <name=value>", "set the parameter `:name`; can be repeated", parseParameter);
  for (const option of createOutputOptions(queryFormats)) command.addOption(option);
  command.option("--as-of <time>", "read data as of TIME (a date or month means its end)");
  const limit = `maximum number of rows (default: ${terminalLimit} for text output, otherwise all)`;
  command.addOption(parsedOption("--limit <n>", limit, parseCount));
}

export async function run(flags: QueryFlags, { deps }: Context, argument?: string): Promise<void> {
  const { file, param, limit } = flags;
  const output = selectsOutput(flags) ? chooseOutput(flags, queryFormats, deps) : undefined;
  if (output?.destination.kind === "folder") {
    const { path } = output.destination;
    throw new UsageError(`The output path is a folder: \`${path}\``, {
      hint: `specify a file in this folder, such as \`-o ${quoteShellWord(join(path, "result.csv"))}\``,
    });
  }
  const asOfMs = parseAsOf(flags.asOf, deps.clock.now());
  if (argument !== undefined && file !== undefined)
    throw new UsageError("The statement was passed both as an argument and with `--file`.", {
      hint: "omit one of them",
    });
  const sql = argument === undefined || argument === "-" ? await readSql(file, deps) : argument;
  await withReadSession(flags, deps, async (session) => {
    const statement = openStatement({ sql, param, asOf: asOfMs }, session);
    if (!output) return printResult(statement, limit, session);
    const { encode } = await output.format.load();
    await writeTables([openQueryResult(statement, limit)], output, session, encode);
  });
}

/**
 * Compiles the statement. Warns about tables without data and about comparisons that give wrong results. If `asOf` is
 * given, the statement reads the data as of that time.
 */
function openStatement(
  { sql, param, asOf: asOfMs }: { sql: string; param: SqlParameters | undefined; asOf: number | undefined },
  session: ReadSession,
): Statement {
  const { mirror, reporter } = session;
  const statement = compileQuery(mirror, sql, param);
  const reads = findReads(mirror.db, sql, param);
  const names = asOfMs === undefined ? (reads?.names ?? []) : requireReadsWithHistory(reads);
  for (const warning of findWrongComparisons(sql)) reporter.warn(warning);
  warnAboutUnreadTables(session, names);
  warnAboutPartialTables(session, names);
  if (asOfMs === undefined) return statement;
  useDataAsOf(session, names, asOfMs);
  return compileQuery(mirror, sql, param);
}

/** Prints the first rows as a table or, if the table is too wide for the terminal, as one block per row. */
function printResult(
  statement: Statement,
  limit: number | undefined,
  { deps, reporter, style, width }: ReadSession,
): void {
  const maxRows = limit ?? terminalLimit;
  const result = openQueryResult(statement, maxRows + 1);
  const rows = [...result.batches()].flat();
  const printed = rows.slice(0, maxRows);
  const names = result.columns.map(({ name }) => name);
  const options = { style, width, nullText: "null" };
  const render = tableFits(names, printed, options) ? renderTable : renderBlocks;
  deps.stdout.write(`${render(names, printed, options)}\n`);
  if (rows.length === 0) reporter.note("No rows.");
  if (rows.length > maxRows && limit === undefined)
    reporter.note(
      `Showing the first ${formatCount(maxRows)} rows; use \`--limit\` to show more, or \`--csv\` for all of them.`,
    );
}

/** Reads the statement from a file, or from stdin if the file is `-` or undefined. */
async function readSql(file: string | undefined, deps: Deps): Promise<string> {
  if (file !== undefined && file !== "-") {
    const text = readTextFile(expandPath(file, deps));
    if (!text.includes("\0")) return text;
    throw new UsageError(`Not a text file: ${file}`, {
      hint: "specify a file that contains an SQL statement",
    });
  }
  if (deps.stdin.isTTY && file === undefined)
    throw new UsageError("No SQL statement was given.", {
      hint: '`brandapi query "SELECT …"`, `brandapi query -f FILE`, or a pipe; `brandapi tables` lists the tables',
    });
  return await readStream(addAbortSignal(deps.signal, deps.stdin), "stdin");
}

/**
 * Parses `name=value`. Values that look like numbers are bound as numbers, because SQLite never treats a number and a
 * string as equal.
 */
function parseParameter(text: string, previous: SqlParameters | undefined): SqlParameters {
  const [, name, value = ""] = /^:?([A-Za-z_]\w*)=([\s\S]*)$/.exec(text) ?? [];
  if (name === undefined)
    throw new UsageError(`\`--param\` is not \`name=value\`: \`${text}\`.`, {
      hint: "use `-p name=value`, and `:name` in the statement; to choose a profile, use `--profile`",
    });
  return new Map([...(previous ?? []), [name, typedValue(value)]]);
}

function typedValue(text: string): bigint | number | string {
  if (/^-?(?:0|[1-9]\d{0,17})$/.test(text)) return BigInt(text);
  if (/^-?(?:0|[1-9]\d{0,14})\.\d{1,15}$/.test(text)) return Number(text);
  return text;
}
