import type { Output } from "../deps.js";

/** Where an export goes. */
export interface Sink {
  /** Resolves when the next piece may come. */
  write(data: Uint8Array | string): Promise<void>;
  /** Everything was written: make it visible. */
  finish(): Promise<void>;
  /** Something went wrong: leave everything as it was. */
  discard(): Promise<void>;
}

/** The reader of the output has gone (`| head`): there is nothing left to do, and that is no failure. */
export class ReaderGone extends Error {}

/** A stream, at the pace of who reads it. It is not closed: it may be the process's own. */
export function streamSink(stream: Output, signal: AbortSignal): Sink {
  let failure: Error | undefined;
  let wake: (() => void) | undefined;
  const fail = (error: NodeJS.ErrnoException) => {
    const gone = error.code === "EPIPE" || error.code === "ERR_STREAM_DESTROYED";
    // The first failure says why: a stream that failed is closed as well.
    failure ??= gone ? new ReaderGone() : error;
    wake?.();
  };
  const close = () => fail(Object.assign(new Error("closed"), { code: "EPIPE" }));
  const drained = () => wake?.();
  stream.on("error", fail);
  stream.on("close", close);
  stream.on("drain", drained);
  signal.addEventListener("abort", drained);
  const leave = async () => {
    stream.off("error", fail);
    stream.off("close", close);
    stream.off("drain", drained);
    signal.removeEventListener("abort", drained);
  };
  return {
    async write(data) {
      if (failure) throw failure;
      if (stream.write(data)) return;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
      wake = undefined;
      if (failure) throw failure;
      signal.throwIfAborted();
    },
    finish: leave,
    discard: leave,
  };
}
