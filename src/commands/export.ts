import { type Command, Option } from "commander";
import type { Context } from "../cli/context.js";
import { exportDeltaTables } from "../cli/delta-output.js";
import { checkName, parseCount, parsedOption, parseList, parseRange } from "../cli/flags.js";
import { type ReadSession, readMirror } from "../cli/mirror-reading.js";
import {
  chooseOutput,
  createOutputOptions,
  noFormatError,
  type OutputChoice,
  type OutputOptions,
  reportOutput,
  tableFilePath,
  type WrittenTables,
  writeRows,
} from "../cli/output.js";
import {
  checkTableName,
  chooseDateFilter,
  findSyncedTable,
  useDataAsOf,
  warnAboutUnreadTables,
} from "../cli/table-selection.js";
import { expandPath } from "../config/folders.js";
import type { GlobalOptions } from "../config/settings.js";
import type { Deps } from "../deps.js";
import { UsageError } from "../errors.js";
import type { Bookmarks } from "../export/format.js";
import { formats } from "../export/formats.js";
import { readSingerState } from "../export/singer.js";
import { checkStatementHistory, checkTableHistory } from "../query/as-of.js";
import { knownTableNames, type ReadableTable } from "../query/readable-tables.js";
import { openRows, type RowSource, type Selection } from "../query/select.js";
import { findReads, type StatementReads } from "../query/statement-reads.js";
import { checkCondition, conditionSql, explainRuntimeError } from "../query/user-sql.js";
import type { Mirror } from "../store/database.js";
import { parseDuration, parseInstant } from "../util/times.js";

interface ExportFlags extends OutputOptions, GlobalOptions {
  columns?: string[];
  where?: string;
  since?: string;
  until?: string;
  limit?: number;
  asOf?: string;
  includeRemoved?: boolean;
  state?: string;
  delta?: string;
  retain?: number;
}

/** Singer and Delta export complete tables: a target cannot tell an unselected row from an unchanged one. */
const selectionOptions = ["columns", "where", "since", "until", "limit", "asOf", "includeRemoved"];

export const about =
  "Writes several tables to one workbook, or to a folder with one file per table (`-o exports/`). " +
  "`brandapi tables` lists tables and views.";

export const examples = {
  "brandapi export roster --csv > roster.csv": "export the roster as CSV",
  "brandapi export orders roster -o month.xlsx --since this-month":
    "write a workbook with one sheet per table",
};

export function define(command: Command): void {
  const formatNames = formats.map(({ name }) => name);
  const fileOptions = ["out", "excel", "decimalComma", "delimiter", "state", ...formatNames];
  const delta = new Option("--delta <folder>", "create or update Delta tables in FOLDER");
  const state = new Option("--state <file>", "Singer: only changes since the state in FILE");
  command.argument("<table...>", "tables or views, spelled with - or _");
  for (const option of createOutputOptions())
    command.addOption(option.name() === "singer" ? option.conflicts(selectionOptions) : option);
  command
    .addOption(parsedOption("--columns <columns>", "columns to export, in this order", parseList))
    .option("--where <condition>", "only rows that match this SQL condition")
    .option("--since <time>", "only rows since TIME (with several tables: event tables only)")
    .option("--until <time>", "only rows up to TIME, likewise")
    .addOption(parsedOption("--limit <n>", "maximum number of rows", parseCount))
    .option("--as-of <time>", "export the data as of TIME")
    .option("--include-removed", "include removed records, with `removed_at`")
    .addOption(delta.conflicts([...fileOptions, ...selectionOptions]))
    .addOption(
      parsedOption("--retain <duration>", "Delta: how long to keep old files (default: 7d)", parseDuration),
    )
    .addOption(state.conflicts([...formatNames.filter((name) => name !== "singer"), ...selectionOptions]));
}

export async function run(options: ExportFlags, context: Context, names: readonly string[]): Promise<void> {
  if (options.delta !== undefined) return await exportDeltaTables(names, options, context);
  const { deps } = context;
  const request = readRequest(options, names, deps);
  const { asOf, output } = request;
  await readMirror(options, deps, async (session) => {
    const selected = selectTables(request, session.mirror);
    warnAboutUnreadTables(session, [...new Set(selected.flatMap(({ reads }) => reads?.names ?? []))]);
    if (asOf !== undefined) useDataAsOf(session, [...new Set(selected.flatMap(tablesToRead))], asOf);
    try {
      const sources = selected.map(({ selection }) => openRows(session.mirror, selection));
      const written = await writeTables(sources, request, session);
      if (output.path !== undefined) reportOutput(output.path, written, session);
    } catch (error) {
      throw request.where === undefined ? error : explainRuntimeError(error, "--where");
    }
  });
}

/** The checked command line. */
interface ExportRequest {
  tableNames: string[];
  columns: readonly string[] | undefined;
  where: string | undefined;
  limit: number | undefined;
  output: OutputChoice;
  dates: ReturnType<typeof parseRange>;
  asOf: number | undefined;
  includeRemoved: boolean;
  bookmarks: Readonly<Bookmarks> | undefined;
}

/** Reads the command line. Throws a UsageError for tables, times or options that do not fit together. */
function readRequest(options: ExportFlags, names: readonly string[], deps: Deps): ExportRequest {
  const { columns, where, limit, asOf, state, includeRemoved = false } = options;
  const now = deps.clock.now();
  const tableNames = [...new Set(names.map(checkTableName))];
  const formatOptions = state === undefined ? options : { ...options, singer: true };
  const output = chooseOutput({ ...formatOptions }, tableNames.length, deps);
  const dates = parseRange(options, now);
  if (options.retain !== undefined)
    throw new UsageError("`--retain` needs `--delta`.", { hint: "add `--delta FOLDER`, or omit `--retain`" });
  if (!output) throw noFormatError();
  return {
    columns,
    where,
    limit,
    tableNames,
    output,
    dates,
    asOf: asOf === undefined ? undefined : parseInstant(asOf, "end", now),
    includeRemoved,
    bookmarks: state === undefined ? undefined : readSingerState(expandPath(state, deps)),
  };
}

/** A table of the export, and the tables that its `--where` reads; undefined if SQLite cannot tell. */
interface SelectedTable {
  table: ReadableTable;
  hasCondition: boolean;
  reads: StatementReads | undefined;
  selection: Selection;
}

/** Finds the tables and checks that the options apply to them. Throws a UsageError or ConfigurationError. */
function selectTables(request: ExportRequest, mirror: Mirror): SelectedTable[] {
  const { asOf, columns, dates, includeRemoved, limit, tableNames, where } = request;
  const tables = tableNames.map((name) => findSyncedTable(mirror, name, { includeRemoved }));
  if (includeRemoved && tables.every(({ sources }) => sources.length === 1))
    throw new UsageError(`\`--include-removed\` makes no difference to ${tableNames.join(", ")}.`, {
      hint: "omit it: only tables of the API's records have removed records",
    });
  for (const table of tables) {
    for (const column of columns ?? []) checkColumn(column, table);
    if (asOf !== undefined) checkTableHistory(table);
    if (where !== undefined) checkCondition(mirror, table, where);
  }
  const isFiltered = chooseDateFilter(tables, dates);
  return tables.map((table) => {
    const hasCondition = where !== undefined;
    const reads = hasCondition ? findReads(mirror.db, conditionSql(table.sources[0], where)) : undefined;
    const readsOthers = hasCondition && (reads?.names.some((name) => name !== table.name) ?? true);
    const range = isFiltered(table) ? dates : {};
    return { table, hasCondition, reads, selection: { table, columns, where, readsOthers, limit, ...range } };
  });
}

/** Throws a UsageError with the nearest name if the table has no such column. */
function checkColumn(column: string, { name, columns }: ReadableTable): void {
  const known = columns.map((one) => one.name);
  if (column === "removed_at" && !known.includes(column) && knownTableNames().includes(`${name}_removed`))
    throw new UsageError(`Unknown column of \`${name}\`: \`removed_at\`.`, {
      hint: `add \`--include-removed\`, or export \`${name}_removed\``,
    });
  checkName(`column of \`${name}\``, column, known);
}

/** Returns the names of the tables that an export with `--as-of` reads. Throws a UsageError if one has no history. */
function tablesToRead({ table, hasCondition, reads }: SelectedTable): string[] {
  return hasCondition ? [table.name, ...checkStatementHistory(reads).names] : [table.name];
}

/** Writes all tables to one file if the format allows it, otherwise one file per table. */
async function writeTables(
  sources: readonly RowSource[],
  { output, bookmarks }: ExportRequest,
  session: ReadSession,
): Promise<WrittenTables[]> {
  const [first, ...others] = sources;
  if (!first) return [];
  if (!output.isFolder && (others.length === 0 || output.format.holdsMany))
    return [await writeRows([first, ...others], output, session, bookmarks)];
  const written: WrittenTables[] = [];
  for (const source of sources) {
    const path = tableFilePath(output, source.name, session.deps);
    written.push(await writeRows([source], { ...output, path }, session));
  }
  return written;
}
