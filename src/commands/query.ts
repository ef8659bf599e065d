import type { Settings } from "../config/settings.js";
import type { Deps } from "../deps.js";
import { exitCodes, Incomplete, UsageError } from "../errors.js";
import { counted } from "../lib/counted.js";
import { formatSpan, parseDuration } from "../lib/times.js";
import type { Parameters, Row, Source } from "../query/index.js";
import { formatBytes, formatCount } from "../ui/numbers.js";
import { renderTable, tableFits } from "../ui/table.js";
import { terminalWidth } from "../ui/width.js";
import { defineCommand } from "./command.js";
import { chooseOutput, noFormat, type Output, type OutputFlags, outputFlags } from "./output.js";
import { parseCount, parseParameter } from "./values.js";

interface QueryFlags extends OutputFlags {
  file?: string;
  param?: Parameters;
  limit?: number;
  timeout?: number;
}

const defaultTimeoutMs = 30_000;
/** A table is read by people, and held whole. */
const tableRows = 1_000;
const tableLetters = 5e7;

export const query = defineCommand<QueryFlags>({
  name: "query",
  summary: "Ask the mirror in SQL",
  description:
    "One statement that reads: from the argument, a file or stdin. The mirror cannot be changed by it, and a query " +
    "that takes too long is stopped. Needs no key and no network. `brandapi tables` lists tables, views and " +
    "columns. The API's times are text with a `T`: compare the `day` of `orders_net` with `date('now', '-7 days')`, " +
    "and its `ordered_at` with `datetime(…)`.",
  arguments: [{ syntax: "[sql]", about: "the statement, in quotes; without it, stdin" }],
  flags: [
    { flags: "-f, --file <file>", about: "read the statement from a file; - is stdin" },
    {
      flags: "-p, --param <name=value>",
      about: "a value for `:name` in the statement; may be given again",
      parse: parseParameter,
    },
    // Singer is told of records, and an answer is none.
    ...outputFlags.filter(({ flags }) => flags !== "--singer"),
    {
      flags: "--limit <n>",
      about: "at most so many rows (default: 1000 for a table, else all)",
      parse: parseCount,
    },
    {
      flags: "--timeout <duration>",
      about: "stop the query after this long",
      parse: parseTimeout,
      shown: "30s",
    },
  ],
  examples: [
    {
      command: 'brandapi query "SELECT * FROM sales_by_month"',
      about: "month over month",
    },
    {
      command: 'brandapi query "SELECT username, orders, net_by_currency FROM hosts" --csv',
      about: "orders per host, as CSV",
    },
    {
      command: "brandapi query -f october.sql -p month=2026-10 -o october.xlsx",
      about: "a statement of yours with `:month` in it, as a file",
    },
  ],

  async apart({ options: { timeout = defaultTimeoutMs } }) {
    const error = new Incomplete(`The query took longer than ${formatSpan(timeout)}.`, {
      hint: "give it more with `--timeout 5m`, or ask for less",
    });
    return { deadline: { ms: timeout, error } };
  },

  async run({ deps, args, options }) {
    const output = chooseOutput(options);
    if (!output && options.out !== undefined) throw noFormat();
    const { readSettings } = await import("../config/settings.js");
    const { answerSource, openMirrorReadOnly, prepareReading, readAnswer } = await import(
      "../query/index.js"
    );
    const { refuseKept } = await import("./kept-files.js");
    const { readSql } = await import("./sql.js");
    const settings = await readSettings(options, deps);
    const read = { flag: "-f", file: options.file === "-" ? undefined : options.file };
    refuseKept([{ flag: "-o", file: output?.path }], [read], { options, settings, deps });
    const sql = await readSql(args[0], options.file, deps);
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
    return exitCodes.done;
  },
});

/** In no time there is no answer, and what was printed would come with an error. */
function parseTimeout(text: string): number {
  const ms = parseDuration(text);
  if (ms > 0) return ms;
  throw new UsageError("A query takes some time: `--timeout` is 0.", {
    hint: "use for example `30s` or `5m`",
  });
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
