import { existsSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import { counted } from "../counted.js";
import type { Deps } from "../deps.js";
import { exitCodes, UsageError } from "../errors.js";
import type { Format } from "../export/format.js";
import { formats } from "../export/formats/index.js";
import { expandPath } from "../paths.js";
import { knownTableNames, syncedBy, typedTables, viewNames } from "../query/names.js";
import { resources } from "../resources/index.js";
import type { Resource } from "../resources/types.js";
import { parseInstant } from "../times.js";
import { formatBytes, formatCount } from "../ui/numbers.js";
import { defineCommand, type Flag } from "./command.js";
import { apartIfLarge } from "./large.js";
import { parseCount, parseList, parseRange } from "./values.js";

interface ExportFlags {
  out?: string;
  csv?: boolean;
  ndjson?: boolean;
  excel?: boolean;
  columns?: string[];
  where?: string;
  since?: string;
  until?: string;
  limit?: number;
  asOf?: string;
  includeRemoved?: boolean;
}

/** What `-o` may call stdout: opened by its name, it would be written beside and renamed. */
const stdoutNames = ["-", "/dev/stdout", "/dev/fd/1"];

const exportFlags: readonly Flag[] = [
  ...formats.map(({ flag, about }) => ({ flags: flag, about })),
  { flags: "-o, --out <file>", about: "write a file, whole or not at all, instead of stdout" },
  { flags: "--excel", about: "CSV that Excel opens safely: BOM, CRLF, formulas made text" },
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
    const out = stdoutNames.includes(options.out ?? "-") ? undefined : options.out;
    const { readSettings } = await import("../config.js");
    const { openFileSink } = await import("../export/file-sink.js");
    const { runExport } = await import("../export/run.js");
    const { explainRunning, listTables, openMirrorReadOnly, openSource, withSnapshot } = await import(
      "../query/index.js"
    );
    const { createReporter } = await import("../ui/reporter.js");
    const { dataSink } = await import("./data-sink.js");
    const { checkSelection, checkTableName, findTable, readThen } = await import("./table.js");
    const settings = await readSettings(options, deps);
    const { clock } = deps;
    const reporter = createReporter(deps, settings.output);
    const started = clock.monotonic();
    if (out) refuseMirror(out, settings.dbPath, deps);
    // A name that no mirror could hold is the first thing to say, then a format that is missing.
    if (!existsSync(settings.dbPath)) {
      checkTableName(tableName, knownTableNames());
      chooseFormat(options);
    }
    const mirror = await deps.mortally(() => openMirrorReadOnly(settings.dbPath));
    try {
      checkTableName(tableName, [...listTables(mirror), ...knownTableNames()]);
      const format = chooseFormat(options);
      await withSnapshot(mirror, async () => {
        const table = findTable(mirror, tableName);
        checkSelection(mirror, table, selection);
        const { write } = await format.load();
        const sink = out ? await openFileSink(expandPath(out, deps), deps) : dataSink(deps);
        try {
          const warn = (text: string) => reporter.warn(`${table.name}: ${text}`);
          if (asOf !== undefined) readThen(mirror, table, { at: asOf, where, now: clock.now() }, warn);
          const source = openSource(mirror, { ...selection, table });
          const excel = options.excel ?? false;
          const done = await runExport(write(source, { excel, warn }), sink, deps);
          const took = `${((clock.monotonic() - started) / 1_000).toFixed(1)}s`;
          if (out)
            reporter.note(
              `${table.name}: ${counted(done.rows, "row", formatCount)}, ${formatBytes(done.bytes)} in ${took}: ${out}`,
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

/** The one format that was asked for, or that the file's name ends in. */
function chooseFormat(options: ExportFlags & { json?: boolean }): Format {
  const asked = formats.filter(({ name }) => (options as Record<string, unknown>)[name] === true);
  const flags = formats.map(({ flag }) => `\`${flag}\``);
  if (asked.length > 1)
    throw new UsageError(
      `One format at a time, not ${asked.map(({ flag }) => `\`${flag}\``).join(" and ")}.`,
      {
        hint: "leave all but one out",
      },
    );
  if (options.out !== undefined && /\.xlsx?$/i.test(options.out))
    throw new UsageError("Excel's own format is not among the exports.", {
      hint: "write CSV that Excel opens safely: `--excel -o FILE.csv`",
    });
  const byName = formats.find(({ extensions }) =>
    extensions.some((extension) => options.out?.toLowerCase().endsWith(extension)),
  );
  const format = asked[0] ?? (options.excel ? formats.find(({ name }) => name === "csv") : byName);
  if (!format)
    throw new UsageError("No format was given.", {
      hint: `add ${flags.slice(0, -1).join(", ")} or ${flags.at(-1)}`,
    });
  if (options.excel && format.name !== "csv")
    throw new UsageError(`\`--excel\` is for CSV, not for \`${format.flag}\`.`, {
      hint: "leave one of them out",
    });
  return format;
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

/** What an export would overwrite must not be what it reads. */
function refuseMirror(out: string, dbPath: string, deps: Deps): void {
  const real = (path: string) => (existsSync(path) ? realpathSync(path) : resolve(path));
  const target = real(expandPath(out, deps));
  const mirror = real(dbPath);
  if (["", "-wal", "-shm", "-lock", "-journal"].some((suffix) => target === `${mirror}${suffix}`))
    throw new UsageError(`The file to write is the mirror itself: ${out}.`, {
      hint: "name another file with `-o`",
    });
}
