import { exitCodes, UsageError } from "../errors.js";
import type { Format } from "../export/format.js";
import { formats } from "../export/formats/index.js";
import { knownTableNames, syncedBy, typedTables } from "../query/tables.js";
import { views } from "../query/views.js";
import { resources } from "../resources/index.js";
import type { Resource } from "../resources/types.js";
import { parseInstant } from "../times.js";
import { defineCommand, type Flag } from "./command.js";
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

const exportFlags: readonly Flag[] = [
  ...formats.map(({ flag, about }) => ({ flags: flag, about })),
  { flags: "-o, --out <file>", about: "write a file, whole or not at all, instead of stdout" },
  { flags: "--excel", about: "CSV that Excel opens safely: BOM, CRLF, formulas made text" },
  { flags: "--columns <names>", about: "these columns, in this order, commas between", parse: parseList },
  { flags: "--where <condition>", about: "rows for which this SQL condition holds" },
  { flags: "--since <time>", about: "rows from here on, by the table's main date" },
  { flags: "--until <time>", about: "rows up to here, by the table's main date" },
  { flags: "--limit <n>", about: "at most so many rows", parse: parseCount },
  { flags: "--as-of <time>", about: "the records as this mirror knew them then" },
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

  async run({ deps, args, options }) {
    const now = deps.clock.now();
    const range = parseRange(options, now);
    const { readSettings } = await import("../config.js");
    const { exportFromMirror } = await import("./export-run.js");
    const settings = await readSettings(options, deps);
    await exportFromMirror({
      deps,
      settings,
      chooseFormat: () => chooseFormat(options),
      tableName: args[0] ?? "",
      out: options.out === "-" ? undefined : options.out,
      excel: options.excel ?? false,
      columns: options.columns,
      where: options.where,
      ...range,
      limit: options.limit,
      asOf: options.asOf === undefined ? undefined : parseInstant(options.asOf, "end", now),
      includeRemoved: options.includeRemoved ?? false,
    });
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
  const viewNames = views.map(({ name }) => name);
  const known = new Set([...typed.map(({ name }) => name), ...viewNames]);
  const own = knownTableNames().filter((name) => !known.has(name));
  return [...lines, `views: ${viewNames.join(", ")}`, `the mirror's own: ${own.join(", ")}`];
}
