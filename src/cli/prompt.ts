import { on } from "node:events";
import { StringDecoder } from "node:string_decoder";
import type { Deps } from "../deps.js";
import { Stopped, UsageError } from "../errors.js";

/** Questions on a terminal, one after another; close it before anything else happens. */
export interface Prompt {
  /**
   * Asks for one line, the question on stderr. With `hidden`, nothing that is typed is shown.
   * Rejects with `Stopped` on Ctrl-C, with the signal's reason when it aborts, with UsageError at the end of input.
   */
  ask(question: string, options: { hidden?: boolean }): Promise<string>;
  /** Gives the terminal back as it was. */
  close(): void;
}

/** Arrow keys and the like. Built from text: a control character in a pattern reads as a mistake. */
const escapeSequence = new RegExp(`${String.fromCharCode(27)}(?:\\[[0-9;?]*[ -/]*[@-~]|O.|.)?`, "gu");
const [ctrlC, ctrlD] = ["\u0003", "\u0004"];

/** The most characters in one answer: more than any key or URL has. */
const longestAnswer = 20_000;

/**
 * Opens questions in raw mode, in which the terminal echoes and edits nothing: a key that is typed ahead, while a
 * question before it is answered, is not shown either, as Node's readline would do. It listens from the first question to
 * the last, because a terminal that is paused between two does not always come back (Node 20).
 */
export function openPrompt({ stdin, stderr, signal }: Pick<Deps, "stdin" | "stderr" | "signal">): Prompt {
  const keys = typed();

  async function* typed(): AsyncGenerator<string, undefined> {
    const decoder = new StringDecoder("utf8");
    for await (const [chunk] of on(stdin, "data", { signal, close: ["end"] }))
      yield* decoder.write(chunk).replace(escapeSequence, "").replaceAll("\r\n", "\n");
    return undefined;
  }

  /** Enter ends the line, Backspace erases, Ctrl-C interrupts, Ctrl-D on an empty line ends the input. */
  async function answer(echo: (text: string) => unknown): Promise<string> {
    const line: string[] = [];
    for (let typedKeys = 0; typedKeys < longestAnswer; typedKeys++) {
      const { value: key } = await keys.next();
      if (key === ctrlC) throw new Stopped("SIGINT", "nothing was changed");
      if (key === undefined || (key === ctrlD && line.length === 0))
        throw new UsageError("Nothing was entered.");
      if (key === "\r" || key === "\n") return line.join("");
      if (key === "\u007f" || key === "\b") echo(line.pop() === undefined ? "" : "\b \b");
      else if (key >= " ") {
        line.push(key);
        echo(key);
      }
    }
    throw new UsageError("The answer is too long, or has no end.");
  }

  return {
    async ask(question, { hidden }) {
      stdin.setRawMode?.(true);
      stderr.write(question);
      try {
        return await answer(hidden ? () => {} : (text) => stderr.write(text));
      } catch (error) {
        signal.throwIfAborted();
        throw error;
      } finally {
        stderr.write("\n");
      }
    },
    close() {
      void keys.return(undefined);
      stdin.pause();
      stdin.setRawMode?.(false);
    },
  };
}
