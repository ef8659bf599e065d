import { StringDecoder } from "node:string_decoder";
import type { Deps } from "../deps.js";
import { Stopped, UsageError } from "../errors.js";
import { createLine } from "./line.js";

/**
 * Asks for one line on the terminal, the question on stderr. With `hidden`, nothing that is typed is shown.
 * Rejects with `Stopped` on Ctrl-C, with the signal's reason when it aborts, with UsageError at the end of input.
 */
export async function askLine(
  question: string,
  { hidden }: { hidden: boolean },
  deps: Pick<Deps, "stdin" | "stderr" | "signal">,
): Promise<string> {
  const { stdin, stderr, signal } = deps;
  signal.throwIfAborted();
  const answer = new AbortController();
  let rest = "";
  // Raw mode comes before the question: what is typed after it is never echoed by the terminal itself.
  stdin.setRawMode?.(true);
  stderr.write(question);
  try {
    return await new Promise<string>((resolve, reject) => {
      const decoder = new StringDecoder("utf8");
      const line = createLine((text) => hidden || stderr.write(text));
      const end = () => reject(new UsageError("Nothing was entered."));
      const take = (chunk: Buffer | string) => {
        const outcome = line.type(typeof chunk === "string" ? chunk : decoder.write(chunk));
        if (outcome === "interrupted") reject(new Stopped("SIGINT"));
        else if (outcome === "ended") end();
        else if (outcome !== undefined) {
          rest = outcome.rest;
          resolve(outcome.line);
        }
      };
      signal.addEventListener("abort", () => reject(signal.reason), { signal: answer.signal });
      answer.signal.addEventListener("abort", () => stdin.off("data", take).off("end", end));
      stdin.on("data", take).on("end", end).resume();
    });
  } finally {
    answer.abort();
    stdin.pause();
    if (rest !== "") stdin.unshift(rest);
    stdin.setRawMode?.(false);
    stderr.write("\n");
  }
}
