import { type Command, Option } from "commander";
import type { Context } from "../cli/context.js";
import { exportDeltaTables } from "../cli/delta-output.js";
import { checkName, parseCount, parsedOption, parseList, parseRange } from "../cli/flags.js";
import { readMirror } from "../cli/mirror-reading.js";
import {
  chooseOutput,
  createOutputOptions,
  noFormatError,
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
import { UsageError } from "../errors.js";
import type { RowSources } from "../export/format.js";
import { formats } from "../export/formats.js";
import { readSingerState } from "../export/singer.js";
import { checkStatementHistory, checkTableHistory } from "../query/as-of.js";
import type { ReadableTable } from "../query/readable-tables.js";
import { openRows } from "../query/select.js";
import { findReads } from "../query/statement-reads.js";
import { checkCondition, conditionSql, explainRuntimeError } from "../query/user-sql.js";
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

/** Singer and Delta take whole tables: a target cannot tell a row that was not selected from one that did not change. */
const selecting = ["columns", "where", "since", "until", "limit", "asOf", "includeRemoved"];

export const about =
  "Writes several tables to one workbook, or to a folder with one file per table (`-o exports/`). " +
  "`brandapi tables` lists tables and views.";

export const examples = {
  "brandapi export roster --csv > roster.csv": "export the roster as CSV",
  "brandapi export orders roster -o month.xlsx --since this-month":
    "write a workbook with one sheet per table",
};

export function define(command: Command): void {
  command.argument("<table...>", "tables or views, spelled with - or _");
  const stateOption = new Option("--state <file>", "Singer: only changes since the state in FILE");
  const otherFormats = formats.map(({ name }) => name).filter((name) => name !== "singer");
  const delta = new Option("--delta <folder>", "create or update Delta tables in FOLDER");
  const ofFiles = ["out", "excel", "decimalComma", "delimiter", "state", ...formats.map(({ name }) => name)];
  for (const option of createOutputOptions())
    command.addOption(option.name() === "singer" ? option.conflicts(selecting) : option);
  command
    .addOption(parsedOption("--columns <columns>", "columns to export, in this order", parseList))
    .option("--where <condition>", "only rows that match this SQL condition")
    .option("--since <time>", "only rows since TIME (with several tables: event tables only)")
    .option("--until <time>", "only rows up to TIME, likewise")
    .addOption(parsedOption("--limit <n>", "maximum number of rows", parseCount))
    .option("--as-of <time>", "export the data as of TIME")
    .option("--include-removed", "include removed records, with `removed_at`")
    .addOption(delta.conflicts([...ofFiles, ...selecting]))
    .addOption(
      parsedOption("--retain <duration>", "Delta: how long to keep old files (default: 7d)", parseDuration),
    )
    .addOption(stateOption.conflicts([...otherFormats, ...selecting]));
}

export async function run(options: ExportFlags, context: Context, names: readonly string[]): Promise<void> {
  if (options.delta !== undefined) return await exportDeltaTables(names, options, context);
  const { deps } = context;
  const { columns, where, limit, state, includeRemoved = false } = options;
  const known = [...new Set(names.map(checkTableName))];
  const output = chooseOutput(
    { ...options, ...(state === undefined ? {} : { singer: true }) },
    known.length,
    deps,
  );
  const now = deps.clock.now();
  const at = options.asOf === undefined ? undefined : parseInstant(options.asOf, "end", now);
  const dates = parseRange(options, now);
  if (options.retain !== undefined)
    throw new UsageError("`--retain` is for `--delta`.", { hint: "add `--delta FOLDER`, or leave it out" });
  if (!output) throw noFormatError();
  const bookmarks = state === undefined ? undefined : readSingerState(expandPath(state, deps));
  await readMirror(options, deps, async (reading) => {
    const { mirror } = reading;
    const tables = known.map((name) => findSyncedTable(mirror, name, { includeRemoved }));
    if (includeRemoved && tables.every(({ sources }) => sources.length === 1))
      throw new UsageError(`\`--include-removed\` makes no difference to ${known.join(", ")}.`, {
        hint: "leave it out: only tables of the API's records have removed ones",
      });
    for (const table of tables) {
      const ofTable = table.columns.map(({ name }) => name);
      for (const name of columns ?? []) checkName(`column of \`${table.name}\``, name, ofTable);
      if (at !== undefined) checkTableHistory(table);
      if (where !== undefined) checkCondition(mirror, table, where);
    }
    const isCut = chooseDateFilter(tables, dates);
    const reads = new Map(
      tables.map((table) => [
        table,
        where === undefined ? undefined : findReads(mirror.db, conditionSql(table.sources[0], where)),
      ]),
    );
    const readsOthers = (table: ReadableTable) =>
      where !== undefined && (reads.get(table)?.names.some((name) => name !== table.name) ?? true);
    warnAboutUnreadTables(reading, [...new Set([...reads.values()].flatMap((read) => read?.names ?? []))]);
    if (at !== undefined) {
      const read = tables.flatMap((table) =>
        where === undefined ? [table.name] : [table.name, ...checkStatementHistory(reads.get(table)).names],
      );
      useDataAsOf(reading, [...new Set(read)], at);
    }
    try {
      const [first, ...others] = tables.map((table) =>
        openRows(mirror, {
          table,
          columns,
          where,
          readsOthers: readsOthers(table),
          limit,
          ...(isCut(table) ? dates : {}),
        }),
      );
      if (!first) return;
      const sources: RowSources = [first, ...others];
      const written: WrittenTables[] = [];
      if (!output.isFolder && (others.length === 0 || output.format.holdsMany))
        written.push(await writeRows(sources, output, reading, bookmarks));
      else
        for (const source of sources) {
          const path = tableFilePath(output, source.name, deps);
          written.push(await writeRows([source], { ...output, path }, reading));
        }
      if (output.path !== undefined) reportOutput(output.path, written, reading);
    } catch (error) {
      throw where === undefined ? error : explainRuntimeError(error, "--where");
    }
  });
}
