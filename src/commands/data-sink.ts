import type { Deps } from "../deps.js";
import { type Sink, streamSink } from "../export/sink.js";
import { openDataEscaper } from "../ui/data.js";

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
