import { once } from "node:events";
import type { Output } from "../deps.js";
import type { Chunk } from "./format.js";

export interface Sink {
  /** Resolves when the next piece may come. */
  write(data: Uint8Array | string): Promise<void>;
  /** Everything was written: makes it visible. */
  finish(): Promise<void>;
  /** Something went wrong: leaves everything as it was. */
  discard(): Promise<void>;
}

export interface Exported {
  rows: number;
  bytes: number;
  /** True if the reader closed the output before the end. */
  isCutShort: boolean;
}

/** Writes all pieces into a sink. @throws what went wrong, after the sink has put everything back */
export async function writeAll(
  chunks: Iterable<Chunk> | AsyncIterable<Chunk>,
  sink: Sink,
): Promise<Exported> {
  const done: Exported = { rows: 0, bytes: 0, isCutShort: false };
  try {
    for await (const { data, rows } of chunks) {
      await sink.write(data);
      done.rows += rows;
      done.bytes += Buffer.byteLength(data);
    }
    await sink.finish();
  } catch (error) {
    await sink.discard();
    if (!(error instanceof ReaderGone)) throw error;
    done.isCutShort = true;
  }
  return done;
}

/** The reader of the output has closed it (`| head`): nothing is left to do, and that is no failure. */
export class ReaderGone extends Error {}

/** Writes to a stream at its reader's pace. Does not close it, because it may be the process's own. */
export function streamSink(stream: Output): Sink {
  let failure: Error | undefined;
  const note = (error: NodeJS.ErrnoException) => {
    const isGone = error.code === "EPIPE" || error.code === "ERR_STREAM_DESTROYED";
    failure ??= isGone ? new ReaderGone() : error;
  };
  const noteClosed = () => note(Object.assign(new Error("closed"), { code: "EPIPE" }));
  stream.on("error", note).on("close", noteClosed);
  const leave = async () => void stream.off("error", note).off("close", noteClosed);
  return {
    async write(data) {
      if (failure) throw failure;
      if (data.length > 0 && !stream.write(data)) await drained(stream);
      if (failure) throw failure;
    },
    finish: leave,
    discard: leave,
  };
}

/** Resolves when the stream takes more, or has failed. */
async function drained(stream: Output): Promise<void> {
  const done = new AbortController();
  const events = ["drain", "close"].map((name) => once(stream, name, { signal: done.signal }));
  await Promise.race(events).catch(() => {});
  done.abort();
}
