import { Command } from "commander";
import type { Settings } from "../config/settings.js";
import type { Deps } from "../deps.js";
import { UsageError } from "../errors.js";
import { counted } from "../lib/counted.js";
import type { Parameters, Row, Source } from "../query/index.js";
import { formatBytes, formatCount } from "../ui/numbers.js";
import { renderTable, tableFits } from "../ui/table.js";
import { terminalWidth } from "../ui/width.js";
import type { Context, GlobalOptions } from "./context.js";
import { parsed } from "./flags.js";
import { examples } from "./help.js";
import { chooseOutput, noFormat, type Output, type OutputFlags, outputFlags } from "./output.js";
import { parseCount, parseParameter } from "./values.js";

interface QueryFlags extends OutputFlags {
  file?: string;
  param?: Parameters;
  limit?: number;
}

/** A table is read by people, and held whole. */
const tableRows = 1_000;
const tableLetters = 5e7;

export function query(context: Context): Command {
  const command = new Command("query")
    .summary("Ask the mirror in SQL")
    .description(
      "One statement that reads: from the argument, a file or stdin. The mirror cannot be changed by it. Ctrl-C ends " +
        "it at once. Needs no key and no network. `brandapi tables` lists tables, views and " +
        "columns. The API's times are text with a `T`: compare the `day` of `orders_net` with `date('now', '-7 days')`, " +
        "and its `ordered_at` with `datetime(…)`.",
    )
    .argument("[sql]", "the statement, in quotes; without it, stdin")
    .option("-f, --file <file>", "read the statement from a file; - is stdin")
    .addOption(
      parsed(
        "-p, --param <name=value>",
        "a value for `:name` in the statement; may be given again",
        parseParameter,
      ),
    );
  // Singer sends records, and an answer has none.
  for (const option of outputFlags()) if (option.long !== "--singer") command.addOption(option);
  return command
    .addOption(
      parsed("--limit <n>", "at most so many rows (default: 1000 for a table, else all)", parseCount),
    )
    .addHelpText(
      "after",
      examples(
        ['brandapi query "SELECT * FROM sales_by_month"', "month over month"],
        [
          'brandapi query "SELECT username, orders, net_by_currency FROM hosts" --csv',
          "orders per host, as CSV",
        ],
        [
          "brandapi query -f october.sql -p month=2026-10 -o october.xlsx",
          "a statement of yours with `:month` in it, as a file",
        ],
      ),
    )
    .action((sql: string | undefined, _, own: Command) =>
      context.deps.killable(() => runQuery(sql, own.optsWithGlobals(), context)),
    );
}

async function runQuery(
  argument: string | undefined,
  options: QueryFlags & GlobalOptions,
  { deps }: Context,
): Promise<void> {
  const output = chooseOutput(options);
  if (!output && options.out !== undefined) throw noFormat();
  const { readSettings } = await import("../config/settings.js");
  const { answerSource, openMirrorReadOnly, prepareReading, readAnswer } = await import("../query/index.js");
  const { refuseKept } = await import("./kept-files.js");
  const { readSql } = await import("./sql.js");
  const settings = await readSettings(options, deps);
  const read = { flag: "-f", file: options.file === "-" ? undefined : options.file };
  refuseKept([{ flag: "-o", file: output?.path }], [read], { options, settings, deps });
  const sql = await readSql(argument, options.file, deps);
  const mirror = await openMirrorReadOnly(settings.dbPath);
  try {
    const statement = prepareReading(mirror, sql, options.param);
    const source = answerSource(mirror, statement, options.limit);
    if (output) await writeAnswer(source, output, deps, settings);
    else {
      const most = options.limit ?? tableRows;
      const names = source.columns.map(({ name }) => name);
      const rows = await holdRows(readAnswer(statement, most + 1));
      // A table is escaped cell by cell: its colours are ours.
      deps.stdout.write(await tableText(names, rows.slice(0, most), deps, settings));
      if (rows.length === 0 && !settings.output.quiet) deps.stderr.write("No rows.\n");
      if (rows.length > most && options.limit === undefined && !settings.output.quiet)
        deps.stderr.write(
          `The first ${counted(most, "row", formatCount)}; more with \`--limit\`, all with \`--csv\`.\n`,
        );
    }
  } finally {
    mirror.db.close();
  }
}

async function writeAnswer(source: Source, output: Output, deps: Deps, settings: Settings): Promise<void> {
  const { createReporter } = await import("../ui/reporter.js");
  const { openOutput, writeOutput } = await import("./data-sink.js");
  const reporter = createReporter(deps, settings.output);
  const sink = await openOutput(output, deps);
  const done = await writeOutput([source], output, { sink, deps, warn: reporter.warn });
  if (output.path !== undefined)
    reporter.note(`${counted(done.rows, "row", formatCount)}, ${formatBytes(done.bytes)}: ${output.path}`);
  reporter.close();
}

/** The widths of a table's columns need every row. */
async function holdRows(batches: Iterable<Row[]>): Promise<Row[]> {
  const { lettersOf } = await import("../query/index.js");
  const held: Row[] = [];
  let letters = 0;
  for (const rows of batches)
    for (const row of rows) {
      held.push(row);
      letters += lettersOf(row);
      if (letters > tableLetters)
        throw new UsageError("The answer is too large for a table.", {
          hint: "`--csv` and `--json` have no such limit",
        });
    }
  return held;
}

/** A table; where the terminal is too narrow for it, each row as a list of its fields. */
async function tableText(
  names: readonly string[],
  rows: readonly Row[],
  deps: Deps,
  settings: Settings,
): Promise<string> {
  const { styleFor } = await import("../ui/style.js");
  const style = styleFor(deps.stdout, settings.output, deps.env);
  const width = terminalWidth(deps.stdout);
  if (width === undefined || tableFits(names, rows, { width, none: "null" }))
    return `${renderTable(names, rows, { style, none: "null" })}\n`;
  const { renderFacts } = await import("../ui/facts.js");
  const lists = rows.map((row) =>
    renderFacts(
      names.map((name, index) => [name, String(row[index])] as const),
      { style, width },
    ),
  );
  return `${lists.join("\n\n")}\n`;
}
