import { statSync } from "node:fs";
import { extname } from "node:path";
import { Option } from "commander";
import { expandPath, type PathDeps } from "../config/folders.js";
import { UsageError } from "../errors.js";
import { type CsvOptions, type Format, type FormatName, formats } from "../export/formats.js";
import { quoteShellWord } from "../util/format-text.js";
import { withChoices } from "./flags.js";

/** The flags for the format, such as `--csv`, and the flags for the output file. */
export interface OutputFlags extends Partial<Record<FormatName, boolean>> {
  out?: string;
  excel?: boolean;
  delimiter?: string;
  decimalComma?: boolean;
}

/**
 * Creates a flag that selects a format, such as `--csv`. It conflicts with the flags for other formats.
 * @param conflicts the attribute names of the other options that conflict with this flag
 */
export function formatOption(
  { name, about }: Pick<Format, "name" | "about">,
  conflicts: readonly string[] = [],
): Option {
  const others = formats.map((format) => format.name).filter((other) => other !== name);
  return new Option(`--${name}`, about).conflicts([...others, ...conflicts]);
}

/** @param conflicts the attribute names of the options that conflict with a format */
export function createOutputOptions(
  allowed: readonly Format[] = formats,
  conflicts: Partial<Record<FormatName, readonly string[]>> = {},
): readonly Option[] {
  return [
    ...allowed.map((format) => formatOption(format, conflicts[format.name])),
    new Option("-o, --out <file>", "file to write; the extension selects the format"),
    withChoices(new Option("--delimiter <sign>", "CSV cell separator"), "delimiter", [
      ",",
      ";",
      "|",
      ":",
      "^",
      "~",
      "tab",
    ]),
    new Option("--excel", "CSV for spreadsheets: BOM, CRLF, dates, no formulas"),
    new Option("--decimal-comma", "CSV with decimal commas and `;` between cells"),
  ];
}

/** The format of an export, its destination, and the options for CSV. */
export interface Output {
  format: Format;
  destination: Destination;
  csv: CsvOptions;
}

/**
 * Where an export is written. Paths are as the user typed them. A file's extension is in lower case and does not
 * include `.gz`.
 */
type Destination =
  | { kind: "stdout" }
  | { kind: "file"; path: string; extension: string; isCompressed: boolean }
  | { kind: "folder"; path: string };

/**
 * Chooses the destination, the format and the CSV options.
 * @returns undefined if neither a format nor a file was specified
 * @throws UsageError if the extension is unknown, or if the flags contradict each other or the extension
 */
export function chooseOutput(
  flags: OutputFlags,
  deps: PathDeps,
  allowed: readonly Format[] = formats,
): Output | undefined {
  const destination = chooseDestination(flags, allowed, deps);
  const format = chooseFormat(flags, destination, allowed);
  if (!format) {
    if (destination.kind === "stdout") return undefined;
    throw createNoFormatError(allowed, destination.path);
  }
  checkFormat(format, flags, destination, allowed);
  return { format, destination, csv: chooseCsvOptions(flags, destination) };
}

function chooseDestination(
  { out: path }: OutputFlags,
  allowed: readonly Format[],
  deps: PathDeps,
): Destination {
  if (path === undefined || path === "-" || path === "/dev/stdout") return { kind: "stdout" };
  if (isFolderPath(path, allowed, deps)) return { kind: "folder", path };
  const name = path.toLowerCase();
  const isCompressed = name.endsWith(".gz");
  const extension = extname(isCompressed ? name.slice(0, -".gz".length) : name);
  if (!isCompressed && otherCompressions.includes(extension))
    throw new UsageError(`Only gzip compression is supported: \`${path}\``, {
      hint: "name a file that ends in .gz, such as `-o orders.csv.gz`",
    });
  return { kind: "file", path, extension, isCompressed };
}

/**
 * Chooses the format by, in this order:
 * 1. the format's flag
 * 2. the file's extension
 * 3. the default for a folder, and for CSV flags such as `--excel`: CSV
 */
function chooseFormat(
  flags: OutputFlags,
  destination: Destination,
  allowed: readonly Format[],
): Format | undefined {
  const byFlag = allowed.find(({ name }) => flags[name]);
  if (byFlag) return byFlag;
  const byExtension = destination.kind === "file" && findByExtension(destination.extension, allowed);
  if (byExtension) return byExtension;
  const isCsv = destination.kind === "folder" || findCsvFlag(flags) !== undefined;
  return isCsv ? allowed.find(({ name }) => name === "csv") : undefined;
}

const otherCompressions = [".7z", ".br", ".bz2", ".lz4", ".rar", ".xz", ".zip", ".zst"];

/** True if a path ends in a slash, or is an existing folder whose name does not end in a format's extension. */
function isFolderPath(path: string, allowed: readonly Format[], deps: PathDeps): boolean {
  if (path.endsWith("/")) return true;
  if (findByExtension(extname(path).toLowerCase(), allowed)) return false;
  return statSync(expandPath(path, deps), { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function findByExtension(extension: string, allowed: readonly Format[]): Format | undefined {
  return allowed.find(({ extensions }) => extensions.includes(extension));
}

/** @throws UsageError if the format contradicts the file's extension or a flag */
function checkFormat(
  format: Format,
  flags: OutputFlags,
  destination: Destination,
  allowed: readonly Format[],
): void {
  const { name, extensions, alsoExtensions = [], isText } = format;
  if (destination.kind === "file") {
    const { extension, isCompressed, path } = destination;
    const fitting = [...extensions, ...alsoExtensions];
    if (!fitting.includes(extension) && findByExtension(extension, allowed))
      throw new UsageError(`\`--${name}\` contradicts the file's extension: ${path}`, {
        hint: `omit \`--${name}\`, or name a file that ends in ${fitting.join(" or ")}`,
      });
    if (isCompressed && !isText) throw createNoFormatError(allowed, path);
  }
  const csvFlag = findCsvFlag(flags);
  if (csvFlag !== undefined && name !== "csv")
    throw new UsageError(`\`${csvFlag}\` is for CSV, not for \`--${name}\`.`, {
      hint: "omit one of them",
    });
}

/** Returns the first flag on the command line that applies only to CSV. */
function findCsvFlag({ excel, decimalComma, delimiter }: OutputFlags): string | undefined {
  if (excel) return "--excel";
  if (decimalComma) return "--decimal-comma";
  return delimiter === undefined ? undefined : "--delimiter";
}

/** @throws UsageError if the delimiter contradicts the file's extension or `--decimal-comma` */
function chooseCsvOptions(
  { delimiter, decimalComma = false, excel = false }: OutputFlags,
  destination: Destination,
): CsvOptions {
  const isTsv = destination.kind === "file" && destination.extension === ".tsv";
  if (isTsv && delimiter !== undefined && delimiter !== "tab")
    throw new UsageError(
      `\`--delimiter "${delimiter}"\` contradicts the file's extension: ${destination.path}`,
      { hint: ".tsv files are separated by tabs; use a .csv file" },
    );
  if (decimalComma && delimiter === ",")
    throw new UsageError("`--decimal-comma` needs a delimiter other than a comma.", {
      hint: "omit `--delimiter`, because the default with `--decimal-comma` is `;`",
    });
  const chosen = delimiter ?? (isTsv ? "tab" : decimalComma ? ";" : ",");
  return { excel, decimalComma, delimiter: chosen === "tab" ? "\t" : chosen };
}

const similarExtensions: Readonly<Record<string, string>> = {
  ".pq": ".parquet",
  ".xls": ".xlsx",
  ".xlsm": ".xlsx",
};

/** Creates the error for a missing or unknown format. @param path the file whose extension is unknown */
export function createNoFormatError(allowed: readonly Format[] = formats, path?: string): UsageError {
  const flags = allowed.map(({ name }) => `\`--${name}\``).join(", ");
  const extensions = allowed.flatMap((format) => format.extensions).join(", ");
  const problem =
    path === undefined ? "No output format was specified." : `No format has this file extension: ${path}`;
  const [, stem = "", typed = ""] = /^(.*)(\.\w+)$/.exec(path ?? "") ?? [];
  const meant = similarExtensions[typed.toLowerCase()];
  const isAllowed = meant !== undefined && findByExtension(meant, allowed) !== undefined;
  const suggestion = isAllowed ? `did you mean \`-o ${quoteShellWord(stem + meant)}\`? Otherwise, ` : "";
  const hint = `${suggestion}add ${flags}, or name a file with \`-o\` that ends in ${extensions}; text formats can be followed by .gz`;
  return new UsageError(problem, { hint });
}
