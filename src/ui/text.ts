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

/** As many letters as a person reads in one place: a host can send a million. */
const longest = 2_000;

/** Returns the text with everything that is not plainly visible as an escape (`\n`, `\u001b`), and with an end. */
export function escapeText(text: string): string {
  const short = text.length > longest ? `${text.slice(0, longest)}…` : text;
  return short.replace(unsafe, (unseen) => named[unseen] ?? escapeUnits(unseen));
}

/** As `escapeText`, for messages of several lines: later lines are indented. */
export function escapeLines(text: string): string {
  return text.split("\n").map(escapeText).join("\n  ");
}

/** As `escapeText`, for data: it is whole, with its line ends and tabs; JSON reads the escapes as the same text. */
export function escapeData(text: string): string {
  return text.replace(unsafe, (unseen, at: number) => {
    const isLineEnd = unseen === "\n" || unseen === "\t" || (unseen === "\r" && text[at + 1] === "\n");
    return isLineEnd ? unseen : escapeUnits(unseen);
  });
}

function escapeUnits(character: string): string {
  const units = character.split("").map((unit) => unit.charCodeAt(0).toString(16).padStart(4, "0"));
  return units.map((unit) => `\\u${unit}`).join("");
}
