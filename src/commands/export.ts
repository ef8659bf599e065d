import { existsSync } from "node:fs";
import { Command, Option } from "commander";
import { UsageError } from "../errors.js";
import { parseInstant } from "../lib/times.js";
import { knownTableNames, syncedBy, typedTables, viewNames } from "../query/names.js";
import { resources } from "../resources/index.js";
import type { Resource } from "../resources/types.js";
import type { Context, GlobalOptions } from "./context.js";
import { parsed } from "./flags.js";
import { examples, notes } from "./help.js";
import { chooseOutput, noFormat, type Output, type OutputFlags, outputFlags } from "./output.js";
import { parseCount, parseList, parseRange } from "./values.js";

interface ExportFlags extends OutputFlags {
  columns?: string[];
  where?: string;
  since?: string;
  until?: string;
  limit?: number;
  asOf?: string;
  includeRemoved?: boolean;
  partitionBy?: string;
  state?: string;
}

export function exportTables(context: Context): Command {
  const command = new Command("export")
    .summary("Turn tables of the mirror into files or stdout")
    .description(
      "Needs no key and no network. JSON and NDJSON give each record exactly as the API sent it; with --columns, " +
        "and for tables whose rows are only parts of a record, objects of their columns. Several tables go into " +
        "one workbook (`-o FILE.xlsx`), one Singer stream, or a folder with a file each (`-o exports/`).",
    )
    .argument("<table...>", "spelled with - or _");
  for (const option of outputFlags()) command.addOption(option);
  return command
    .addOption(parsed("--columns <columns>", "these columns, in this order, commas between", parseList))
    .option("--where <condition>", "rows for which this SQL condition holds")
    .option("--since <time>", "rows from here on, by the table's main date")
    .option("--until <time>", "rows up to here, by the table's main date")
    .addOption(parsed("--limit <n>", "at most so many rows", parseCount))
    .option("--as-of <time>", "the records, or a view of them, as this mirror knew them then")
    .option("--include-removed", "also records that the API no longer returns")
    .addOption(
      new Option(
        "--partition-by <part>",
        "Parquet as a folder with one file a month, of which only changed ones are written again",
      ).choices(["month"]),
    )
    .option(
      "--state <file>",
      "Singer: send what changed since the run that left this file, and replace it at the end",
    )
    .addHelpText("after", notes("Tables and views", tableLines()))
    .addHelpText(
      "after",
      examples(
        ["brandapi export roster --csv > roster.csv", "the roster as CSV"],
        [
          "brandapi export orders roster -o month.xlsx --since this-month",
          "a workbook for Excel, a sheet a table",
        ],
        [
          "brandapi export orders --parquet --partition-by month -o lake",
          "a folder for DuckDB, Spark, BigQuery: only changed months are written again",
        ],
      ),
    )
    .action((names: string[], _, own: Command) =>
      context.deps.killable(() => runExport(names, own.optsWithGlobals(), context)),
    );
}

async function runExport(
  args: readonly string[],
  options: ExportFlags & GlobalOptions,
  { deps }: Context,
): Promise<void> {
  const now = deps.clock.now();
  const range = parseRange(options, now);
  const asOf = options.asOf === undefined ? undefined : parseInstant(options.asOf, "end", now);
  const includeRemoved = options.includeRemoved ?? false;
  const { columns, where, limit } = options;
  const selection = { columns, where, limit, ...range, asOf, includeRemoved };
  const output = chooseOutput(options);
  const { readSettings } = await import("../config/settings.js");
  const { explainRunning, listTables, openMirrorReadOnly, openSource, withSnapshot } = await import(
    "../query/index.js"
  );
  const { createReporter } = await import("../ui/reporter.js");
  const { besideMonth, checkSelection, checkTableName, findTable, readThen } = await import("./table.js");
  const { refuseKept } = await import("./kept-files.js");
  const { arrange, filesOf, writeTables } = await import("./write-tables.js");
  const settings = await readSettings(options, deps);
  const reporter = createReporter(deps, settings.output);
  const writing = { state: options.state, deps, reporter };
  // A name that no mirror could hold is the first thing to say, then a format that is missing.
  const checkRequest = (names: readonly string[]) => {
    for (const name of args) checkTableName(name, names);
    if (!output) throw noFormat();
    const byMonth = options.partitionBy !== undefined;
    checkSinger(output, options);
    return { output, arrangement: arrange(output, { tables: args.length, byMonth, limit }, deps) };
  };
  if (!existsSync(settings.dbPath)) checkRequest(knownTableNames());
  const mirror = await openMirrorReadOnly(settings.dbPath);
  try {
    const { output, arrangement } = checkRequest([...listTables(mirror), ...knownTableNames()]);
    await withSnapshot(mirror, async () => {
      const tables = args.map((name) => findTable(mirror, name));
      for (const table of tables) checkSelection(mirror, table, selection);
      try {
        const request = { at: asOf ?? 0, where, now };
        const names = tables.map(({ name }) => name).join(", ");
        if (asOf !== undefined)
          readThen(mirror, tables, request, (text) => reporter.warn(`${names}: ${text}`));
        const [first, ...others] = tables.map((table) =>
          openSource(mirror, {
            ...selection,
            table,
            columns: arrangement === "months" ? besideMonth(table, columns) : columns,
          }),
        );
        const files = filesOf(output, arrangement, tables).map((file) => ({ flag: "-o", file }));
        const state = { flag: "--state", file: options.state };
        refuseKept([state, ...files], [], { options, settings, deps });
        if (first) await writeTables([first, ...others], arrangement, { ...writing, output });
      } catch (error) {
        throw explainRunning(error, where);
      }
    });
  } finally {
    mirror.db.close();
    reporter.close();
  }
}

/** Singer sends whole tables: a target could not tell a row that was not selected from one that is the same. */
function checkSinger({ format }: Output, options: ExportFlags): void {
  const selecting = ["columns", "where", "since", "until", "limit", "asOf", "includeRemoved"] as const;
  const asked = selecting.find((name) => options[name] !== undefined);
  const flag = asked?.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  if (format.name === "singer" && flag !== undefined)
    throw new UsageError(`\`--singer\` sends whole tables, so there is no \`--${flag}\`.`, {
      hint: "leave one of them out",
    });
  if (format.name !== "singer" && options.state !== undefined)
    throw new UsageError(`\`--state\` is for \`--singer\`, not for \`${format.flag}\`.`, {
      hint: "leave one of them out",
    });
}

/** What can be exported: a line for each resource that sync takes, then the views and the mirror's own tables. */
function tableLines(): string[] {
  const typed = typedTables();
  const namesOf = (resource: Resource) =>
    typed.filter((shape) => syncedBy(shape.resource) === resource).map(({ name }) => name);
  const lines = resources.map((resource) => `${resource.name}: ${namesOf(resource).join(", ")}`);
  const known = new Set([...typed.map(({ name }) => name), ...viewNames]);
  const own = knownTableNames().filter((name) => !known.has(name));
  return [...lines, `views: ${viewNames.join(", ")}`, `the mirror's own: ${own.join(", ")}`];
}
