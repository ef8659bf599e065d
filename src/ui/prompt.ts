import { StringDecoder } from "node:string_decoder";
import type { Deps } from "../deps.js";
import { Stopped, UsageError } from "../errors.js";
import { createLine } from "./line.js";

/** Questions on a terminal, one after another; close it before anything else happens. */
export interface Prompt {
  /**
   * Asks for one line, the question on stderr. With `hidden`, nothing that is typed is shown.
   * Rejects with `Stopped` on Ctrl-C, with the signal's reason when it aborts, with UsageError at the end of input.
   */
  ask(question: string, options: { hidden: boolean }): Promise<string>;
  /** Does something between two questions: the terminal is as it was, and Ctrl-C interrupts it. */
  aside<T>(work: () => Promise<T>): Promise<T>;
  /** Gives the terminal back as it was. */
  close(): void;
}

/**
 * Opens questions in raw mode, in which the terminal echoes nothing: a key that is typed ahead, while a question before
 * it is answered, is not shown either, as Node's readline would do. It listens from the first question to the last,
 * because a terminal that is paused between two does not always come back (Node 20).
 */
export function openPrompt({ stdin, stderr, signal }: Pick<Deps, "stdin" | "stderr" | "signal">): Prompt {
  const decoder = new StringDecoder("utf8");
  let typed = "";
  let ended = false;
  let wake = () => {};
  const take = (chunk: Buffer | string) => {
    typed += typeof chunk === "string" ? chunk : decoder.write(chunk);
    wake();
  };
  const end = () => {
    ended = true;
    wake();
  };
  let isRaw = false;
  const setRaw = (raw: boolean) => {
    if (isRaw !== raw) stdin.setRawMode?.(raw);
    isRaw = raw;
  };
  stdin.on("data", take).on("end", end);
  stdin.resume();
  signal.addEventListener("abort", end);

  async function answer(hidden: boolean): Promise<string> {
    const line = createLine((text) => hidden || stderr.write(text));
    for (;;) {
      signal.throwIfAborted();
      const outcome = line.type(typed);
      typed = "";
      if (outcome === "interrupted") throw new Stopped("SIGINT", "nothing was stored");
      if (outcome === "ended" || (outcome === undefined && ended))
        throw new UsageError("Nothing was entered.");
      if (outcome !== undefined) {
        typed = outcome.rest;
        return outcome.line;
      }
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }

  return {
    async ask(question, { hidden }) {
      setRaw(true);
      stderr.write(question);
      try {
        return await answer(hidden);
      } finally {
        stderr.write("\n");
      }
    },
    async aside(work) {
      setRaw(false);
      return await work();
    },
    close() {
      signal.removeEventListener("abort", end);
      stdin.off("data", take).off("end", end);
      stdin.pause();
      setRaw(false);
    },
  };
}
