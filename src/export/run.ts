import type { Clock } from "../deps.js";
import type { Chunk } from "./format.js";
import { ReaderGone, type Sink } from "./sink.js";

const piecesPerPause = 32;

/** What an export wrote. */
export interface Exported {
  rows: number;
  bytes: number;
  /** Whether the reader of stdout, or of a pipe, left before the end. */
  cutShort: boolean;
}

/**
 * Select, format, sink: passes on what a format writes to its end, a piece at a time.
 * @throws whatever went wrong, after the sink has put everything back
 */
export async function runExport(
  chunks: Iterable<Chunk> | AsyncIterable<Chunk>,
  sink: Sink,
  { signal, clock }: { signal: AbortSignal; clock: Clock },
): Promise<Exported> {
  const done: Exported = { rows: 0, bytes: 0, cutShort: false };
  let pieces = 0;
  try {
    for await (const { data, rows } of chunks) {
      // Reading and a pipe's writing are synchronous: without a pause Ctrl-C would not be heard until the end.
      if (++pieces % piecesPerPause === 0) await clock.sleep(0, signal);
      signal.throwIfAborted();
      if (data.length > 0) await sink.write(data);
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
