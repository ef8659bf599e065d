import { statSync } from "node:fs";
import { extname, join } from "node:path";
import { pipeline, Readable } from "node:stream";
import { createGzip } from "node:zlib";
import { Option } from "commander";
import { configPath, expandPath, type PathDeps } from "../config/folders.js";
import { UsageError } from "../errors.js";
import {
  type Bookmarks,
  type Chunk,
  type Format,
  type FormatName,
  formats,
  type RowSources,
} from "../export/formats.js";
import { createStdoutSink, openFileSink, writeAll } from "../export/sinks.js";
import type { RowSource } from "../query/open-rows.js";
import { mirrorFiles } from "../store/mirror-files.js";
import { createFolder, resolveLinks } from "../util/files.js";
import { formatBytes, pluralize, quoteShellWord } from "../util/format-text.js";
import { withChoices } from "./flags.js";
import type { ReadSession } from "./mirror-reading.js";

/**
 * The flags of commands that write data. Each format has a flag of the same name. `--json` is also a global option,
 * which these commands redefine as a format flag.
 */
export interface OutputFlags extends Partial<Record<FormatName, boolean>> {
  out?: string;
  excel?: boolean;
  delimiter?: string;
  decimalComma?: boolean;
}

export function createOutputOptions(allowed: readonly Format[] = formats): readonly Option[] {
  const names = allowed.map(({ name }) => name);
  return [
    ...allowed.map(({ name, about }) =>
      new Option(`--${name}`, about).conflicts(names.filter((other) => other !== name)),
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

/** The format and the destination of an export. */
interface OutputTarget {
  format: Format;
  /** The path as the user typed it; undefined for stdout. */
  path: string | undefined;
  isFolder: boolean;
  isCompressed: boolean;
  excel: boolean;
  decimalComma: boolean;
  delimiter: string;
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
): OutputTarget | undefined {
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

  const csvFlag = findCsvFlag(flags);
  const defaultName = isFolder || csvFlag !== undefined ? "csv" : undefined;
  const format =
    allowed.find(({ name }) => flags[name]) ??
    findByExtension(extension, allowed) ??
    allowed.find(({ name }) => name === defaultName);
  if (!format && path === undefined) return undefined;
  if (!format) throw noFormatError(allowed, path);
  checkExtension(format, extension, path, allowed);
  if (isCompressed && !format.isText) throw noFormatError(allowed, path);
  if (csvFlag !== undefined && format.name !== "csv")
    throw new UsageError(`\`${csvFlag}\` is for CSV, not for \`--${format.name}\`.`, {
      hint: "omit one of them",
    });
  const delimiter = chooseDelimiter(flags, extension, path);
  return { format, path, isFolder, isCompressed, excel, decimalComma, delimiter };
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

/** @throws UsageError if the file extension contradicts the format flag */
function checkExtension(
  { name, extensions, alsoExtensions = [] }: Format,
  extension: string,
  path: string | undefined,
  allowed: readonly Format[],
): void {
  const fitting = [...extensions, ...alsoExtensions];
  if (fitting.includes(extension) || !findByExtension(extension, allowed)) return;
  throw new UsageError(`\`--${name}\` contradicts the file's extension: ${path}`, {
    hint: `omit \`--${name}\`, or name a file that ends in ${fitting.join(" or ")}`,
  });
}

/** Returns the first flag given that applies only to CSV. */
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

const similarExtensions: Readonly<Record<string, string>> = {
  ".pq": ".parquet",
  ".xls": ".xlsx",
  ".xlsm": ".xlsx",
};

/** Creates the error for a missing or unknown format. @param path the file whose extension is unknown */
export function noFormatError(allowed: readonly Format[] = formats, path?: string): UsageError {
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

/**
 * Writes tables to stdout, to one file, or to one file per table in a folder. For files, prints the number of rows in each
 * table.
 * @throws UsageError if the format or the destination does not allow this
 */
export async function writeTables(
  sources: readonly RowSource[],
  output: OutputTarget,
  session: ReadSession,
  bookmarks?: Bookmarks,
): Promise<void> {
  const { path, isFolder } = output;
  const files = assignFiles(sources, output);
  if (path !== undefined && isFolder) createFolder(expandPath(path, session.deps));
  const written: WrittenFile[] = [];
  for (const file of files)
    written.push(await writeFile(file.sources, { ...output, path: file.path }, session, bookmarks));
  if (path === undefined || written.some(({ isCutShort }) => isCutShort)) return;
  const tables = written.flatMap(({ rows }) => [...rows]);
  const counts = tables.map(([name, count]) => `${name}: ${pluralize(count, "row")}`).join(", ");
  const bytes = written.reduce((sum, file) => sum + file.bytes, 0);
  session.reporter.note(`${counts}, ${formatBytes(bytes)}: ${path}`);
}

/** Decides which tables go into which file. */
function assignFiles(
  sources: readonly RowSource[],
  { format, path, isFolder, delimiter }: OutputTarget,
): { path: string | undefined; sources: RowSources }[] {
  const [first, ...others] = sources;
  if (!first) return [];
  if (!isFolder && others.length > 0 && !format.isMultiTable)
    throw new UsageError(`A file in the format \`${format.name}\` can contain only one table.`, {
      hint: "use a folder for one file per table, such as `--csv -o exports/`, or a workbook: `-o FILE.xlsx`",
    });
  if (path === undefined || !isFolder) return [{ path, sources: [first, ...others] }];
  const [extension] = format.extensions;
  if (extension === undefined)
    throw new UsageError(`\`--${format.name}\` writes all tables to one file: \`${path}\` is a folder.`, {
      hint: `name a file in this folder: \`-o ${quoteShellWord(join(path, `export${format.alsoExtensions?.[0] ?? ""}`))}\``,
    });
  const ending = delimiter === "\t" ? ".tsv" : extension;
  return sources.map((source) => ({ path: join(path, source.name + ending), sources: [source] }));
}

interface WrittenFile {
  /** The number of rows written for each table. */
  rows: ReadonlyMap<string, number>;
  bytes: number;
  /** True if the reader, such as `head`, closed the pipe early. */
  isCutShort: boolean;
}

async function writeFile(
  sources: RowSources,
  output: OutputTarget,
  session: ReadSession,
  bookmarks: Bookmarks | undefined,
): Promise<WrittenFile> {
  const { deps, reporter } = session;
  const { format, path, isCompressed, ...options } = output;
  const file = path === undefined ? undefined : expandPath(path, deps);
  await checkTarget(file, output, session);
  const { write } = await format.load();
  const names = sources.map(({ name }) => name);
  const warn = (text: string) => reporter.warn(`${names.join(", ")}: ${text}`);
  const rows = new Map(names.map((name) => [name, 0]));
  const data = tallyRows(write(sources, { ...options, bookmarks, warn }), rows);
  const sink = file === undefined ? createStdoutSink(deps.stdout) : await openFileSink(file, deps);
  const written = await writeAll(isCompressed ? compress(data) : data, sink);
  return { rows, ...written };
}

/**
 * @throws UsageError if binary data would be printed to a terminal, or if the file is the mirror or the config file
 */
async function checkTarget(
  file: string | undefined,
  { format, path }: OutputTarget,
  { deps, mirror }: ReadSession,
): Promise<void> {
  if (file === undefined) {
    if (format.isText || !deps.stdout.isTTY) return;
    throw new UsageError(`\`--${format.name}\` cannot be printed to a terminal.`, {
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

/** Yields each chunk's data, and adds the chunk's rows to the count for its table. */
function* tallyRows(chunks: Iterable<Chunk>, counts: Map<string, number>): Iterable<Chunk["data"]> {
  for (const { data, rows = 0, table } of chunks) {
    if (table !== undefined) counts.set(table, (counts.get(table) ?? 0) + rows);
    yield data;
  }
}

async function* compress(data: Iterable<Uint8Array | string>): AsyncIterable<Uint8Array> {
  const gzip = createGzip();
  // If the source of the data fails, `pipeline` destroys `gzip`, and `yield*` then throws the error.
  pipeline(Readable.from(data), gzip, () => {});
  yield* gzip as AsyncIterable<Uint8Array>;
}
