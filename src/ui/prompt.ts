import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import type { Deps } from "../deps.js";
import { Stopped, UsageError } from "../errors.js";

/** Opens questions on a terminal, one after another: one reader keeps the lines that were typed ahead. */
export function openPrompt({ stdin, stderr, signal }: Pick<Deps, "stdin" | "stderr" | "signal">) {
  let isHidden = false;
  const output = new Writable({
    write(text, _encoding, done) {
      if (!isHidden) stderr.write(text);
      done();
    },
  });
  const reader = createInterface({ input: stdin, output, terminal: true, historySize: 0 });
  const typed: string[] = [];
  let stopped: unknown;
  let wake = () => {};
  const stop = (why: unknown) => {
    stopped ??= why;
    wake();
  };
  const abort = () => stop(signal.reason);
  reader.on("line", (line) => {
    typed.push(line);
    wake();
  });
  reader.on("SIGINT", () => stop(new Stopped("SIGINT", "nothing was stored")));
  reader.on("close", () => stop(new UsageError("Nothing was entered.")));
  signal.addEventListener("abort", abort, { once: true });

  return {
    /**
     * Asks for one line, the question on stderr; nothing that is typed is shown with `hidden`.
     * @throws Stopped on Ctrl-C, the signal's reason when it aborts, UsageError at the end of input
     */
    async ask(question: string, { hidden }: { hidden: boolean }): Promise<string> {
      stderr.write(question);
      isHidden = hidden;
      while (typed.length === 0 && stopped === undefined)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      if (hidden) stderr.write("\n");
      isHidden = true;
      const line = typed.shift();
      if (line === undefined) throw stopped;
      return line;
    },
    /** Does something between two questions; Ctrl-C interrupts it. */
    async aside<T>(work: () => Promise<T>): Promise<T> {
      stdin.setRawMode?.(false);
      try {
        return await work();
      } finally {
        stdin.setRawMode?.(true);
      }
    },
    /** Gives the terminal back as it was. */
    close(): void {
      signal.removeEventListener("abort", abort);
      reader.close();
    },
  };
}
