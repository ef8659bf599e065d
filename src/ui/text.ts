/**
 * Text from outside (hosts, servers, files) is data: before it reaches a terminal, whatever could move the cursor,
 * recolour, reorder or hide text becomes a visible escape.
 */

/**
 * Control characters, lone surrogates, annotations, line and paragraph separators, and invisible characters
 * (bidirectional overrides, tags, fillers). Joiners and variation selectors stay: emoji and many scripts need them.
 */
const unsafe =
  /[\p{Cc}\p{Cs}\ufff9-\ufffb\p{Zl}\p{Zp}]|(?!\u200c|\u200d|\ufe0e|\ufe0f)\p{Default_Ignorable_Code_Point}/gu;
const named: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** Returns the text with everything that is not plainly visible as an escape: `\n`, `\x1b`, `\u202e`. */
export function escapeText(text: string): string {
  return text.replace(unsafe, (unseen) => named[unseen] ?? escapeCharacter(unseen));
}

/** More letters than any path has. */
const longestWord = 4_200;

/** As `escapeText`, for messages of several lines: later lines are indented, and an endless word is cut. */
export function escapeLines(text: string): string {
  const brief = text.replace(/\S+/g, (word) => (word.length > longestWord ? `${word.slice(0, 200)}…` : word));
  return brief.split("\n").map(escapeText).join("\n  ");
}

/** As `escapeText`, for data: line ends and tabs stay, and the rest becomes `\u001b`, which JSON reads as the same text. */
export function escapeData(text: string): string {
  return text.replace(unsafe, (unseen, at: number) => {
    const isLineEnd = unseen === "\n" || unseen === "\t" || (unseen === "\r" && text[at + 1] === "\n");
    return isLineEnd ? unseen : unseen.split("").map(escapeUnit).join("");
  });
}

function escapeCharacter(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code > 0xffff) return `\\u{${code.toString(16)}}`;
  return code > 0xff ? escapeUnit(character) : `\\x${code.toString(16).padStart(2, "0")}`;
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
