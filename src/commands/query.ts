import type { Settings } from "../config.js";
import { counted } from "../counted.js";
import type { Deps } from "../deps.js";
import { exitCodes, Incomplete, UsageError } from "../errors.js";
import type { AnswerRow } from "../query/index.js";
import { formatSpan, parseDuration } from "../times.js";
import { formatCount } from "../ui/numbers.js";
import { renderTable } from "../ui/table.js";
import { defineCommand } from "./command.js";
import { parseCount } from "./values.js";

interface QueryFlags {
  csv?: boolean;
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
    "One statement that reads. The mirror cannot be changed by it, and a query that takes " +
    "too long is stopped. Needs no key and no network. The API's times are text with a `T`: compare the `day` " +
    "of `orders_net` with `date('now', '-7 days')`, and its `ordered_at` with `datetime(…)`.",
  arguments: [{ syntax: "<sql>", about: "the statement, in quotes" }],
  flags: [
    { flags: "--csv", about: "CSV on stdout" },
    { flags: "--json", about: "a JSON array of objects on stdout" },
    {
      flags: "--limit <n>",
      about: "at most so many rows (default: 1000 for a table, else all)",
      parse: parseCount,
    },
    {
      flags: "--timeout <duration>",
      about: "stop the query after this long",
      parse: parseDuration,
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
    { command: 'brandapi query "PRAGMA table_info(orders)"', about: "the columns of a table" },
  ],

  async apart({ options: { timeout = defaultTimeoutMs } }) {
    const error = new Incomplete(`The query took longer than ${formatSpan(timeout)}.`, {
      hint: "give it more with `--timeout 5m`, or ask for less",
    });
    return { deadline: { ms: timeout, error } };
  },

  async run({ deps, args, options }) {
    if (options.csv && options.json)
      throw new UsageError("One format at a time, not `--csv` and `--json`.", {
        hint: "leave one of them out",
      });
    const { readSettings } = await import("../config.js");
    const { openMirrorReadOnly, prepareReading, readAnswer } = await import("../query/index.js");
    const settings = await readSettings(options, deps);
    const mirror = await openMirrorReadOnly(settings.dbPath);
    try {
      const statement = prepareReading(mirror, args[0] ?? "");
      const names = distinct(statement.columns().map(({ name }) => name));
      if (options.csv || options.json) {
        const { answerWriters } = await import("../export/answer.js");
        const { runExport } = await import("../export/run.js");
        const { dataSink } = await import("./data-sink.js");
        const write = answerWriters[options.csv ? "csv" : "json"];
        await runExport(write(names, readAnswer(statement, options.limit)), dataSink(deps), deps);
      } else {
        const most = options.limit ?? tableRows;
        const rows = await holdRows(readAnswer(statement, most + 1));
        // A table is escaped cell by cell: its colours are ours.
        deps.stdout.write(await tableText(names, rows.slice(0, most), deps, settings));
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

/** The widths of a table's columns need every row. */
async function holdRows(batches: Iterable<AnswerRow[]>): Promise<AnswerRow[]> {
  const { lettersOf } = await import("../query/index.js");
  const held: AnswerRow[] = [];
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

async function tableText(
  names: readonly string[],
  rows: readonly AnswerRow[],
  deps: Deps,
  settings: Settings,
): Promise<string> {
  const { styleFor } = await import("../ui/style.js");
  const style = styleFor(deps.stdout, settings.output, deps.env);
  const width = deps.stdout.isTTY ? deps.stdout.columns : undefined;
  return `${renderTable(names, rows, { width, style, none: "null" })}\n`;
}

/** Two columns of one name would be one member of a JSON object. */
function distinct(names: readonly string[]): string[] {
  const taken = new Set<string>();
  return names.map((name) => {
    let free = name;
    for (let n = 2; taken.has(free); n++) free = `${name}_${n}`;
    taken.add(free);
    return free;
  });
}
