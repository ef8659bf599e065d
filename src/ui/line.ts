/** The outcome of typing; undefined: the line goes on. `rest` was typed after Enter, for the next question. */
export type Typed = { line: string; rest: string } | "interrupted" | "ended" | undefined;

const mostCharacters = 20_000;
// Built from text: a control character in a pattern reads as a mistake.
const escapeSequence = new RegExp(`${String.fromCharCode(27)}(?:\\[[0-9;?]*[ -/]*[@-~]|O.|.)?`, "gu");

/**
 * One line typed in raw mode, where the terminal edits nothing: Enter ends it, Backspace, Ctrl-U and Ctrl-W erase,
 * Ctrl-C interrupts, Ctrl-D on an empty line ends the input. Arrow keys and the like are ignored.
 * @param echo shows what was typed, or erases it
 */
export function createLine(echo: (text: string) => void): { type(text: string): Typed } {
  let characters: string[] = [];

  function erase(count: number): void {
    const gone = Math.min(count, characters.length);
    characters = characters.slice(0, characters.length - gone);
    echo("\b \b".repeat(gone));
  }

  function type(text: string): Typed {
    const typed = text.replace(escapeSequence, "");
    const end = /\r\n?|\n/.exec(typed);
    for (const character of end ? typed.slice(0, end.index) : typed) {
      if (character === "\u0003") return "interrupted";
      if (character === "\u0004" && characters.length === 0) return "ended";
      if (character === "\u007f" || character === "\b") erase(1);
      else if (character === "\u0015") erase(characters.length);
      else if (character === "\u0017") erase(characters.length - lastWordStart(characters.join("")));
      else if (character >= " " && characters.length < mostCharacters) {
        characters.push(character);
        echo(character);
      }
    }
    return end ? { line: characters.join(""), rest: typed.slice(end.index + end[0].length) } : undefined;
  }

  return { type };
}

function lastWordStart(text: string): number {
  return Math.max(0, text.search(/\S+\s*$/u));
}
