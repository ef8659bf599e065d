import type { Clock } from "../deps.js";
import type { Source } from "../query/index.js";
import type { WriteOptions, Writer } from "./format.js";
import { ReaderGone, type Sink } from "./sink.js";

const piecesPerPause = 32;

/** What an export wrote. */
export interface Exported {
  rows: number;
  bytes: number;
  /** Whether the reader of stdout left before the end. */
  cutShort: boolean;
}

/**
 * Select, format, sink: writes a source to its end, a batch at a time.
 * @throws whatever went wrong, after the sink has put everything back
 */
export async function runExport(
  source: Source,
  write: Writer,
  sink: Sink,
  options: WriteOptions & { signal: AbortSignal; clock: Clock },
): Promise<Exported> {
  const done: Exported = { rows: 0, bytes: 0, cutShort: false };
  let pieces = 0;
  try {
    for await (const { data, rows } of write(source, options)) {
      // Reading and a pipe's writing are synchronous: without a pause Ctrl-C would not be heard until the end.
      if (++pieces % piecesPerPause === 0) await options.clock.sleep(0, options.signal);
      options.signal.throwIfAborted();
      await sink.write(data);
      done.rows += rows;
      done.bytes += typeof data === "string" ? Buffer.byteLength(data) : data.length;
    }
    await sink.finish();
  } catch (error) {
    await sink.discard();
    if (!(error instanceof ReaderGone)) throw error;
    done.cutShort = true;
  }
  return done;
}
