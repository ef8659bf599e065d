import { existsSync, statSync } from "node:fs";
import { extname, join } from "node:path";
import { pipeline, Readable } from "node:stream";
import { createGzip } from "node:zlib";
import { Option } from "commander";
import { configPath, expandPath, type PathDeps } from "../config/folders.js";
import type { GlobalFlags } from "../config/settings.js";
import type { Deps } from "../deps.js";
import { Stopped, UsageError } from "../errors.js";
import {
  type Bookmarks,
  type Chunk,
  type Format,
  type FormatName,
  formats,
  type RowSources,
} from "../export/formats.js";
import { createStdoutSink, openFileSink, writeAll } from "../export/sinks.js";
import { mirrorFiles } from "../store/mirror-files.js";
import { createFolder, resolveLinks } from "../util/files.js";
import { formatBytes, pluralize, quoteShellWord } from "../util/text.js";
import { withChoices } from "./flags.js";
import { type ReadSession, readMirror } from "./mirror-reading.js";

/**
 * The flags of commands that write data. Each format has a flag with its name. `--json` is also a global option; these
 * commands redefine it as a format flag.
 */
export interface OutputFlags extends Partial<Record<FormatName, boolean>> {
  out?: string;
  excel?: boolean;
  delimiter?: string;
  decimalComma?: boolean;
}

export interface OutputChoice {
  format: Format;
  /** The path as the user typed it; undefined for stdout. */
  path: string | undefined;
  isFolder: boolean;
  isCompressed: boolean;
  excel: boolean;
  decimalComma: boolean;
  delimiter: string;
}

export function createOutputOptions(allowed: readonly Format[] = formats): readonly Option[] {
  const names = allowed.map(({ name }) => name);
  return [
    ...allowed.map(({ name, flag, about }) =>
      new Option(flag, about).conflicts(names.filter((other) => other !== name)),
    ),
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

/**
 * Chooses the format and the destination. A format flag takes precedence over the file extension. The default is CSV
 * for a folder, or if a CSV flag such as `--excel` was passed.
 * @returns undefined if neither a format nor a file was specified
 * @throws UsageError if the extension is unknown, or if the flags contradict each other or the extension
 */
export function chooseOutput(
  flags: OutputFlags,
  deps: PathDeps,
  allowed: readonly Format[] = formats,
): OutputChoice | undefined {
  const { out, excel = false, decimalComma = false } = flags;
  const path = out === "-" || out === "/dev/stdout" ? undefined : out;
  const isFolder = path !== undefined && isFolderPath(path, allowed, deps);
  const fileName = isFolder || path === undefined ? "" : path.toLowerCase();
  const isCompressed = fileName.endsWith(".gz");
  const extension = extname(isCompressed ? fileName.slice(0, -".gz".length) : fileName);
  if (!isCompressed && otherCompressions.includes(extension))
    throw new UsageError(`Only gzip compression is supported: \`${path}\``, {
      hint: "name a file that ends in .gz, such as `-o orders.csv.gz`",
    });
  const format = chooseFormat(flags, extension, isFolder, allowed);
  if (!format && path === undefined) return undefined;
  if (!format) throw noFormatError(allowed, path);
  checkExtension(format, extension, path, allowed);
  if (isCompressed && !format.isText) throw noFormatError(allowed, path);
  const csvFlag = findCsvFlag(flags);
  if (csvFlag !== undefined && format.name !== "csv")
    throw new UsageError(`\`${csvFlag}\` is for CSV, not for \`${format.flag}\`.`, {
      hint: "omit one of them",
    });
  const delimiter = chooseDelimiter(flags, extension, path);
  return { format, path, isFolder, isCompressed, excel, decimalComma, delimiter };
}

const otherCompressions = [".7z", ".br", ".bz2", ".lz4", ".rar", ".xz", ".zip", ".zst"];

function chooseFormat(
  flags: OutputFlags,
  extension: string,
  isFolder: boolean,
  allowed: readonly Format[],
): Format | undefined {
  const byFlag = allowed.find(({ name }) => flags[name]);
  const csv = allowed.find(({ name }) => name === "csv");
  const isCsvByDefault = isFolder || findCsvFlag(flags) !== undefined;
  return byFlag ?? findByExtension(extension, allowed) ?? (isCsvByDefault ? csv : undefined);
}

function findByExtension(extension: string, allowed: readonly Format[]): Format | undefined {
  return allowed.find(({ extensions }) => extensions.includes(extension));
}

/** @throws UsageError if the file extension contradicts the format flag */
function checkExtension(
  format: Format,
  extension: string,
  path: string | undefined,
  allowed: readonly Format[],
): void {
  const fitting = [...format.extensions, ...format.alsoExtensions];
  if (fitting.includes(extension) || !findByExtension(extension, allowed)) return;
  throw new UsageError(`\`${format.flag}\` contradicts the file's extension: ${path}`, {
    hint: `omit \`${format.flag}\`, or name a file that ends in ${fitting.join(" or ")}`,
  });
}

/** Returns the first flag that applies only to CSV. */
function findCsvFlag({ excel, decimalComma, delimiter }: OutputFlags): string | undefined {
  if (excel) return "--excel";
  if (decimalComma) return "--decimal-comma";
  return delimiter === undefined ? undefined : "--delimiter";
}

function chooseDelimiter(
  { delimiter, decimalComma }: OutputFlags,
  extension: string,
  path: string | undefined,
): string {
  if (extension === ".tsv" && delimiter !== undefined && delimiter !== "tab")
    throw new UsageError(`\`--delimiter "${delimiter}"\` contradicts the file's extension: ${path}`, {
      hint: ".tsv files are separated by tabs; use a .csv file",
    });
  if (decimalComma && delimiter === ",")
    throw new UsageError("`--decimal-comma` needs a delimiter other than a comma.", {
      hint: "omit `--delimiter`, because the default with `--decimal-comma` is `;`",
    });
  const chosen = delimiter ?? (extension === ".tsv" ? "tab" : decimalComma ? ";" : ",");
  return chosen === "tab" ? "\t" : chosen;
}

/**
 * Returns true for a path that ends in a slash, and for an existing folder whose name does not end in a format's
 * extension.
 */
function isFolderPath(path: string, allowed: readonly Format[], deps: PathDeps): boolean {
  if (path.endsWith("/")) return true;
  const extension = extname(path).toLowerCase();
  if (allowed.some(({ extensions }) => extensions.includes(extension))) return false;
  return statSync(expandPath(path, deps), { throwIfNoEntry: false })?.isDirectory() ?? false;
}

const similarExtensions: Readonly<Record<string, string>> = {
  ".pq": ".parquet",
  ".xls": ".xlsx",
  ".xlsm": ".xlsx",
};

/** Creates the error for a missing or unknown format. @param path the file whose extension is unknown */
export function noFormatError(allowed: readonly Format[] = formats, path?: string): UsageError {
  const flags = allowed.map(({ flag }) => `\`${flag}\``).join(", ");
  const extensions = allowed.flatMap((format) => format.extensions).join(", ");
  const problem =
    path === undefined ? "No output format was specified." : `No format has this file extension: ${path}`;
  const [, stem = "", typed = ""] = /^(.*)(\.\w+)$/.exec(path ?? "") ?? [];
  const meant = similarExtensions[typed.toLowerCase()];
  const isAllowed = allowed.some((format) => format.extensions.some((extension) => extension === meant));
  const suggestion = isAllowed ? `did you mean \`-o ${quoteShellWord(stem + meant)}\`? Otherwise, ` : "";
  const hint = `${suggestion}add ${flags}, or name a file with \`-o\` that ends in ${extensions}; text formats can be followed by .gz`;
  return new UsageError(problem, { hint });
}

/**
 * Returns the path of a table's file in the output folder. Creates the folder if needed.
 * @throws UsageError if the output is not a folder or the format writes all tables to one file
 */
export function tableFilePath(
  { format, path = "", isFolder, delimiter }: OutputChoice,
  table: string,
  deps: Deps,
): string {
  if (!isFolder)
    throw new UsageError(`A file in the format \`${format.name}\` can contain only one table.`, {
      hint: "use a folder for one file per table, such as `--csv -o exports/`, or a workbook: `-o FILE.xlsx`",
    });
  const [extension] = format.extensions;
  if (extension === undefined)
    throw new UsageError(`\`${format.flag}\` writes all tables to one file: \`${path}\` is a folder.`, {
      hint: `name a file in this folder: \`-o ${quoteShellWord(join(path, `export${format.alsoExtensions[0] ?? ""}`))}\``,
    });
  createFolder(expandPath(path, deps));
  return join(path, table + (delimiter === "\t" ? ".tsv" : extension));
}

/** The result of an export: the number of rows in each table, and the total number of bytes. */
export interface WrittenTables {
  rows: ReadonlyMap<string, number>;
  bytes: number;
  /** True if the reader, such as `head`, closed the pipe early. */
  isCutShort: boolean;
}

/**
 * Writes rows to a file or to stdout.
 * @throws UsageError if binary data would be printed to a terminal, or if the file is the mirror or the config file
 */
export async function writeRows(
  sources: RowSources,
  output: OutputChoice,
  session: ReadSession,
  bookmarks?: Readonly<Bookmarks>,
): Promise<WrittenTables> {
  const { deps, reporter } = session;
  const { format, path, isCompressed, ...options } = output;
  const file = path === undefined ? undefined : expandPath(path, deps);
  await checkTarget(file, output, session);
  const { write } = await format.load();
  const names = sources.map(({ name }) => name).join(", ");
  const warn = (text: string) => reporter.warn(`${names}: ${text}`);
  const rows = new Map(sources.map(({ name }) => [name, 0]));
  const data = tallyRows(write(sources, { ...options, bookmarks, warn }), rows);
  const sink = file === undefined ? createStdoutSink(deps.stdout) : await openFileSink(file, deps);
  const written = await writeAll(isCompressed ? compress(data) : data, sink);
  return { rows, ...written };
}

async function checkTarget(
  file: string | undefined,
  { format, path }: OutputChoice,
  { deps, mirror }: ReadSession,
): Promise<void> {
  if (file === undefined) {
    if (format.isText || !deps.stdout.isTTY) return;
    throw new UsageError(`\`${format.flag}\` cannot be printed to a terminal.`, {
      hint: `name a file with \`-o FILE${format.extensions[0] ?? ""}\``,
    });
  }
  const protectedFiles = [
    ...mirrorFiles(await resolveLinks(mirror.path)),
    await resolveLinks(configPath(deps)),
  ];
  if (protectedFiles.includes(await resolveLinks(file)))
    throw new UsageError(`The output file is the mirror or the config file: ${path}.`, {
      hint: "choose a different file with `-o`",
    });
}

/** Yields the data of each chunk, and adds its rows to the count for its table in `counts`. */
function* tallyRows(chunks: Iterable<Chunk>, counts: Map<string, number>): Iterable<Chunk["data"]> {
  const [onlyTable = ""] = counts.keys();
  for (const { data, rows, table = onlyTable } of chunks) {
    counts.set(table, (counts.get(table) ?? 0) + rows);
    yield data;
  }
}

/**
 * Adds a hint to the error if a signal stops `work` gracefully. While rows are being read, a signal usually kills the
 * process, and no hint is printed (see `signals.ts`).
 */
export async function explainStop<T>(effect: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
    throw new Stopped(error.signalName, `${effect}; run the same command again`);
  }
}

/** Like `readMirror`, for work that writes to `output`. If a signal stops the work, the error says what was written. */
export async function readMirrorForOutput(
  flags: GlobalFlags,
  deps: Deps,
  output: OutputChoice,
  work: (session: ReadSession) => Promise<void>,
): Promise<void> {
  await explainStop(describeUnfinished(output, deps), () => readMirror(flags, deps, work));
}

function describeUnfinished({ path, isFolder }: OutputChoice, deps: Deps): string {
  if (path === undefined) return "the output is incomplete";
  if (isFolder) return `only complete files were written to ${path}`;
  return existsSync(expandPath(path, deps))
    ? `nothing was written, and ${path} is unchanged`
    : `${path} was not written`;
}

/** Prints each table's number of rows, the total size and the path. */
export function reportOutput(
  path: string,
  written: readonly WrittenTables[],
  { reporter }: ReadSession,
): void {
  if (written.some(({ isCutShort }) => isCutShort)) return;
  const tables = written.flatMap(({ rows }) => [...rows]);
  const list = tables.map(([name, count]) => `${name}: ${pluralize(count, "row")}`).join(", ");
  const bytes = written.reduce((sum, one) => sum + one.bytes, 0);
  reporter.note(`${list}, ${formatBytes(bytes)}: ${path}`);
}

async function* compress(data: Iterable<Uint8Array | string>): AsyncIterable<Uint8Array> {
  const gzip = createGzip();
  // If generating the data fails, `pipeline` destroys `gzip`, and then `yield*` throws the error.
  pipeline(Readable.from(data), gzip, () => {});
  yield* gzip as AsyncIterable<Uint8Array>;
}
