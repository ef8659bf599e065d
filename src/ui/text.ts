/**
 * Text from outside (hosts, servers, files) is data: before it reaches a terminal, whatever could move the cursor,
 * recolour, reorder or hide text becomes a visible escape.
 */

/** Scripts whose words need the zero-width joiner and non-joiner to be spelled at all. */
const joining = "Arabic Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh"
  .split(" ")
  .map((script) => `\\p{Script=${script}}`)
  .join("");

/**
 * Kept: variation selectors after an emoji, joiners inside emoji sequences and inside words of joining scripts.
 * Captured, to be escaped: control characters, invisible ones (bidirectional overrides, tags, fillers), annotations,
 * line and paragraph separators, lone surrogates.
 */
const unsafe = new RegExp(
  [
    "(?<=[\\p{Emoji}\\u20e3])[\\ufe0e\\ufe0f]",
    "(?<=[\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\ufe0f])\\u200d(?=\\p{Extended_Pictographic})",
    `(?<=[${joining}\\p{M}])[\\u200c\\u200d](?=[${joining}])`,
    "([\\p{Cc}\\p{Cs}\\ufff9-\\ufffb\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}])",
  ].join("|"),
  "gu",
);
const named: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** Returns the text with everything that is not plainly visible as an escape: `\n`, `\x1b`, `\u202e`. */
export function escapeText(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return text;
  return text.replace(unsafe, (kept: string, unseen: string | undefined) =>
    unseen === undefined ? kept : (named[unseen] ?? escapeCharacter(unseen)),
  );
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
  if (/^[\x20-\x7e\n\t]*$/.test(text)) return text;
  return text.replace(unsafe, (kept: string, unseen: string | undefined, at: number) => {
    const isLineEnd = unseen === "\n" || unseen === "\t" || (unseen === "\r" && text[at + 1] === "\n");
    return unseen === undefined || isLineEnd ? kept : unseen.split("").map(escapeUnit).join("");
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
