import { basename, extname } from "node:path";
import { Option } from "commander";
import { UsageError } from "../errors.js";
import type { Format } from "../export/format.js";
import { formats } from "../export/formats/index.js";
import { parsed } from "./flags.js";

/** The flags that say how and where data is written, wherever a command writes some. */
export interface OutputFlags {
  out?: string;
  excel?: boolean;
  delimiter?: string;
}

/** What they come to. */
export interface Output {
  format: Format;
  /** As the person gave it; undefined: stdout. */
  path: string | undefined;
  isCompressed: boolean;
  excel: boolean;
  delimiter: string;
}

/** What `-o` may call stdout: opened by its name, it would be written beside and renamed. */
const stdoutNames = ["-", "/dev/stdout", "/dev/fd/1"];

/** Signs that no number and no name of a column holds, so that little has to be quoted. */
const delimiters = [",", ";", "|", ":", "^", "~"];
const tabNames = ["tab", "\\t", "\t"];

export function outputFlags(among: readonly Format[] = formats): readonly Option[] {
  return [
    ...among.map(({ flag, about }) => new Option(flag, about)),
    new Option("-o, --out <file>", "write a file; its ending names the format"),
    parsed("--delimiter <sign>", "between cells of CSV: , ; | : ^ ~ or tab", parseDelimiter).hideHelp(),
    new Option("--excel", "CSV with BOM and CRLF, formulas made text"),
  ];
}

/**
 * The format that was asked for, or that the file's name ends in; undefined where neither is there.
 * @throws UsageError where they do not go together, or the ending is of no format
 */
export function chooseOutput(options: OutputFlags, among: readonly Format[] = formats): Output | undefined {
  const asked = among.filter(({ name }) => (options as Record<string, unknown>)[name] === true);
  if (asked.length > 1)
    throw new UsageError(
      `One format at a time, not ${asked.map(({ flag }) => `\`${flag}\``).join(" and ")}.`,
      { hint: "leave all but one out" },
    );
  const path = isStdout(options.out ?? "-") ? undefined : options.out;
  const name = basename(path ?? "").toLowerCase();
  const stem = name.replace(/\.gz$/, "");
  const isOfCsv = options.excel === true || options.delimiter !== undefined;
  const ofName = formatOf(stem);
  const format = asked[0] ?? ofName ?? (isOfCsv ? formats.find((one) => one.name === "csv") : undefined);
  if (asked[0] && asked[0].extensions.length > 0 && ofName && ofName !== asked[0])
    throw new UsageError(
      `The file is named as \`${ofName.flag}\`, and \`${asked[0].flag}\` is asked for: ${path}`,
      {
        hint: `leave the flag out, or name it \`…${asked[0].extensions[0] ?? ""}\``,
      },
    );
  if (!format) {
    if (path === undefined || extname(name) === "") return undefined;
    throw new UsageError(`No format has the ending \`${extname(name)}\`: ${path}`, { hint: endingsHint() });
  }
  if (isOfCsv && format.name !== "csv")
    throw new UsageError(
      `\`${options.excel ? "--excel" : "--delimiter"}\` is for CSV, not for \`${format.flag}\`.`,
      { hint: "leave one of them out" },
    );
  const isCompressed = stem !== name;
  if (isCompressed && !format.isText)
    throw new UsageError(`\`.gz\` is for text, and \`${format.flag}\` is compressed already: ${path}`, {
      hint: "leave `.gz` out",
    });
  const delimiter = options.delimiter ?? (stem.endsWith(".tsv") ? "\t" : ",");
  return { format, path, isCompressed, excel: options.excel ?? false, delimiter };
}

function formatOf(name: string): Format | undefined {
  return formats.find(({ extensions }) => extensions.some((extension) => name.endsWith(extension)));
}

export function noFormat(among: readonly Format[] = formats): UsageError {
  const flags = among.map(({ flag }) => `\`${flag}\``);
  return new UsageError("No format was given.", {
    hint: `add ${flags.slice(0, -1).join(", ")} or ${flags.at(-1)}, or name a file with \`-o FILE.csv\``,
  });
}

/** Whether `-o` names stdout. */
export function isStdout(out: string): boolean {
  return stdoutNames.includes(out);
}

function endingsHint(): string {
  const endings = (isText: boolean) =>
    formats.filter((format) => format.isText === isText).flatMap(({ extensions }) => extensions);
  const others = endings(false);
  return (
    `use ${endings(true).join(", ")}, each also with .gz${others.length > 0 ? `, ${others.join(" or ")}` : ""}; ` +
    "or add a flag such as `--csv`"
  );
}

function parseDelimiter(text: string): string {
  if (tabNames.includes(text)) return "\t";
  if (delimiters.includes(text)) return text;
  throw new UsageError(`Not a delimiter: \`${text}\`.`, {
    hint: `use one of ${delimiters.join(" ")} in quotes, or \`tab\``,
  });
}
