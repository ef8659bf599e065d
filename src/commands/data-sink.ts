import { expandPath } from "../config/folders.js";
import type { Deps } from "../deps.js";
import { UsageError } from "../errors.js";
import { openFileSink } from "../export/file-sink.js";
import type { WriteOptions } from "../export/format.js";
import { type Exported, runExport } from "../export/run.js";
import { type Sink, streamSink } from "../export/sink.js";
import type { Source } from "../query/index.js";
import { openDataEscaper } from "../ui/data.js";
import type { Output } from "./output.js";

/**
 * Where an output goes, ready for the first row.
 * @throws UsageError where a terminal would get what is no text
 */
export async function openOutput({ format, path }: Output, deps: Deps): Promise<Sink> {
  if (path !== undefined) return await openFileSink(expandPath(path, deps), deps);
  if (!format.isText && deps.stdout.isTTY)
    throw new UsageError(`What \`${format.flag}\` writes is not for a terminal.`, {
      hint: `name a file with \`-o FILE${format.extensions[0] ?? ""}\``,
    });
  return dataSink(deps);
}

/** Writes all of one source, or of several where the format takes them; where that fails, the sink puts everything back. */
export async function writeOutput(
  sources: readonly [Source, ...Source[]],
  { format, isCompressed, excel, delimiter }: Output,
  { sink, deps, ...rest }: { sink: Sink; deps: Deps } & Pick<WriteOptions, "warn" | "state" | "remember">,
): Promise<Exported> {
  try {
    const [source] = sources;
    const options = { excel, delimiter, ...rest };
    const { write } = (await format.load?.()) ?? {};
    const { writeAll } = (await format.loadAll?.()) ?? {};
    const chunks = writeAll?.(sources, options) ?? write?.(source, options) ?? [];
    if (!isCompressed) return await runExport(chunks, sink, deps);
    const { gzipped } = await import("../export/gzip.js");
    return await runExport(gzipped(chunks), sink, deps);
  } catch (error) {
    await sink.discard();
    throw error;
  }
}

/** Stdout for data: a pipe gets every byte as it is, a terminal nothing that would act on it (contract, section 7). */
export function dataSink({ stdout, signal }: Pick<Deps, "stdout" | "signal">): Sink {
  const sink = streamSink(stdout, signal);
  if (!stdout.isTTY) return sink;
  const escaper = openDataEscaper();
  return {
    write: (data) => sink.write(escaper.piece(data)),
    async finish() {
      const rest = escaper.end();
      if (rest) await sink.write(rest);
      await sink.finish();
    },
    discard: sink.discard,
  };
}
