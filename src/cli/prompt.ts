import { on } from "node:events";
import { StringDecoder } from "node:string_decoder";
import type { Deps } from "../deps.js";
import { Stopped, UsageError } from "../errors.js";

/** Asks questions on a terminal, one at a time. Close the prompt before printing anything else. */
export interface Prompt {
  /**
   * Prints a question to stderr and reads a one-line answer. A hidden answer is not echoed.
   * @throws Stopped on Ctrl-C; UsageError at the end of input; the signal's reason if the signal aborts
   */
  ask(question: string, options: { hidden?: boolean }): Promise<string>;
  close(): void;
}

/**
 * Matches the escape sequences that arrow keys and other special keys send. Linters reject control characters in
 * regular expressions, so this expression is built from a string.
 */
const escapeSequence = new RegExp(`${String.fromCharCode(27)}(?:\\[[0-9;?]*[ -/]*[@-~]|O.|.)?`, "gu");
const [ctrlC, ctrlD] = ["\u0003", "\u0004"];

/** The maximum length of an answer. Keys and URLs are much shorter. */
const maxAnswerLength = 20_000;

/**
 * Opens a prompt in raw mode, in which the terminal neither echoes nor edits the input. Node's readline would display
 * an API key that is typed before the question appears. The prompt keeps listening between questions because Node 20
 * does not always resume a paused stdin.
 */
export function openPrompt({
  stdin,
  stderr,
  signal,
  runGracefully,
}: Pick<Deps, "stdin" | "stderr" | "signal" | "runGracefully">): Prompt {
  const keystrokes = readKeystrokes();

  async function* readKeystrokes(): AsyncGenerator<string, undefined> {
    const decoder = new StringDecoder("utf8");
    for await (const [chunk] of on(stdin, "data", { signal, close: ["end"] }))
      yield* decoder.write(chunk).replace(escapeSequence, "").replaceAll("\r\n", "\n");
    return undefined;
  }

  /**
   * Reads a line. Enter submits it, Backspace deletes a character, Ctrl-C cancels, and Ctrl-D on an empty line ends
   * the input.
   */
  async function readAnswer(echo: (text: string) => unknown): Promise<string> {
    const line: string[] = [];
    for (let count = 0; count < maxAnswerLength; count += 1) {
      const { value: keystroke } = await keystrokes.next();
      if (keystroke === ctrlC) throw new Stopped("SIGINT", "nothing has been changed");
      if (keystroke === undefined || (keystroke === ctrlD && line.length === 0))
        throw new UsageError("Nothing was entered.");
      if (keystroke === "\r" || keystroke === "\n") return line.join("");
      if (keystroke === "\u007f" || keystroke === "\b") echo(line.pop() === undefined ? "" : "\b \b");
      else if (keystroke >= " ") {
        line.push(keystroke);
        echo(keystroke);
      }
    }
    throw new UsageError("The answer is too long.");
  }

  return {
    async ask(question, { hidden }) {
      stdin.setRawMode?.(true);
      stderr.write(question);
      try {
        return await runGracefully(() => readAnswer(hidden ? () => {} : (text) => stderr.write(text)));
      } catch (error) {
        signal.throwIfAborted();
        throw error;
      } finally {
        stderr.write("\n");
      }
    },
    close() {
      void keystrokes.return(undefined);
      stdin.pause();
      stdin.setRawMode?.(false);
    },
  };
}
