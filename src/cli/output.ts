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

/** Creates a flag that selects a format, such as `--csv`. It conflicts with the flags for other formats. */
export function formatOption({ name, about }: Pick<Format, "name" | "about">): Option {
  const others = formats.map((format) => format.name).filter((other) => other !== name);
  return new Option(`--${name}`, about).conflicts(others);
}

export function createOutputOptions(allowed: readonly Format[]): readonly Option[] {
  return [
    ...allowed.map(formatOption),
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
export interface Output<F extends Format = Format> {
  format: F;
  destination: Destination;
  csv: CsvOptions;
}

/**
 * The destination of an export. Paths are exactly as the user typed them. A file's `extension` is lowercase and
 * excludes `.gz`.
 */
type Destination =
  | { kind: "stdout" }
  | { kind: "file"; path: string; extension: string; isCompressed: boolean }
  | { kind: "folder"; path: string };

/** True if the flags select a format or a file. Otherwise, commands such as `query` print a table as text. */
export function selectsOutput(flags: OutputFlags): boolean {
  const hasFormat = formats.some(({ name }) => flags[name]) || findCsvFlag(flags) !== undefined;
  return hasFormat || (flags.out !== undefined && !isStdout(flags.out));
}

/**
 * Chooses the destination, the format and the CSV options.
 * @throws UsageError if no format is specified, or if the flags conflict with each other or with the file's extension
 */
export function chooseOutput<F extends Format>(
  flags: OutputFlags,
  allowed: readonly F[],
  deps: PathDeps,
): Output<F> {
  const destination = chooseDestination(flags.out ?? "-", deps);
  const format = chooseFormat(flags, destination, allowed);
  if (destination.kind === "file" && destination.isCompressed && !format.isText)
    throw createUnknownExtensionError(allowed, destination.path);
  const csvFlag = findCsvFlag(flags);
  if (csvFlag !== undefined && format.name !== "csv")
    throw new UsageError(`\`${csvFlag}\` is for CSV, not for \`--${format.name}\`.`, {
      hint: "omit one of them",
    });
  return { format, destination, csv: chooseCsvOptions(flags, destination) };
}

/**
 * Returns the format that a flag such as `--csv` or the file's extension selects. By default, folders and CSV options
 * such as `--excel` select CSV.
 */
function chooseFormat<F extends Format>(
  flags: OutputFlags,
  destination: Destination,
  allowed: readonly F[],
): F {
  const formatOfFlag = allowed.find(({ name }) => flags[name]);
  const extension = destination.kind === "file" ? destination.extension : "";
  const formatOfFile = allowed.find(({ extensions }) => extensions.includes(extension));
  if (destination.kind === "file" && formatOfFile && formatOfFlag) {
    const { name, extensions, flagOnlyExtensions = [] } = formatOfFlag;
    const fitting = [...extensions, ...flagOnlyExtensions];
    if (!fitting.includes(extension))
      throw new UsageError(`\`--${name}\` contradicts the file's extension: ${destination.path}`, {
        hint: `omit \`--${name}\`, or use a file name that ends in ${fitting.join(" or ")}`,
      });
  }
  const format = formatOfFlag ?? formatOfFile;
  if (format) return format;
  const csv = allowed.find(({ name }) => name === "csv");
  if (csv && (destination.kind === "folder" || findCsvFlag(flags) !== undefined)) return csv;
  if (destination.kind === "file") throw createUnknownExtensionError(allowed, destination.path);
  throw new UsageError("No output format was specified.", { hint: formatsHint(allowed) });
}

function isStdout(path: string): boolean {
  return path === "-" || path === "/dev/stdout";
}

function chooseDestination(path: string, deps: PathDeps): Destination {
  if (isStdout(path)) return { kind: "stdout" };
  if (isFolderPath(path, deps)) return { kind: "folder", path };
  const name = path.toLowerCase();
  const isCompressed = name.endsWith(".gz");
  const extension = extname(isCompressed ? name.slice(0, -".gz".length) : name);
  if (!isCompressed && otherCompressions.includes(extension))
    throw new UsageError(`Only gzip compression is supported: \`${path}\``, {
      hint: "use a file name that ends in .gz, such as `-o orders.csv.gz`",
    });
  return { kind: "file", path, extension, isCompressed };
}

const otherCompressions = [".7z", ".br", ".bz2", ".lz4", ".rar", ".xz", ".zip", ".zst"];

/** True if a path ends in a slash, or is an existing folder whose name does not end in a format's extension. */
function isFolderPath(path: string, deps: PathDeps): boolean {
  if (path.endsWith("/")) return true;
  const extension = extname(path).toLowerCase();
  if (formats.some(({ extensions }) => extensions.includes(extension))) return false;
  return statSync(expandPath(path, deps), { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** Returns a flag that the user passed and that applies only to CSV. Returns undefined if there is none. */
function findCsvFlag({ excel, decimalComma, delimiter }: OutputFlags): string | undefined {
  if (excel) return "--excel";
  if (decimalComma) return "--decimal-comma";
  return delimiter === undefined ? undefined : "--delimiter";
}

/** @throws UsageError if the delimiter conflicts with the file's extension or `--decimal-comma` */
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

function createUnknownExtensionError(allowed: readonly Format[], path: string): UsageError {
  const [, stem = "", typed = ""] = /^(.*)(\.\w+)$/.exec(path) ?? [];
  const meant = similarExtensions[typed.toLowerCase()];
  const suggestion = meant ? `did you mean \`-o ${quoteShellWord(stem + meant)}\`? Otherwise, ` : "";
  return new UsageError(`Unsupported file extension: ${path}`, {
    hint: suggestion + formatsHint(allowed),
  });
}

function formatsHint(allowed: readonly Format[]): string {
  const flags = allowed.map(({ name }) => `\`--${name}\``).join(", ");
  const extensions = allowed.flatMap((format) => format.extensions).join(", ");
  return `add ${flags}, or use \`-o\` with a file name that ends in ${extensions}; to compress a text format, add .gz`;
}
