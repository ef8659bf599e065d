import { existsSync } from "node:fs";
import { Command, Option } from "commander";
import { UsageError } from "../errors.js";
import { parseInstant } from "../lib/times.js";
import { knownTableNames } from "../query/names.js";
import type { Context, GlobalOptions } from "./context.js";
import { parseCount, parsed, parseList, parseRange } from "./flags.js";
import { examples } from "./help.js";
import { chooseOutput, noFormat, type Output, type OutputFlags, outputFlags } from "./output.js";

interface ExportFlags extends OutputFlags {
  columns?: string[];
  where?: string;
  since?: string;
  until?: string;
  limit?: number;
  asOf?: string;
  includeRemoved?: boolean;
  state?: string;
}

export function exportTables(context: Context): Command {
  const command = new Command("export")
    .summary("Turn tables of the mirror into files or stdout")
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

async function runExport(
  args: readonly string[],
  options: ExportFlags & GlobalOptions,
  { deps }: Context,
): Promise<void> {
  const now = deps.clock.now();
  const { since, until } = parseRange(options, now);
  if (since !== undefined && since > now)
    throw new UsageError(`\`--since\` is in the future: ${options.since}.`, {
      hint: "choose a time in the past",
    });
  const asOf = options.asOf === undefined ? undefined : parseInstant(options.asOf, "end", now);
  const { columns, where, limit, includeRemoved = false } = options;
  const selection = { columns, where, limit, includeRemoved, since, until, asOf };
  const output = chooseOutput(options);
  const { readSettings } = await import("../config/settings.js");
  const { explainRunning, listTables, openMirrorReadOnly, openSource, withSnapshot } = await import(
    "../query/index.js"
  );
  const { createReporter } = await import("../ui/reporter.js");
  const { checkSelection, checkTableName, chooseDates, findTable, readThen } = await import("./table.js");
  const { refuseKept } = await import("./kept-files.js");
  const { outputsOf, writeFile } = await import("./write-tables.js");
  const settings = await readSettings(options, deps);
  // An unknown table is reported first, then a missing format.
  const checkRequest = (names: readonly string[]): Output => {
    for (const name of args) checkTableName(name, names);
    if (!output) throw noFormat();
    checkSinger(output, options);
    return output;
  };
  if (!existsSync(settings.dbPath)) checkRequest(knownTableNames());
  const mirror = await openMirrorReadOnly(settings.dbPath);
  const reporter = createReporter(deps, settings.output);
  try {
    const checked = checkRequest([...listTables(mirror), ...knownTableNames()]);
    await withSnapshot(mirror, async () => {
      const tables = [...new Set(args)].map((name) => findTable(mirror, name));
      for (const table of tables) checkSelection(mirror, table, selection);
      const isCut = chooseDates(tables, selection);
      const outputs = outputsOf(checked, tables, deps);
      const written = [options.state, ...outputs.map(({ path }) => path)];
      refuseKept(
        written.map((file, index) => ({ flag: index === 0 ? "--state" : "-o", file })),
        [],
        { options, settings, deps },
      );
      try {
        if (asOf !== undefined) readThen(mirror, tables, { at: asOf, where, now }, reporter.warn);
        const sources = tables.map((table) =>
          openSource(mirror, {
            ...selection,
            table,
            ...(isCut(table) ? {} : { since: undefined, until: undefined }),
          }),
        );
        for (const [index, each] of outputs.entries()) {
          const [first, ...others] = outputs.length === 1 ? sources : sources.slice(index, index + 1);
          if (first) await writeFile([first, ...others], each, { state: options.state, deps, reporter });
        }
      } catch (error) {
        throw explainRunning(error, where);
      }
    });
  } finally {
    mirror.db.close();
    reporter.close();
  }
}

/** Refuses to select rows for Singer: a target cannot tell a row that was not selected from one that did not change. */
function checkSinger({ format }: Output, options: ExportFlags): void {
  const selecting = ["columns", "where", "since", "until", "limit", "asOf", "includeRemoved"] as const;
  const asked = selecting.find((name) => options[name] !== undefined);
  const flag = asked?.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  if (format.name === "singer" && flag !== undefined)
    throw new UsageError(`\`--singer\` sends whole tables, without \`--${flag}\`.`, {
      hint: "leave one of them out",
    });
  if (format.name !== "singer" && options.state !== undefined)
    throw new UsageError(`\`--state\` is for \`--singer\`, not for \`${format.flag}\`.`, {
      hint: "leave one of them out",
    });
}
