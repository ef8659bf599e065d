import { pipeline, Readable } from "node:stream";
import { createGzip } from "node:zlib";
import { configPath, expandPath } from "../config/folders.js";
import type { Deps } from "../deps.js";
import { UsageError } from "../errors.js";
import type { Bookmarks, RowSources } from "../export/formats.js";
import { createStreamSink, openFileSink, type Sink, writeAll } from "../export/sinks.js";
import { mirrorFiles } from "../store/mirror-files.js";
import { resolveLinks } from "../util/files.js";
import { escapeData } from "../util/terminal-text.js";
import { formatBytes, pluralize } from "../util/text.js";
import type { ReadSession } from "./mirror-reading.js";
import type { OutputChoice } from "./output.js";

/** The number of rows written to each table, and the total number of bytes. */
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
  { format, path, isCompressed, excel, decimalComma, delimiter }: OutputChoice,
  { deps, mirror, reporter }: ReadSession,
  bookmarks?: Readonly<Bookmarks>,
): Promise<WrittenTables> {
  const file = path === undefined ? undefined : expandPath(path, deps);
  if (file === undefined && !format.isText && deps.stdout.isTTY)
    throw new UsageError(`\`${format.flag}\` cannot be printed to a terminal.`, {
      hint: `name a file with \`-o FILE${format.extensions[0] ?? ""}\``,
    });
  const protectedFiles = [
    ...mirrorFiles(await resolveLinks(mirror.path)),
    await resolveLinks(configPath(deps)),
  ];
  if (file !== undefined && protectedFiles.includes(await resolveLinks(file)))
    throw new UsageError(`The output file is the mirror or the config file: ${path}.`, {
      hint: "choose a different file with `-o`",
    });

  const { write } = await format.load();
  const names = sources.map(({ name }) => name).join(", ");
  const warn = (text: string) => reporter.warn(`${names}: ${text}`);
  const rows = new Map(sources.map(({ name }) => [name, 0]));
  function* writeData(): Iterable<Uint8Array | string> {
    const chunks = write(sources, { excel, decimalComma, delimiter, bookmarks, warn });
    for (const { data, rows: count, table = sources[0].name } of chunks) {
      rows.set(table, (rows.get(table) ?? 0) + count);
      yield data;
    }
  }
  const sink = file === undefined ? createStdoutSink(deps) : await openFileSink(file, deps);
  const written = await writeAll(isCompressed ? compress(writeData()) : writeData(), sink);
  return { rows, ...written };
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

/** Creates a sink for stdout. On a terminal, control characters in the data are escaped. */
function createStdoutSink({ stdout }: Pick<Deps, "stdout">): Sink {
  const sink = createStreamSink(stdout);
  if (!stdout.isTTY) return sink;
  // A chunk contains complete rows, so it never ends in the middle of a character.
  return { ...sink, write: (data) => sink.write(escapeData(Buffer.from(data).toString())) };
}

async function* compress(data: Iterable<Uint8Array | string>): AsyncIterable<Uint8Array> {
  const gzip = createGzip();
  // If generating the data fails, `pipeline` destroys `gzip`, and `yield*` throws the error.
  pipeline(Readable.from(data), gzip, () => {});
  yield* gzip as AsyncIterable<Uint8Array>;
}
