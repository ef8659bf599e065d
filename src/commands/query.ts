import type { Settings } from "../config.js";
import { counted } from "../counted.js";
import type { Deps } from "../deps.js";
import { exitCodes, UsageError } from "../errors.js";
import type { QueryCell } from "../export/query.js";
import { parseDuration } from "../times.js";
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
/** A table is read by people, and its widths need every row. */
const tableRows = 1_000;

export const query = defineCommand<QueryFlags>({
  name: "query",
  summary: "Ask the mirror in SQL",
  description:
    "One statement that reads. The mirror cannot be changed by it, and a query that takes " +
    "too long is stopped. Needs no key and no network.",
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
      command: 'brandapi query "SELECT currency, sum(total_amount) FROM orders GROUP BY 1"',
      about: "sales per currency",
    },
    {
      command: 'brandapi query "SELECT host_id, count(*) FROM orders GROUP BY 1" --csv',
      about: "orders per host, as CSV",
    },
    { command: 'brandapi query "PRAGMA table_info(orders)"', about: "the columns of a table" },
  ],

  async run({ deps, args, options }) {
    if (options.csv && options.json)
      throw new UsageError("One format at a time, not `--csv` and `--json`.", {
        hint: "leave one of them out",
      });
    const format = options.csv ? "csv" : options.json ? "json" : "table";
    const { readSettings } = await import("../config.js");
    const { readRows, startQuery } = await import("../export/query.js");
    const { ReaderGone, streamSink } = await import("../export/sink.js");
    const { openMirrorReadOnly, prepareReading } = await import("../query/index.js");
    const { dataSink } = await import("./data-sink.js");
    const settings = await readSettings(options, deps);
    const sql = args[0] ?? "";
    const mirror = await openMirrorReadOnly(settings.dbPath);
    let names: string[];
    try {
      const columns = prepareReading(mirror, sql).columns();
      names = distinct(columns.map(({ name }) => name));
    } finally {
      mirror.db.close();
    }
    const query = startQuery(
      {
        path: mirror.path,
        sql,
        names,
        limit: options.limit ?? (format === "table" ? tableRows : null),
        format: format === "table" ? "rows" : format,
      },
      { timeoutMs: options.timeout ?? defaultTimeoutMs, clock: deps.clock, signal: deps.signal },
    );
    // A table is escaped cell by cell: its colours are ours.
    const sink = format === "table" ? streamSink(deps.stdout, deps.signal) : dataSink(deps);
    try {
      if (format === "table") {
        const rows: QueryCell[][] = [];
        for await (const row of readRows(query.answer)) rows.push(row);
        const more = await query.ended;
        await sink.write(await tableText(names, rows, deps, settings));
        if (more && options.limit === undefined && !settings.output.quiet)
          deps.stderr.write(
            `The first ${counted(rows.length, "row", formatCount)}; more with \`--limit\`, all with \`--csv\`.\n`,
          );
      } else for await (const piece of query.answer) await sink.write(piece as Buffer);
      await query.ended;
      await sink.finish();
    } catch (error) {
      await sink.discard();
      // A reader that leaves ends it quietly.
      if (!(error instanceof ReaderGone)) throw error;
    } finally {
      query.stop();
      await query.ended.catch(() => {});
    }
    return exitCodes.done;
  },
});

async function tableText(
  names: readonly string[],
  rows: readonly QueryCell[][],
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
