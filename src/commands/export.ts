import { exitCodes, UsageError } from "../errors.js";
import type { Format } from "../export/format.js";
import { formats } from "../export/formats/index.js";
import { knownTableNames } from "../mirror/tables.js";
import { parseInstant } from "../times.js";
import { defineCommand, type Flag } from "./command.js";
import { parseCount, parseList } from "./values.js";

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
    "Needs no key and no network. JSON and NDJSON give each record exactly as the\n" +
    "API sent it; with --columns, and for tables whose rows are only parts of a\n" +
    `record, objects of their columns.\n\nTables and views:\n${wrap(knownTableNames().join(", "), 76)}`,
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
    const format = chooseFormat(options);
    const now = deps.clock.now();
    const time = (text: string | undefined, edge: "start" | "end") =>
      text === undefined ? undefined : parseInstant(text, edge, now);
    const { readSettings } = await import("../config.js");
    const { exportFromMirror } = await import("./export-run.js");
    const settings = await readSettings(options, deps);
    await exportFromMirror({
      deps,
      settings,
      format,
      tableName: args[0] ?? "",
      out: options.out === "-" ? undefined : options.out,
      excel: options.excel ?? false,
      columns: options.columns,
      where: options.where,
      since: time(options.since, "start"),
      until: time(options.until, "end"),
      limit: options.limit,
      asOf: time(options.asOf, "end"),
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

function wrap(text: string, width: number): string {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines.at(-1) ?? "";
    if (line !== "" && line.length + word.length + 1 > width) lines.push(word);
    else lines[lines.length - 1] = line === "" ? word : `${line} ${word}`;
  }
  return lines.map((line) => `  ${line}`).join("\n");
}
