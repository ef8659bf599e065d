import { existsSync } from "node:fs";
import { pipeline, Readable } from "node:stream";
import { createGzip } from "node:zlib";
import { configPath, expandPath } from "../config/folders.js";
import type { GlobalFlags } from "../config/settings.js";
import type { Deps } from "../deps.js";
import { Stopped, UsageError } from "../errors.js";
import type { Bookmarks, Chunk, RowSources } from "../export/formats.js";
import { createStdoutSink, openFileSink, writeAll } from "../export/sinks.js";
import { mirrorFiles } from "../store/mirror-files.js";
import { resolveLinks } from "../util/files.js";
import { formatBytes, pluralize } from "../util/text.js";
import { type ReadSession, readMirror } from "./mirror-reading.js";
import type { OutputChoice } from "./output-choice.js";

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
