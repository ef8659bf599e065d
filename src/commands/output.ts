import { statSync } from "node:fs";
import { extname, join } from "node:path";
import { Option } from "commander";
import { expandPath } from "../config/folders.js";
import type { Deps } from "../deps.js";
import { UsageError } from "../errors.js";
import type { Format } from "../export/format.js";
import { formats } from "../export/formats/index.js";
import { makeFolder } from "../lib/make-folder.js";

/** The flags of commands that write data; each format adds one of its name. */
export interface OutputFlags {
  out?: string;
  excel?: boolean;
  delimiter?: string;
}

/** How data is written, and where: the path as it was typed, undefined for stdout. */
export type Output = NonNullable<ReturnType<typeof chooseOutput>>;

/** Returns the flags that choose one of these formats, a file, and how CSV is written. */
export function outputFlags(among: readonly Format[] = formats): readonly Option[] {
  const names = among.map(({ name }) => name);
  return [
    ...among.map(({ name, flag, about }) =>
      new Option(flag, about).conflicts(names.filter((other) => other !== name)),
    ),
    new Option("-o, --out <file>", "write a file; its ending names the format"),
    new Option("--delimiter <sign>", "between cells of CSV").choices([",", ";", "|", ":", "^", "~", "tab"]),
    new Option("--excel", "CSV with BOM and CRLF, formulas made text"),
  ];
}

/**
 * Returns the output that the flags ask for: a format by its flag, or by the file's ending; undefined if neither is given.
 * @throws UsageError for an unknown ending, or flags that contradict each other
 */
export function chooseOutput(
  options: OutputFlags & { [name: string]: unknown },
  among: readonly Format[] = formats,
) {
  const { out, excel = false, delimiter } = options;
  const path = out === "-" ? undefined : out;
  const name = (path ?? "").toLowerCase();
  const ending = extname(name);
  const textEnding = extname(name.replace(/\.gz$/, ""));
  const isOfCsv = excel || delimiter !== undefined;
  const format =
    among.find((one) => options[one.name] === true) ??
    among.find((one) => one.extensions.includes(one.isText ? textEnding : ending)) ??
    among.find((one) => isOfCsv && one.name === "csv");
  if (!format && path !== undefined) throw noFormat(among, path);
  if (!format) return undefined;
  if (isOfCsv && format.name !== "csv")
    throw new UsageError(`\`${excel ? "--excel" : "--delimiter"}\` is for CSV, not for \`${format.flag}\`.`, {
      hint: "leave one of them out",
    });
  const sign = delimiter ?? (textEnding === ".tsv" ? "tab" : ",");
  return { format, path, isCompressed: ending === ".gz", excel, delimiter: sign === "tab" ? "\t" : sign };
}

/** Returns a table's file in the folder that the output names, which is made. @throws UsageError if it names none */
export function pathIn({ format, path = "", delimiter }: Output, table: string, deps: Deps): string {
  const folder = expandPath(path, deps);
  if (!path.endsWith("/") && !(path && statSync(folder, { throwIfNoEntry: false })?.isDirectory()))
    throw new UsageError(`\`${format.flag}\` holds one table.`, {
      hint: "name a folder for a file each, such as `--csv -o exports/`, or a workbook: `-o FILE.xlsx`",
    });
  makeFolder(folder);
  return join(path, table + (delimiter === "\t" ? ".tsv" : format.extensions[0]));
}

/** Returns the error for a command line that names no format. @param path of a file whose ending names none */
export function noFormat(among: readonly Format[] = formats, path?: string): UsageError {
  const flags = among.map(({ flag }) => `\`${flag}\``).join(", ");
  const endings = among.flatMap(({ extensions }) => extensions).join(", ");
  const fault = path === undefined ? "No format was given." : `The file's ending names no format: ${path}`;
  const hint = `add ${flags}, or name a file with \`-o\` that ends in ${endings}; .gz may follow those of text`;
  return new UsageError(fault, { hint });
}
