import { Command, Option } from "commander";
import { UsageError } from "../errors.js";
import { parseInstant } from "../lib/times.js";
import { knownTableNames } from "../query/names.js";
import type { Context, GlobalOptions } from "./context.js";
import { parseCount, parsed, parseList, parseRange } from "./flags.js";
import { examples } from "./help.js";
import { chooseOutput, noFormat, type Output, type OutputFlags, outputFlags } from "./output.js";

interface ExportFlags extends OutputFlags, GlobalOptions {
  columns?: string[];
  where?: string;
  since?: string;
  until?: string;
  limit?: number;
  asOf?: string;
  includeRemoved?: boolean;
  state?: string;
}

export function define(context: Context): Command {
  const command = new Command("export")
    .description(
      "Several tables go into one workbook, or into a folder with one file each (`-o exports/`). " +
        "`brandapi tables` lists tables and views.",
    )
    .argument("<table...>", "tables or views, spelled with - or _");
  for (const option of outputFlags()) command.addOption(option);
  return command
    .addOption(parsed("--columns <columns>", "these columns, in this order", parseList))
    .option("--where <condition>", "rows for which this SQL condition holds")
    .option("--since <time>", "from here on; of several tables cuts those of events")
    .option("--until <time>", "up to here, likewise")
    .addOption(parsed("--limit <n>", "at most so many rows", parseCount))
    .option("--as-of <time>", "what this mirror knew then")
    .option("--include-removed", "also removed records")
    .addOption(
      new Option("--state <file>", "Singer: only what changed since the run that left it").hideHelp(),
    )
    .addHelpText(
      "after",
      examples(
        ["brandapi export roster --csv > roster.csv", "the roster as CSV"],
        ["brandapi export orders roster -o month.xlsx --since this-month", "a workbook, one sheet per table"],
      ),
    )
    .action((names: string[], _, own: Command) =>
      context.deps.killable(() => runExport(names, own.optsWithGlobals(), context)),
    );
}

async function runExport(names: readonly string[], options: ExportFlags, { deps }: Context): Promise<void> {
  const { readSettings } = await import("../config/settings.js");
  const { explainRunning, openMirrorReadOnly, openSource, withSnapshot } = await import("../query/index.js");
  const { createReporter } = await import("../ui/reporter.js");
  const { outputsOf, writeFile } = await import("./export-files.js");
  const { checkSelection, checkTableName, chooseDates, findTable, readThen } = await import("./table.js");
  const output = chooseOutput({ ...options });
  const now = deps.clock.now();
  const asOf = options.asOf === undefined ? undefined : parseInstant(options.asOf, "end", now);
  const range = parseRange(options, now);
  if (range.since !== undefined && range.since > now)
    throw new UsageError(`\`--since\` is in the future: ${options.since}.`, {
      hint: "choose a time in the past",
    });
  const selection = {
    ...options,
    ...range,
    asOf,
    includeRemoved: options.includeRemoved ?? false,
  };
  const settings = await readSettings(options, deps);
  const { dbPath } = settings;
  for (const name of names) checkTableName(name, knownTableNames());
  const mirror = await openMirrorReadOnly(dbPath);
  const reporter = createReporter(deps, settings.output);
  try {
    if (!output) throw noFormat();
    checkSinger(output, options);
    await withSnapshot(mirror, async () => {
      const found = names.map((name) => findTable(mirror, name));
      const tables = [...new Map(found.map((table) => [table.name, table])).values()];
      for (const table of tables) checkSelection(mirror, table, selection);
      const isCut = chooseDates(tables, selection);
      const outputs = outputsOf(output, tables, deps);
      try {
        if (asOf !== undefined)
          readThen(mirror, tables, { at: asOf, where: options.where, now }, reporter.warn);
        const sources = tables.map((table) =>
          openSource(mirror, {
            ...selection,
            table,
            ...(isCut(table) ? {} : { since: undefined, until: undefined }),
          }),
        );
        for (const [index, each] of outputs.entries()) {
          const [first, ...others] = outputs.length === 1 ? sources : sources.slice(index, index + 1);
          if (first)
            await writeFile([first, ...others], each, { state: options.state, dbPath, deps, reporter });
        }
      } catch (error) {
        throw options.where === undefined ? error : explainRunning(error, "--where");
      }
    });
  } finally {
    mirror.db.close();
    reporter.close();
  }
}

/** Refuses to select rows for Singer: a target cannot tell a row that was not selected from one that did not change. */
function checkSinger({ format }: Output, { state, ...options }: ExportFlags): void {
  const isSinger = format.name === "singer";
  const selecting = ["columns", "where", "since", "until", "limit", "asOf", "includeRemoved"] as const;
  const flag = selecting.find((name) => options[name] !== undefined);
  if (isSinger && flag !== undefined)
    throw new UsageError(
      `\`--singer\` sends whole tables, without \`--${flag.replace(/[A-Z]/g, (one) => `-${one.toLowerCase()}`)}\`.`,
      { hint: "leave one of them out" },
    );
  if (!isSinger && state !== undefined)
    throw new UsageError(`\`--state\` is for \`--singer\`, not for \`${format.flag}\`.`, {
      hint: "leave it out",
    });
}
