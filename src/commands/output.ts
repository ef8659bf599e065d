import { basename, extname } from "node:path";
import { pipeline, Readable } from "node:stream";
import { createGzip } from "node:zlib";
import { Option } from "commander";
import { expandPath } from "../config/folders.js";
import type { Deps } from "../deps.js";
import { UsageError } from "../errors.js";
import { openFileSink } from "../export/file-sink.js";
import type { Chunk, Format, Sources, WriteOptions } from "../export/format.js";
import { formats } from "../export/formats/index.js";
import { type Exported, type Sink, streamSink, writeAll } from "../export/sink.js";
import { escapeData } from "../ui/text.js";
import { parsed } from "./flags.js";

/** The flags of commands that write data; each format adds one of its name. */
export interface OutputFlags {
  out?: string;
  excel?: boolean;
  delimiter?: string;
}

/** How data is written, and where. */
export interface Output {
  format: Format;
  /** As it was typed; undefined: stdout. */
  path?: string | undefined;
  isCompressed?: boolean;
  excel?: boolean;
  delimiter?: string;
}

export function outputFlags(among: readonly Format[] = formats): readonly Option[] {
  return [
    ...among.map(({ flag, about }) => new Option(flag, about)),
    new Option("-o, --out <file>", "write a file; its ending names the format"),
    parsed("--delimiter <sign>", "between cells of CSV: , ; | : ^ ~ or tab", parseDelimiter).hideHelp(),
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
): Output | undefined {
  const { out, excel = false, delimiter } = options;
  const path = out === "-" ? undefined : out;
  const name = basename(path ?? "").toLowerCase();
  const named = among.find((one) => one.extensions.some((end) => isNamed(name, end, one.isText)));
  const [asked, second] = among.filter((one) => options[one.name] === true);
  if (asked && second)
    throw new UsageError(`One format at a time, not \`${asked.flag}\` and \`${second.flag}\`.`, {
      hint: "leave one of them out",
    });
  if (!asked && !named && extname(name) !== "")
    throw new UsageError(`No format has the ending \`${extname(name)}\`: ${path}`, { hint: endings(among) });
  if (asked && named && asked !== named && asked.extensions.length > 0)
    throw new UsageError(`\`${asked.flag}\` does not go with the file's ending: ${path}`, {
      hint: "leave the flag out, or change the ending",
    });
  const isOfCsv = excel || delimiter !== undefined;
  const format = asked ?? named ?? (isOfCsv ? among.find((one) => one.name === "csv") : undefined);
  if (isOfCsv && format && format.name !== "csv")
    throw new UsageError(`\`${excel ? "--excel" : "--delimiter"}\` is for CSV, not for \`${format.flag}\`.`, {
      hint: "leave one of them out",
    });
  return (
    format && {
      format,
      path,
      isCompressed: name.endsWith(".gz"),
      excel,
      delimiter: delimiter ?? (/\.tsv(\.gz)?$/.test(name) ? "\t" : ","),
    }
  );
}

/** Returns the error for flags that name no format. */
export function noFormat(among: readonly Format[] = formats): UsageError {
  const flags = among.map(({ flag }) => `\`${flag}\``).join(", ");
  return new UsageError("No format was given.", {
    hint: `add ${flags}, or name a file with \`-o FILE.csv\``,
  });
}

/**
 * Writes sources into a file or stdout.
 * @throws UsageError for bytes on a terminal, or if the file is the mirror that is read
 */
export async function writeOutput(
  sources: Sources,
  { format, path, isCompressed, excel = false, delimiter = "," }: Output,
  { deps, dbPath, ...rest }: { deps: Deps; dbPath: string } & Omit<WriteOptions, "excel" | "delimiter">,
): Promise<Exported> {
  const file = path === undefined ? undefined : expandPath(path, deps);
  if (file === undefined && !format.isText && deps.stdout.isTTY)
    throw new UsageError(`\`${format.flag}\` is not for a terminal.`, {
      hint: `name a file with \`-o FILE${format.extensions[0] ?? ""}\``,
    });
  if (file === dbPath)
    throw new UsageError(`The file to write is the mirror itself: ${path}.`, {
      hint: "name another with `-o`",
    });
  const { write } = await format.load();
  const chunks = write(sources, { excel, delimiter, ...rest });
  const sink = file === undefined ? dataSink(deps) : await openFileSink(file, deps);
  return await writeAll(isCompressed ? gzipped(chunks) : chunks, sink);
}

/** Returns stdout for data: a pipe gets every byte as it is, a terminal nothing that would act on it. */
function dataSink({ stdout }: Pick<Deps, "stdout">): Sink {
  const sink = streamSink(stdout);
  if (!stdout.isTTY) return sink;
  // A piece is whole rows, so no character is cut in two.
  return { ...sink, write: (data) => sink.write(escapeData(Buffer.from(data).toString())) };
}

/** Returns the same, compressed on the way. */
async function* gzipped(chunks: Iterable<Chunk>): AsyncIterable<Chunk> {
  let rows = 0;
  function* bytes() {
    for (const chunk of chunks) {
      rows += chunk.rows;
      yield chunk.data;
    }
  }
  const gzip = createGzip();
  // An error of the rows destroys `gzip`, and is thrown by the loop below.
  pipeline(Readable.from(bytes()), gzip, () => {});
  for await (const data of gzip) {
    yield { data, rows };
    rows = 0;
  }
}

function isNamed(name: string, ending: string, isText: boolean): boolean {
  return name.endsWith(ending) || (isText && name.endsWith(`${ending}.gz`));
}

function endings(among: readonly Format[]): string {
  const of = (isText: boolean) =>
    among.filter((one) => one.isText === isText).flatMap(({ extensions }) => extensions);
  return `use ${of(true).join(", ")}, each also with .gz, ${of(false).join(" or ")}; or a flag such as \`--csv\``;
}

function parseDelimiter(text: string): string {
  if (text === "tab" || text === "\\t") return "\t";
  if (/^[,;|:^~\t]$/.test(text)) return text;
  throw new UsageError(`Not a delimiter: \`${text}\`.`, {
    hint: "use one of , ; | : ^ ~ in quotes, or `tab`",
  });
}
