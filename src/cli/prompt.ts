import { on } from "node:events";
import { StringDecoder } from "node:string_decoder";
import type { Deps } from "../deps.js";
import { Stopped, UsageError } from "../errors.js";

/** Asks questions on a terminal, one at a time. Close it before printing anything else. */
export interface Prompt {
  /**
   * Prints the question on stderr and reads a line. With `hidden`, typed characters are not shown.
   * @throws Stopped on Ctrl-C, the signal's reason when it aborts, UsageError at the end of the input
   */
  ask(question: string, options: { hidden?: boolean }): Promise<string>;
  /** Restores the terminal's mode. */
  close(): void;
}

/** The sequences of arrow keys and the like. Built from text, because linters reject control characters in patterns. */
const escapeSequence = new RegExp(`${String.fromCharCode(27)}(?:\\[[0-9;?]*[ -/]*[@-~]|O.|.)?`, "gu");
const [ctrlC, ctrlD] = ["\u0003", "\u0004"];

/** The maximum number of characters of an answer: more than any key or URL has. */
const maxAnswerLength = 20_000;

/**
 * Opens a prompt in raw mode, in which the terminal neither echoes nor edits. Unlike Node's readline, it does not echo an
 * API key that is typed ahead, during the previous question. It listens from the first question to the last, because
 * stdin does not always resume after a pause (Node 20).
 */
export function openPrompt({ stdin, stderr, signal }: Pick<Deps, "stdin" | "stderr" | "signal">): Prompt {
  const keys = readKeys();

  async function* readKeys(): AsyncGenerator<string, undefined> {
    const decoder = new StringDecoder("utf8");
    for await (const [chunk] of on(stdin, "data", { signal, close: ["end"] }))
      yield* decoder.write(chunk).replace(escapeSequence, "").replaceAll("\r\n", "\n");
    return undefined;
  }

  /** Reads a line: Enter ends it, Backspace deletes, Ctrl-C interrupts, Ctrl-D on an empty line ends the input. */
  async function readAnswer(echo: (text: string) => unknown): Promise<string> {
    const line: string[] = [];
    for (let count = 0; count < maxAnswerLength; count += 1) {
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
    throw new UsageError("The answer is too long.");
  }

  return {
    async ask(question, { hidden }) {
      stdin.setRawMode?.(true);
      stderr.write(question);
      try {
        return await readAnswer(hidden ? () => {} : (text) => stderr.write(text));
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
