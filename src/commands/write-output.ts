import { pipeline, Readable } from "node:stream";
import { createGzip } from "node:zlib";
import { configFile, expandPath } from "../config/folders.js";
import type { Deps } from "../deps.js";
import { UsageError } from "../errors.js";
import { openFileSink } from "../export/file-sink.js";
import type { Bookmarks, Chunk, Sources } from "../export/format.js";
import { type Sink, streamSink, writeAll } from "../export/sink.js";
import { counted } from "../lib/counted.js";
import { resolveLinks } from "../lib/resolve-links.js";
import { mirrorFiles } from "../mirror/index.js";
import { formatBytes, formatCount } from "../ui/numbers.js";
import { escapeData } from "../ui/text.js";
import type { Output } from "./output.js";
import type { Reading } from "./reading.js";

/** What was written: the rows of each table, and the bytes. */
export interface Written {
  rows: ReadonlyMap<string, number>;
  bytes: number;
  /** True if the reader closed the output before the end. */
  isCutShort: boolean;
}

/**
 * Writes sources into a file or stdout.
 * @throws UsageError for bytes on a terminal, or if the file is the mirror that is read, or the settings
 */
export async function writeOutput(
  sources: Sources,
  { format, path, isCompressed, excel, decimalComma, delimiter }: Output,
  { deps, mirror, reporter }: Reading,
  bookmarks?: Readonly<Bookmarks>,
): Promise<Written> {
  const file = path === undefined ? undefined : expandPath(path, deps);
  if (file === undefined && !format.isText && deps.stdout.isTTY)
    throw new UsageError(`\`${format.flag}\` is not for a terminal.`, {
      hint: `name a file with \`-o FILE${format.extensions[0] ?? ""}\``,
    });
  const others = [...mirrorFiles(await resolveLinks(mirror.path)), await resolveLinks(configFile(deps))];
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
  const sink = file === undefined ? dataSink(deps) : await openFileSink(file, deps);
  const { bytes, isCutShort } = await writeAll(isCompressed ? gzipped(chunks) : chunks, sink);
  return { rows, bytes, isCutShort };
}

/** Prints one line about what was written to a path: the rows of each table, and the bytes. */
export function reportWritten(path: string, written: readonly Written[], { reporter }: Reading): void {
  if (written.some(({ isCutShort }) => isCutShort)) return;
  const tables = written.flatMap(({ rows }) => [...rows]);
  const list = tables.map(([name, count]) => `${name}: ${counted(count, "row", formatCount)}`).join(", ");
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
function dataSink({ stdout }: Pick<Deps, "stdout">): Sink {
  const sink = streamSink(stdout);
  if (!stdout.isTTY) return sink;
  // A piece is whole rows, so no character is cut in two.
  return { ...sink, write: (data) => sink.write(escapeData(Buffer.from(data).toString())) };
}

/** Compresses the chunks. */
async function* gzipped(chunks: Iterable<Chunk>): AsyncIterable<Chunk> {
  function* bytes() {
    for (const { data } of chunks) yield data;
  }
  const gzip = createGzip();
  // An error of the rows destroys `gzip`, and is thrown by the loop below.
  pipeline(Readable.from(bytes()), gzip, () => {});
  for await (const data of gzip) yield { data, rows: 0 };
}
