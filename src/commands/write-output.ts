import { existsSync } from "node:fs";
import { pipeline, Readable } from "node:stream";
import { createGzip } from "node:zlib";
import { configFile, expandPath } from "../config/folders.js";
import type { Deps } from "../deps.js";
import { ConfigurationError, UsageError } from "../errors.js";
import { openFileSink } from "../export/file-sink.js";
import type { Bookmarks, Chunk, Sources } from "../export/format.js";
import { type Exported, type Sink, streamSink, writeAll } from "../export/sink.js";
import { counted } from "../lib/counted.js";
import { parseJson } from "../lib/parse-json.js";
import { readText } from "../lib/read-text.js";
import { resolveLinks } from "../lib/resolve-links.js";
import { mirrorFiles } from "../mirror/index.js";
import { formatBytes, formatCount } from "../ui/numbers.js";
import { escapeData } from "../ui/text.js";
import type { Output } from "./output.js";
import type { Reading } from "./reading.js";

/**
 * Writes sources into a file or stdout; of a file, reports its rows.
 * @throws UsageError for bytes on a terminal, or if the file is the mirror that is read, or the settings
 */
export async function writeOutput(
  sources: Sources,
  { format, path, isCompressed, excel, delimiter }: Output,
  { deps, mirror, reporter }: Reading,
  bookmarks?: Bookmarks,
): Promise<Exported> {
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
  const chunks = write(sources, { excel, delimiter, bookmarks, warn });
  const sink = file === undefined ? dataSink(deps) : await openFileSink(file, deps);
  const done = await writeAll(isCompressed ? gzipped(chunks) : chunks, sink);
  const rows = counted(done.rows, "row", formatCount);
  if (path !== undefined) reporter.note(`${names}: ${rows}, ${formatBytes(done.bytes)}: ${path}`);
  return done;
}

/** Writes what changed since the run that left the state, then the next state. */
export async function writeSince(state: string, sources: Sources, output: Output, reading: Reading) {
  const path = expandPath(state, reading.deps);
  const bookmarks = readBookmarks(path);
  const { cutShort } = await writeOutput(sources, output, reading, bookmarks);
  if (cutShort) return;
  const sink = await openFileSink(path, reading.deps);
  await writeAll([{ data: `${JSON.stringify({ bookmarks })}\n`, rows: 0 }], sink);
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
  for await (const data of gzip) yield { data, rows: 0 };
  yield { data: "", rows };
}

/** Reads the state that an earlier export left; empty if there is none. */
function readBookmarks(path: string): Bookmarks {
  if (!existsSync(path)) return {};
  const state = parseJson<{ bookmarks?: Bookmarks } | null>(readText(path));
  if (state?.bookmarks) return state.bookmarks;
  throw new ConfigurationError(`The file is no state that \`brandapi\` wrote: ${path}`, {
    hint: "name another with `--state`; without a state everything is sent",
  });
}
