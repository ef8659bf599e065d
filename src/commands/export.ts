import { type Command, Option } from "commander";
import { runForAllProfiles } from "../cli/all-profiles.js";
import { exportDeltaTables } from "../cli/delta-output.js";
import {
  allProfilesOption,
  checkName,
  parseCount,
  parsedOption,
  parseList,
  parseRange,
} from "../cli/flags.js";
import type { ReadSession } from "../cli/mirror-reading.js";
import {
  chooseOutput,
  createOutputOptions,
  noFormatError,
  type OutputChoice,
  type OutputFlags,
  readMirrorForOutput,
  reportOutput,
  tableFilePath,
  type WrittenTables,
  writeRows,
} from "../cli/output.js";
import {
  checkTableName,
  filterableTables,
  findSyncedTable,
  parseAsOf,
  useDataAsOf,
  warnAboutPartialTables,
  warnAboutUnreadTables,
  warnAboutWrongDates,
} from "../cli/table-selection.js";
import { parseDuration } from "../cli/time-flags.js";
import { expandPath } from "../config/folders.js";
import type { GlobalFlags } from "../config/settings.js";
import type { Context, Deps } from "../deps.js";
import { type ExitCode, exitCodes, UsageError } from "../errors.js";
import { type Bookmarks, formats, type RowSources } from "../export/formats.js";
import { readSingerState } from "../export/singer.js";
import { checkHistory, checkStatementHistory } from "../query/as-of.js";
import { knownTableNames, type ReadableTable, typedTables } from "../query/readable-tables.js";
import { openRows, type Selection } from "../query/select.js";
import { findReads } from "../query/statement-reads.js";
import { checkCondition, conditionSql, explainRuntimeError } from "../query/user-sql.js";
import type { Mirror } from "../store/database.js";
import { findOwnColumn } from "../util/suggestions.js";
import { views } from "../views/all-views.js";

interface ExportFlags extends OutputFlags, GlobalFlags {
  columns?: string[];
  where?: string;
  since?: string;
  until?: string;
  limit?: number;
  asOf?: string;
  includeRemoved?: boolean;
  singer?: boolean;
  /** The path of the Singer state file. This option implies `--singer`. */
  state?: string;
  delta?: string;
  retain?: number;
  allProfiles?: boolean;
}

type FlagNames = readonly (keyof ExportFlags)[];

/** Singer messages and Delta tables always contain complete tables, so they conflict with flags that select rows. */
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
  for (const option of createOutputOptions())
    command.addOption(option.name() === "singer" ? option.conflicts(selectionFlags) : option);
  command
    .addOption(parsedOption("--columns <columns>", "columns to export, in this order", parseList))
    .option("--where <condition>", "only rows that match this SQL condition")
    .option("--since <time>", "only rows since TIME (with several tables, applies only to event tables)")
    .option("--until <time>", "only rows up to TIME (see --since)")
    .addOption(parsedOption("--limit <n>", "maximum number of rows", parseCount))
    .option("--as-of <time>", "export the data as of TIME")
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

/** The flags that select rows, with parsed times. */
interface RowRequest extends Pick<ExportFlags, "columns" | "where" | "limit" | "includeRemoved"> {
  /** The bounds of the period, in milliseconds since the Unix epoch. */
  range: Pick<Selection, "since" | "until">;
  /** Milliseconds since the Unix epoch; undefined for the current data. */
  asOf: number | undefined;
}

export async function run(flags: ExportFlags, context: Context, names: readonly string[]): Promise<ExitCode> {
  if (flags.delta !== undefined) return await exportDelta(flags, context, names);
  refuseDeltaFlags(flags);
  const tables = [...new Set(names.map((name) => checkExportedName(name, flags.columns)))];
  if (flags.singer || flags.state !== undefined) await exportSinger(flags, context, tables);
  else await exportFiles(flags, context, tables);
  return exitCodes.done;
}

/** Adds a version to each Delta table that has changed. */
async function exportDelta(
  flags: ExportFlags,
  context: Context,
  names: readonly string[],
): Promise<ExitCode> {
  if (flags.allProfiles)
    return await runForAllProfiles(flags, context, (profileFlags, profileContext) =>
      exportDeltaTables(names, profileFlags, profileContext, { manyBrands: true }),
    );
  await exportDeltaTables(names, flags, context);
  return exitCodes.done;
}

/** @throws UsageError if a flag that applies only to `--delta` was passed without it */
function refuseDeltaFlags({ allProfiles, retain }: ExportFlags): void {
  if (allProfiles)
    throw new UsageError("`--all-profiles` applies only to `--delta`.", {
      hint: "add `--delta FOLDER`, or export one brand with `--profile NAME`",
    });
  if (retain !== undefined)
    throw new UsageError("`--retain` applies only to `--delta`.", {
      hint: "add `--delta FOLDER`, or omit `--retain`",
    });
}

/** Writes complete tables, or the changes since the state in `--state`, as one stream of Singer messages. */
async function exportSinger(flags: ExportFlags, { deps }: Context, tables: readonly string[]): Promise<void> {
  const output = requireOutput({ ...flags, singer: true }, deps);
  const bookmarks = flags.state === undefined ? undefined : readSingerState(expandPath(flags.state, deps));
  await readMirrorForOutput(flags, deps, output, async (session) => {
    const selections = tables.map((name) => ({ table: findSyncedTable(session.mirror, name) }));
    warnAboutPartialTables(session, tables);
    await writeTables(selections, output, session, bookmarks);
  });
}

/** Writes the selected rows to a single file, to stdout, or to one file per table. */
async function exportFiles(flags: ExportFlags, { deps }: Context, tables: readonly string[]): Promise<void> {
  const output = requireOutput(flags, deps);
  const now = deps.clock.now();
  const request = { ...flags, asOf: parseAsOf(flags.asOf, now), range: parseRange(flags, now) };
  await readMirrorForOutput(flags, deps, output, async (session) => {
    const selections = selectRows(tables, request, session);
    try {
      await writeTables(selections, output, session);
    } catch (error) {
      throw request.where === undefined ? error : explainRuntimeError(error, "--where");
    }
  });
}

/** @throws UsageError if neither a format nor a file was specified */
function requireOutput(flags: OutputFlags, deps: Deps): OutputChoice {
  const output = chooseOutput(flags, deps);
  if (!output) throw noFormatError();
  return output;
}

/**
 * Returns the name of a table or view.
 * @throws UsageError if the name is unknown, or if it is a column that belongs in `--columns`
 */
function checkExportedName(typed: string, columns: readonly string[] | undefined): string {
  const isColumn = [...typedTables(), ...views].some((table) =>
    table.columns.some(({ name }) => name === typed),
  );
  if (columns !== undefined && isColumn && !knownTableNames().includes(typed))
    throw new UsageError(`\`${typed}\` is a column, not a table.`, {
      hint: `separate the columns with commas: \`--columns ${[...columns, typed].join(",")}\``,
    });
  return checkTableName(typed);
}

/**
 * Selects the rows of each table, warns about data that is missing, and switches this connection to the data as of
 * `--as-of`.
 * @throws UsageError if a flag does not apply to the tables
 */
function selectRows(names: readonly string[], request: RowRequest, session: ReadSession): Selection[] {
  const { columns, where, range, limit, asOf, includeRemoved = false } = request;
  const { mirror, reporter } = session;
  const tables = names.map((name) => findSyncedTable(mirror, name, { includeRemoved }));
  if (includeRemoved && tables.every(({ sources }) => sources.length === 1))
    throw new UsageError(`\`--include-removed\` makes no difference to ${names.join(", ")}.`, {
      hint: "omit the flag: only tables built from API records keep track of removed records",
    });
  for (const table of tables) {
    checkColumns(table, columns ?? []);
    if (asOf !== undefined) checkHistory([table.name]);
    if (where !== undefined) checkCondition(mirror, table, where);
  }
  const filterable = filterableTables(tables, range);
  const conditionTables = where === undefined ? [] : findConditionTables(tables, where, asOf, mirror);
  if (where !== undefined) warnAboutWrongDates(reporter, where);
  warnAboutUnreadTables(session, conditionTables);
  const readTables = [...new Set([...names, ...conditionTables])];
  warnAboutPartialTables(session, readTables);
  // `useDataAsOf` creates temporary tables that shadow the real tables, so the checks must come first.
  if (asOf !== undefined) useDataAsOf(session, readTables, asOf);
  return tables.map((table) => ({
    table,
    columns,
    where,
    limit,
    ...(filterable.includes(table) ? range : {}),
  }));
}

/** Returns the tables and views that `--where` reads. */
function findConditionTables(
  tables: readonly ReadableTable[],
  where: string,
  asOf: number | undefined,
  { db }: Mirror,
): string[] {
  const names = tables.flatMap((table) => {
    const reads = findReads(db, conditionSql(table, where));
    return asOf === undefined ? (reads?.names ?? []) : checkStatementHistory(reads);
  });
  return [...new Set(names)];
}

function checkColumns(table: ReadableTable, names: readonly string[]): void {
  const columns = table.columns.map(({ name }) => name);
  for (const name of names) {
    if (name === "removed_at" && table.shape && !columns.includes(name))
      throw new UsageError(`\`${table.name}\` has no \`removed_at\`: it has current records only.`, {
        hint: `add \`--include-removed\`, or export \`${table.name}_removed\``,
      });
    if (/\s/.test(name))
      throw new UsageError(`Unknown column in \`${table.name}\`: \`${name}\`.`, {
        hint: `separate the columns with commas: \`--columns ${name.split(/\s+/).join(",")}\``,
      });
    const own = columns.includes(name) ? undefined : findOwnColumn(name, table.name, columns);
    if (own !== undefined)
      throw new UsageError(`Unknown column in \`${table.name}\`: \`${name}\`.`, {
        hint: `did you mean \`${own}\`?`,
      });
    checkName(`column of \`${table.name}\``, name, columns);
  }
}

/** Writes all tables to one file if the format allows it; otherwise writes one file per table. */
async function writeTables(
  selections: readonly Selection[],
  output: OutputChoice,
  session: ReadSession,
  bookmarks?: Bookmarks,
): Promise<void> {
  const [first, ...others] = selections.map((selection) => openRows(session.mirror, selection));
  if (!first) return;
  const sources: RowSources = [first, ...others];
  const written: WrittenTables[] = [];
  if (!output.isFolder && (others.length === 0 || output.format.isMultiTable)) {
    written.push(await writeRows(sources, output, session, bookmarks));
  } else {
    for (const source of sources) {
      const path = tableFilePath(output, source.name, session.deps);
      written.push(await writeRows([source], { ...output, path }, session));
    }
  }
  if (output.path !== undefined) reportOutput(output.path, written, session);
}
