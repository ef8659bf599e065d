import { type Command, Option } from "commander";
import {
  allProfilesOption,
  checkName,
  parseCount,
  parsedOption,
  parseList,
  parseRange,
} from "../cli/flags.js";
import { chooseOutput, createOutputOptions, type OutputFlags } from "../cli/output.js";
import { type ReadSession, withReadSession } from "../cli/read-session.js";
import {
  parseAsOf,
  resolveSyncedTable,
  resolveTableName,
  useDataAsOf,
  warnAboutPartialTables,
  warnAboutUnreadTables,
} from "../cli/table-selection.js";
import { parseDuration } from "../cli/time-flags.js";
import { writeTables } from "../cli/write-tables.js";
import { expandPath } from "../config/folders.js";
import type { GlobalFlags } from "../config/settings.js";
import type { Context } from "../deps.js";
import { type ExitCode, exitCodes, UsageError } from "../errors.js";
import { formats } from "../export/formats.js";
import { createSingerEncoder, readSingerState } from "../export/singer.js";
import { checkHistory, requireReadsWithHistory } from "../query/as-of.js";
import { openRows, type RowSelection, type RowSource } from "../query/open-rows.js";
import { type ReadableTable, withRemovedRecords } from "../query/readable-tables.js";
import { otherTablesHint } from "../query/sql-mistakes.js";
import { findReads, loadSchemaTables } from "../query/statement-reads.js";
import { checkCondition, conditionTestSql, explainRuntimeError } from "../query/user-sql.js";
import { findWrongComparisons } from "../query/wrong-comparisons.js";
import { acceptsDates } from "../resources/resource.js";
import type { Mirror } from "../store/database.js";
import { didYouMean, findOwnColumn } from "../util/suggestions.js";

/** The global flag `json` selects the output format, as `csv` does, and also prints errors as JSON. */
interface ExportFlags extends OutputFlags, GlobalFlags {
  columns?: string[];
  where?: string;
  since?: string;
  until?: string;
  limit?: number;
  asOf?: string;
  includeRemoved?: boolean;
  /** The path of the Singer state file. A state file selects the Singer format, even without `singer`. */
  state?: string;
  delta?: string;
  retain?: number;
  allProfiles?: boolean;
}

type FlagNames = readonly (keyof ExportFlags)[];

/** Singer and Delta exports always contain complete tables, so they conflict with flags that select rows. */
const selectionFlags = [
  "columns",
  "where",
  "since",
  "until",
  "limit",
  "asOf",
  "includeRemoved",
] satisfies FlagNames;
const fileFlags = ["out", "excel", "decimalComma", "delimiter"] satisfies FlagNames;
const formatFlags = formats.map(({ name }) => name);

export const about =
  "Several tables can be written to one workbook, or to a folder with one file per table (`-o exports/`). " +
  "`brandapi tables` lists tables and views.";

export const examples = {
  "brandapi export roster --csv > roster.csv": "export the roster as CSV",
  "brandapi export orders roster -o month.xlsx --since this-month":
    "write a workbook with one sheet per table",
  "brandapi export orders roster --delta lake": "create Delta tables, or add changes to existing ones",
};

export function define(command: Command): void {
  command.argument("<table...>", "tables or views, spelled with - or _");
  for (const option of createOutputOptions(formats))
    command.addOption(option.name() === "singer" ? option.conflicts(selectionFlags) : option);
  command
    .addOption(parsedOption("--columns <columns>", "columns to export, in this order", parseList))
    .option("--where <condition>", "only rows that match this SQL condition")
    .option("--since <time>", "only rows since TIME (with several tables, filters only event tables)")
    .option("--until <time>", "only rows up to TIME (see --since)")
    .addOption(parsedOption("--limit <n>", "maximum number of rows", parseCount))
    .option("--as-of <time>", "export data as of TIME (a date or month means its end)")
    .option("--include-removed", "include removed records, with `removed_at`")
    .addOption(
      new Option("--delta <folder>", "create or update Delta tables in FOLDER").conflicts([
        ...selectionFlags,
        ...fileFlags,
        ...formatFlags,
        "state",
      ]),
    )
    .addOption(
      parsedOption("--retain <duration>", "Delta: how long to keep old files (default: 7d)", parseDuration),
    )
    .addOption(allProfilesOption("Delta: export every configured brand, partitioned by `brand_id`"))
    .addOption(
      new Option("--state <file>", "Singer: export only changes since the state in FILE").conflicts([
        ...selectionFlags,
        ...formatFlags.filter((name) => name !== "singer"),
      ]),
    );
}

export async function run(
  flags: ExportFlags,
  context: Context,
  typedNames: readonly string[],
): Promise<ExitCode> {
  if (flags.delta !== undefined || flags.retain !== undefined || flags.allProfiles) {
    const { exportDeltaTables } = await import("../delta/delta-commands.js");
    return await exportDeltaTables(flags, context, typedNames);
  }
  const { deps } = context;
  const { columns, includeRemoved, limit, where } = flags;
  const names = [...new Set(typedNames.map((name) => resolveTableName(name, columns)))];
  const isSinger = flags.singer === true || flags.state !== undefined;
  const output = chooseOutput({ ...flags, singer: isSinger }, formats, deps);
  const singerState = flags.state === undefined ? {} : readSingerState(expandPath(flags.state, deps));
  const now = deps.clock.now();
  const asOfMs = parseAsOf(flags.asOf, now);
  const selection = { columns, includeRemoved, limit, where, asOfMs, ...parseRange(flags, now) };

  await withReadSession(flags, deps, async (session) => {
    const { rowSelections, readNames } = planExport(names, selection, session);
    warnAboutUnreadTables(session, readNames);
    warnAboutPartialTables(session, readNames);
    // Switch to the `--as-of` data last, because the plan and the warnings need the current data.
    if (asOfMs !== undefined) useDataAsOf(session, readNames, asOfMs);
    // The array is never empty, because the argument `<table...>` requires at least one table.
    const sources = rowSelections.map(openRows) as [RowSource, ...RowSource[]];
    const { format } = output;
    const encode =
      format.name === "singer"
        ? createSingerEncoder(session.mirror, singerState)
        : (await format.load()).encode;
    try {
      await writeTables(sources, output, session, encode);
    } catch (error) {
      throw where === undefined ? error : explainRuntimeError(error, "--where");
    }
  });
  return exitCodes.done;
}

type DateFilter = Pick<RowSelection, "since" | "until">;

/** The parsed values of the flags that select rows and columns. */
interface ExportSelection extends DateFilter, Pick<RowSelection, "columns" | "where" | "limit"> {
  includeRemoved: boolean | undefined;
  asOfMs: number | undefined;
}

interface ExportPlan {
  /** The rows to read from each table. */
  rowSelections: RowSelection[];
  /** The names of the exported tables and of those that `--where` reads. */
  readNames: string[];
}

/**
 * Checks the flags against the mirror.
 * @throws UsageError or ConfigurationError if a table, a column, the condition or the dates cannot be used
 */
function planExport(
  names: readonly string[],
  { asOfMs, columns, includeRemoved, limit, since, until, where }: ExportSelection,
  session: ReadSession,
): ExportPlan {
  const { mirror } = session;
  const tables = resolveTables(names, mirror, includeRemoved);
  for (const table of tables) checkColumns(mirror, table, columns ?? []);
  if (asOfMs !== undefined) checkHistory(names);
  const datedTables = selectDatedTables(tables, { since, until });
  const whereNames = where === undefined ? [] : resolveWhereTables(where, tables, asOfMs, session);
  const rowSelections = tables.map((table) => {
    const range = datedTables.includes(table) ? { since, until } : {};
    return { mirror, table, columns, where, limit, ...range };
  });
  return { rowSelections, readNames: [...new Set([...names, ...whereNames])] };
}

/**
 * Returns the tables and views to export, which include removed records if `--include-removed` is given.
 * @throws ConfigurationError if a table has never been read; UsageError if no table has removed records
 */
function resolveTables(names: readonly string[], mirror: Mirror, includeRemoved = false): ReadableTable[] {
  const tables = names.map((name) => resolveSyncedTable(mirror, name, { acceptsUnreadViews: true }));
  if (!includeRemoved) return tables;
  if (!tables.some(({ kind }) => kind === "current"))
    throw new UsageError(`\`--include-removed\` has no effect on ${names.join(", ")}.`, {
      hint: "omit the flag: only tables built from API records keep track of removed records",
    });
  return tables.map((table) => (table.kind === "current" ? withRemovedRecords(table) : table));
}

function checkColumns({ db }: Mirror, table: ReadableTable, names: readonly string[]): void {
  const columns = table.columns.map(({ name }) => name);
  const unknown = `Unknown column in \`${table.name}\``;
  for (const name of names) {
    if (columns.includes(name)) continue;
    if (name === "removed_at" && table.shape)
      throw new UsageError(
        `\`${table.name}\` has no \`removed_at\` column, because it contains only current records.`,
        {
          hint: `add \`--include-removed\`, or export \`${table.name}_removed\``,
        },
      );
    if (/\s/.test(name))
      throw new UsageError(`${unknown}: \`${name}\`.`, {
        hint: `separate the columns with commas: \`--columns ${name.split(/\s+/).join(",")}\``,
      });
    const own = findOwnColumn(name, table.name, columns);
    if (own !== undefined) throw new UsageError(`${unknown}: \`${name}\`.`, { hint: didYouMean(own) });
    const otherTables = otherTablesHint(name, loadSchemaTables(db), [{ name: table.name, columns }]);
    if (otherTables !== undefined) throw new UsageError(`${unknown}: \`${name}\`.`, { hint: otherTables });
    checkName(`column of \`${table.name}\``, name, columns);
  }
}

/**
 * Returns the tables that `--since` and `--until` filter. If several tables are exported, only event tables are
 * filtered, because recent events can refer to old rows in the other tables.
 * @throws UsageError if no table can be filtered
 */
function selectDatedTables(tables: readonly ReadableTable[], { since, until }: DateFilter): ReadableTable[] {
  if (since === undefined && until === undefined) return [];
  const dated = tables.filter(
    ({ date, shape }) => date !== null && (tables.length === 1 || !shape || acceptsDates(shape.resource)),
  );
  if (dated.length > 0) return dated;
  const names = tables.map(({ name }) => `\`${name}\``).join(", ");
  throw new UsageError(`There is no date column for \`--since\` and \`--until\` in ${names}.`, {
    hint: 'use `--where "…"` instead',
  });
}

/**
 * Checks the condition in `--where`. Warns about comparisons that give wrong results.
 * @returns the tables and views that the condition reads
 * @throws UsageError if SQLite rejects the condition, or if `--as-of` does not work with it
 */
function resolveWhereTables(
  where: string,
  tables: readonly ReadableTable[],
  asOfMs: number | undefined,
  session: ReadSession,
): string[] {
  const { mirror, reporter } = session;
  for (const table of tables) checkCondition(mirror, table, where);
  const names = tables.flatMap((table) => {
    const reads = findReads(mirror.db, conditionTestSql(table, where));
    return asOfMs === undefined ? (reads?.names ?? []) : requireReadsWithHistory(reads);
  });
  for (const warning of findWrongComparisons(where)) reporter.warn(warning);
  return names;
}
