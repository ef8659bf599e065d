import { existsSync } from "node:fs";
import { counted } from "../counted.js";
import { exitCodes } from "../errors.js";
import { knownTableNames, syncedBy, typedTables, viewNames } from "../query/names.js";
import { resources } from "../resources/index.js";
import type { Resource } from "../resources/types.js";
import { parseInstant } from "../times.js";
import { formatBytes, formatCount } from "../ui/numbers.js";
import { defineCommand, type Flag } from "./command.js";
import { apartIfLarge } from "./large.js";
import { chooseOutput, noFormat, type OutputFlags, outputFlags, refuseMirror } from "./output.js";
import { parseCount, parseList, parseRange } from "./values.js";

interface ExportFlags extends OutputFlags {
  columns?: string[];
  where?: string;
  since?: string;
  until?: string;
  limit?: number;
  asOf?: string;
  includeRemoved?: boolean;
}

const exportFlags: readonly Flag[] = [
  ...outputFlags,
  {
    flags: "--columns <names>",
    about: "these columns, in this order, commas between",
    parse: parseList,
    values: "columns",
    isList: true,
  },
  { flags: "--where <condition>", about: "rows for which this SQL condition holds" },
  { flags: "--since <time>", about: "rows from here on, by the table's main date" },
  { flags: "--until <time>", about: "rows up to here, by the table's main date" },
  { flags: "--limit <n>", about: "at most so many rows", parse: parseCount },
  { flags: "--as-of <time>", about: "the records, or a view of them, as this mirror knew them then" },
  { flags: "--include-removed", about: "also records that the API no longer returns" },
];

export const exportTable = defineCommand<ExportFlags>({
  name: "export",
  summary: "Turn a table of the mirror into a file or stdout",
  description:
    "Needs no key and no network. JSON and NDJSON give each record exactly as the API sent it; with --columns, " +
    "and for tables whose rows are only parts of a record, objects of their columns.",
  notes: { heading: "Tables and views", lines: tableLines() },
  arguments: [{ syntax: "<table>", about: "spelled with - or _" }],
  flags: exportFlags,
  examples: [
    { command: "brandapi export roster --csv > roster.csv", about: "the roster as CSV" },
    {
      command: "brandapi export orders -o orders.csv --since 2026-01-01 --excel",
      about: "this year's orders, for Excel",
    },
    {
      command: "brandapi export orders --ndjson | jq .host.username",
      about: "records in the API's own shape",
    },
  ],

  async apart(invocation) {
    const { args, options } = invocation;
    if (options.where !== undefined) return {};
    // A whole table is read batch by batch; anything else can keep SQLite busy before the first row comes.
    const { since, until, asOf } = options;
    const isWhole = typedTables().some(({ name }) => name === args[0]?.replaceAll("-", "_").toLowerCase());
    return isWhole && (since ?? until ?? asOf) === undefined ? undefined : apartIfLarge(invocation);
  },

  async run({ deps, args, options }) {
    const now = deps.clock.now();
    const range = parseRange(options, now);
    const asOf = options.asOf === undefined ? undefined : parseInstant(options.asOf, "end", now);
    const includeRemoved = options.includeRemoved ?? false;
    const { columns, where, limit } = options;
    const selection = { columns, where, limit, ...range, asOf, includeRemoved };
    const tableName = args[0] ?? "";
    const output = chooseOutput(options);
    const { readSettings } = await import("../config.js");
    const { explainRunning, listTables, openMirrorReadOnly, openSource, withSnapshot } = await import(
      "../query/index.js"
    );
    const { createReporter } = await import("../ui/reporter.js");
    const { openOutput, writeOutput } = await import("./data-sink.js");
    const { checkSelection, checkTableName, findTable, readThen } = await import("./table.js");
    const settings = await readSettings(options, deps);
    const { clock } = deps;
    const reporter = createReporter(deps, settings.output);
    const started = clock.monotonic();
    if (output?.path) refuseMirror(output.path, settings.dbPath, deps);
    // A name that no mirror could hold is the first thing to say, then a format that is missing.
    if (!existsSync(settings.dbPath)) {
      checkTableName(tableName, knownTableNames());
      if (!output) throw noFormat();
    }
    const mirror = await deps.mortally(() => openMirrorReadOnly(settings.dbPath));
    try {
      checkTableName(tableName, [...listTables(mirror), ...knownTableNames()]);
      if (!output) throw noFormat();
      await withSnapshot(mirror, async () => {
        const table = findTable(mirror, tableName);
        checkSelection(mirror, table, selection);
        const sink = await openOutput(output, deps);
        try {
          const warn = (text: string) => reporter.warn(`${table.name}: ${text}`);
          if (asOf !== undefined) readThen(mirror, table, { at: asOf, where, now: clock.now() }, warn);
          const source = openSource(mirror, { ...selection, table });
          const done = await writeOutput(source, output, { sink, deps, warn });
          const took = `${((clock.monotonic() - started) / 1_000).toFixed(1)}s`;
          if (output.path !== undefined)
            reporter.note(
              `${table.name}: ${counted(done.rows, "row", formatCount)}, ${formatBytes(done.bytes)} in ${took}: ${output.path}`,
            );
        } catch (error) {
          await sink.discard();
          throw explainRunning(error, where);
        }
      });
    } finally {
      mirror.db.close();
      reporter.close();
    }
    return exitCodes.done;
  },
});

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
