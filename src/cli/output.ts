import { statSync } from "node:fs";
import { extname, join } from "node:path";
import { pipeline, Readable } from "node:stream";
import { createGzip } from "node:zlib";
import { Option } from "commander";
import { configPath, expandPath, type PathDeps } from "../config/folders.js";
import type { Deps } from "../deps.js";
import { UsageError } from "../errors.js";
import type { Bookmarks, Chunk, Format, RowSources } from "../export/format.js";
import { formats } from "../export/formats.js";
import { createStreamSink, openFileSink, type Sink, writeAll } from "../export/sinks.js";
import { mirrorFiles } from "../store/mirror-files.js";
import { createFolder, resolveLinks } from "../util/files.js";
import { escapeData } from "../util/terminal-text.js";
import { formatBytes, formatCount, pluralize } from "../util/text.js";
import { withChoices } from "./flags.js";
import type { ReadSession } from "./mirror-reading.js";

/** The flags of commands that write data; each format adds one of its name. */
export interface OutputOptions {
  out?: string;
  excel?: boolean;
  delimiter?: string;
  decimalComma?: boolean;
}

/** How data is written, and where: the path as it was typed, undefined for stdout. */
export type OutputChoice = NonNullable<ReturnType<typeof chooseOutput>>;

/** Returns the flags that choose one of these formats, a file, and how CSV is written. */
export function createOutputOptions(among: readonly Format[] = formats): readonly Option[] {
  const names = among.map(({ name }) => name);
  return [
    ...among.map(({ name, flag, about }) =>
      new Option(flag, about).conflicts(names.filter((other) => other !== name)),
    ),
    new Option("-o, --out <file>", "write a file; its extension chooses the format"),
    withChoices(new Option("--delimiter <sign>", "between cells of CSV"), "delimiter", [
      ",",
      ";",
      "|",
      ":",
      "^",
      "~",
      "tab",
    ]),
    new Option("--excel", "CSV for spreadsheets: BOM, CRLF, dates, no formulas"),
    new Option("--decimal-comma", "CSV with decimal commas, and `;` between cells"),
  ];
}

/**
 * Returns the output that the flags ask for: a format by its flag, or by the file's extension; undefined if neither is
 * given. Tables that are written into a folder are CSV by default.
 * @param tables the number of tables that are written; 0 for the result of a query, which has no name for a file
 * @throws UsageError for an unknown extension, or flags that contradict each other or the extension
 */
export function chooseOutput(
  options: OutputOptions & { [name: string]: unknown },
  tables: number,
  deps: PathDeps,
  among: readonly Format[] = formats,
) {
  const { out, excel = false, decimalComma = false, delimiter } = options;
  const path = out === "-" || out === "/dev/stdout" ? undefined : out;
  const name = (path ?? "").toLowerCase();
  const isFolder = path !== undefined && isFolderPath(path, among, deps);
  if (isFolder && tables === 0)
    throw new UsageError(`The output is a folder: ${path}`, { hint: "name a file in it" });
  const isCompressed = !isFolder && name.endsWith(".gz");
  const extension = isFolder ? "" : extname(isCompressed ? name.slice(0, -3) : name);
  const [csvFlag] = [
    ...(excel ? ["--excel"] : []),
    ...(decimalComma ? ["--decimal-comma"] : []),
    ...(delimiter === undefined ? [] : ["--delimiter"]),
  ];
  const flagged = among.find((one) => options[one.name] === true);
  const named = among.find((one) => one.extensions.includes(extension));
  const fallback = csvFlag || isFolder ? among.find((one) => one.name === "csv") : undefined;
  const format = flagged ?? named ?? fallback;
  if (!format && path !== undefined) throw noFormatError(among, path);
  if (!format) return undefined;
  if (named && named !== format && !format.alsoExtensions.includes(extension))
    throw new UsageError(`\`${format.flag}\` contradicts the file's extension: ${path}`, {
      hint: `leave \`${format.flag}\` out, or name a file that ends in ${[...format.extensions, ...format.alsoExtensions].join(" or ")}`,
    });
  if (isCompressed && !format.isText) throw noFormatError(among, path);
  if (csvFlag && format.name !== "csv")
    throw new UsageError(`\`${csvFlag}\` is for CSV, not for \`${format.flag}\`.`, {
      hint: "leave one of them out",
    });
  if (extension === ".tsv" && delimiter !== undefined && delimiter !== "tab")
    throw new UsageError(`\`--delimiter "${delimiter}"\` contradicts the file's extension: ${path}`, {
      hint: "a .tsv file has tabs; name a .csv file",
    });
  if (decimalComma && delimiter === ",")
    throw new UsageError("`--decimal-comma` needs another delimiter than a comma.", {
      hint: "leave `--delimiter` out: the default is then `;`",
    });
  const sign = delimiter ?? (extension === ".tsv" ? "tab" : decimalComma ? ";" : ",");
  return {
    format,
    path,
    isFolder,
    isCompressed,
    excel,
    decimalComma,
    delimiter: sign === "tab" ? "\t" : sign,
  };
}

/** True for a path that ends in a slash, or of a folder that exists and has no extension of a format. */
function isFolderPath(path: string, among: readonly Format[], deps: PathDeps): boolean {
  if (path.endsWith("/")) return true;
  const extension = extname(path).toLowerCase();
  if (among.some(({ extensions }) => extensions.includes(extension))) return false;
  return statSync(expandPath(path, deps), { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/**
 * Returns a table's file in the output folder, which is created if needed.
 * @throws UsageError if the output is no folder, or the format is a stream of several tables
 */
export function tableFilePath(
  { format, path = "", isFolder, delimiter }: OutputChoice,
  table: string,
  deps: Deps,
): string {
  if (!isFolder)
    throw new UsageError(`\`${format.flag}\` holds one table.`, {
      hint: "name a folder for a file each, such as `--csv -o exports/`, or a workbook: `-o FILE.xlsx`",
    });
  const [extension] = format.extensions;
  if (extension === undefined)
    throw new UsageError(`\`${format.flag}\` writes all tables to one file: ${path} is a folder.`, {
      hint: `name a file in it: \`-o FILE${format.alsoExtensions[0] ?? ""}\``,
    });
  createFolder(expandPath(path, deps));
  return join(path, table + (delimiter === "\t" ? ".tsv" : extension));
}

/** Returns the error for a command line that names no format. @param path of a file whose ending names none */
export function noFormatError(among: readonly Format[] = formats, path?: string): UsageError {
  const flags = among.map(({ flag }) => `\`${flag}\``).join(", ");
  const endings = among.flatMap(({ extensions }) => extensions).join(", ");
  const fault = path === undefined ? "No format was given." : `The file's extension names no format: ${path}`;
  const hint = `add ${flags}, or name a file with \`-o\` that ends in ${endings}; .gz may follow the text formats`;
  return new UsageError(fault, { hint });
}

/** What was written: the rows of each table, and the bytes. */
export interface WrittenTables {
  rows: ReadonlyMap<string, number>;
  bytes: number;
  /** True if the reader closed the output before the end. */
  isCutShort: boolean;
}

/**
 * Writes sources into a file or stdout.
 * @throws UsageError for bytes on a terminal, or if the file is the mirror that is read, or the settings
 */
export async function writeRows(
  sources: RowSources,
  { format, path, isCompressed, excel, decimalComma, delimiter }: OutputChoice,
  { deps, mirror, reporter }: ReadSession,
  bookmarks?: Readonly<Bookmarks>,
): Promise<WrittenTables> {
  const file = path === undefined ? undefined : expandPath(path, deps);
  if (file === undefined && !format.isText && deps.stdout.isTTY)
    throw new UsageError(`\`${format.flag}\` is not for a terminal.`, {
      hint: `name a file with \`-o FILE${format.extensions[0] ?? ""}\``,
    });
  const others = [...mirrorFiles(await resolveLinks(mirror.path)), await resolveLinks(configPath(deps))];
  if (file !== undefined && others.includes(await resolveLinks(file)))
    throw new UsageError(`The file to write is the mirror itself, or the settings: ${path}.`, {
      hint: "name another with `-o`",
    });
  const names = sources.map(({ name }) => name).join(", ");
  const { write } = await format.load();
  const warn = (text: string) => reporter.warn(`${names}: ${text}`);
  const rows = new Map(sources.map(({ name }) => [name, 0]));
  const chunks = countRows(
    write(sources, { excel, decimalComma, delimiter, bookmarks, warn }),
    sources[0].name,
    rows,
  );
  const sink = file === undefined ? stdoutSink(deps) : await openFileSink(file, deps);
  const { bytes, isCutShort } = await writeAll(isCompressed ? compress(chunks) : chunks, sink);
  return { rows, bytes, isCutShort };
}

/** Prints one line about what was written to a path: the rows of each table, and the bytes. */
export function reportOutput(
  path: string,
  written: readonly WrittenTables[],
  { reporter }: ReadSession,
): void {
  if (written.some(({ isCutShort }) => isCutShort)) return;
  const tables = written.flatMap(({ rows }) => [...rows]);
  const list = tables.map(([name, count]) => `${name}: ${pluralize(count, "row", formatCount)}`).join(", ");
  const bytes = written.reduce((sum, one) => sum + one.bytes, 0);
  reporter.note(`${list}, ${formatBytes(bytes)}: ${path}`);
}

/** Adds up the rows of each table as its chunks pass. */
function* countRows(chunks: Iterable<Chunk>, only: string, rows: Map<string, number>): Iterable<Chunk> {
  for (const chunk of chunks) {
    const table = chunk.table ?? only;
    rows.set(table, (rows.get(table) ?? 0) + chunk.rows);
    yield chunk;
  }
}

/** Returns stdout for data: a pipe gets every byte as it is, a terminal nothing that would act on it. */
function stdoutSink({ stdout }: Pick<Deps, "stdout">): Sink {
  const sink = createStreamSink(stdout);
  if (!stdout.isTTY) return sink;
  // A piece is whole rows, so no character is cut in two.
  return { ...sink, write: (data) => sink.write(escapeData(Buffer.from(data).toString())) };
}

/** Compresses the chunks. */
async function* compress(chunks: Iterable<Chunk>): AsyncIterable<Chunk> {
  function* bytes() {
    for (const { data } of chunks) yield data;
  }
  const gzip = createGzip();
  // An error of the rows destroys `gzip`, and is thrown by the loop below.
  pipeline(Readable.from(bytes()), gzip, () => {});
  for await (const data of gzip) yield { data, rows: 0 };
}
