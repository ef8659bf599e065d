import { exitCodes, UsageError } from "../errors.js";
import { parseDuration } from "../times.js";
import { defineCommand } from "./command.js";
import { parseCount } from "./values.js";

interface QueryFlags {
  csv?: boolean;
  limit?: number;
  timeout?: number;
}

const defaultTimeoutMs = 30_000;

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
    const { readSettings } = await import("../config.js");
    const { printQuery } = await import("./query-run.js");
    const settings = await readSettings(options, deps);
    await printQuery({
      deps,
      settings,
      sql: args[0] ?? "",
      format: options.csv ? "csv" : options.json ? "json" : "table",
      limit: options.limit,
      timeoutMs: options.timeout ?? defaultTimeoutMs,
    });
    return exitCodes.done;
  },
});
