import { StringDecoder } from "node:string_decoder";
import type { Deps } from "../deps.js";
import { Stopped, UsageError } from "../errors.js";

/** Questions on a terminal, one after another; close it before anything else happens. */
export interface Prompt {
  /**
   * Asks for one line, the question on stderr. With `hidden`, nothing that is typed is shown.
   * Rejects with `Stopped` on Ctrl-C, with the signal's reason when it aborts, with UsageError at the end of input.
   */
  ask(question: string, options: { hidden: boolean }): Promise<string>;
  /** Gives the terminal back as it was. */
  close(): void;
}

const mostCharacters = 20_000;
/** Arrow keys and the like. Built from text: a control character in a pattern reads as a mistake. */
const escapeSequence = new RegExp(`${String.fromCharCode(27)}(?:\\[[0-9;?]*[ -/]*[@-~]|O.|.)?`, "gu");
const [ctrlC, ctrlD, ctrlU] = ["\u0003", "\u0004", "\u0015"];

/**
 * Opens questions in raw mode, in which the terminal echoes and edits nothing: a key that is typed ahead, while a
 * question before it is answered, is not shown either, as Node's readline would do. It listens from the first question to
 * the last, because a terminal that is paused between two does not always come back (Node 20).
 */
export function openPrompt({ stdin, stderr, signal }: Pick<Deps, "stdin" | "stderr" | "signal">): Prompt {
  const decoder = new StringDecoder("utf8");
  const typed: string[] = [];
  let ended = false;
  let wake = () => {};
  const take = (chunk: Buffer | string) => {
    const text = typeof chunk === "string" ? chunk : decoder.write(chunk);
    typed.push(...text.replace(escapeSequence, "").replaceAll("\r\n", "\n"));
    wake();
  };
  const end = () => {
    ended = true;
    wake();
  };
  stdin.on("data", take).on("end", end);
  stdin.resume();
  signal.addEventListener("abort", end);

  function woken(): Promise<void> {
    return new Promise((resolve) => {
      wake = resolve;
    });
  }

  /** Enter ends the line, Backspace and Ctrl-U erase, Ctrl-C interrupts, Ctrl-D on an empty line ends the input. */
  async function answer(echo: (text: string) => unknown): Promise<string> {
    const line: string[] = [];
    for (;;) {
      signal.throwIfAborted();
      const character = typed.shift();
      if (character === undefined && !ended) await woken();
      else if (character === ctrlC) throw new Stopped("SIGINT", "nothing was stored");
      else if (character === undefined || (character === ctrlD && line.length === 0))
        throw new UsageError("Nothing was entered.");
      else if (character === "\r" || character === "\n") return line.join("");
      else if (character === "\u007f" || character === "\b") echo(line.pop() === undefined ? "" : "\b \b");
      else if (character === ctrlU) echo("\b \b".repeat(line.splice(0).length));
      else if (character >= " " && line.length < mostCharacters) {
        line.push(character);
        echo(character);
      }
    }
  }

  return {
    async ask(question, { hidden }) {
      stdin.setRawMode?.(true);
      stderr.write(question);
      try {
        return await answer((text) => hidden || stderr.write(text));
      } finally {
        stderr.write("\n");
      }
    },
    close() {
      signal.removeEventListener("abort", end);
      stdin.off("data", take).off("end", end);
      stdin.pause();
      stdin.setRawMode?.(false);
    },
  };
}
