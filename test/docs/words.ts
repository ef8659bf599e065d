/**
 * Returns the arguments of each `brandapi` call in a shell line, without quotes or redirections. Ignores other
 * commands.
 */
export function brandapiCalls(line: string): string[][] {
  return commandsOf(line)
    .map((words) => words.slice(words.indexOf("brandapi") + 1, words.includes("brandapi") ? undefined : 0))
    .filter((words) => words.length > 0);
}

/** Returns a code block's command lines, which start with `$`. Joins continuation lines. */
export function typedLines(block: string): string[] {
  return block
    .replaceAll("\\\n", " ")
    .split("\n")
    .filter((line) => line.startsWith("$ "))
    .map((line) => line.slice(2));
}

function commandsOf(line: string): string[][] {
  const commands: string[][] = [[]];
  let word: string | undefined;
  let quote: string | undefined;
  let redirected = false;
  const close = () => {
    if (word !== undefined && !redirected) commands.at(-1)?.push(word);
    if (word !== undefined) redirected = false;
    word = undefined;
  };
  for (const character of line) {
    if (quote !== undefined) {
      if (character === quote) quote = undefined;
      else word += character;
    } else if (character === '"' || character === "'") {
      quote = character;
      word ??= "";
    } else if (character === " ") close();
    else if ("()".includes(character)) {
      close();
      redirected = false;
      commands.push([]);
    } else if ("|;&<>".includes(character)) {
      // A redirected file descriptor, as in `2>&1`, is not an argument.
      if (character === ">" && /^\d$/.test(word ?? "")) word = undefined;
      close();
      redirected = character === ">" || character === "<";
      if (!redirected) commands.push([]);
    } else if (character === "#" && word === undefined) break;
    else word = (word ?? "") + character;
  }
  close();
  return commands;
}
