import { Help } from "commander";
import stringWidth from "string-width";
import type { OutputStream } from "../deps.js";

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

const ascii = /^[\x20-\x7e]*$/;

/** A terminal with fewer columns breaks lines itself. */
const narrowestWrap = 20;

/** Returns the columns of a terminal; undefined if there is none, or it does not know (it then says 0). */
export function terminalWidth({
  columns,
  isTTY,
}: Pick<OutputStream, "columns" | "isTTY">): number | undefined {
  return isTTY && columns ? columns : undefined;
}

/** Returns how many columns of a terminal the text takes: two for CJK and emoji, none for combining marks. */
export function displayWidth(text: string): number {
  if (ascii.test(text)) return text.length;
  return stringWidth(text);
}

/** Returns the text cut to at most `width` columns, with `…` in place of what was cut. */
export function truncate(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let room = width - 1;
  const cut = letters(text).findIndex((letter) => {
    room -= displayWidth(letter);
    return room < 0;
  });
  return width < 1 ? "" : `${letters(text).slice(0, cut).join("")}…`;
}

/** Returns the text filled with blanks to `width` columns. */
export function pad(text: string, width: number, align: "left" | "right" = "left"): string {
  const blanks = " ".repeat(Math.max(0, width - displayWidth(text)));
  return align === "right" ? blanks + text : text + blanks;
}

/** Returns the text with line breaks where it is wider than a terminal. */
export function wrap(text: string, width: number): string {
  return Object.assign(new Help(), { minWidthToWrap: narrowestWrap }).boxWrap(text, width);
}

let segmenter: Intl.Segmenter | undefined;

/** Returns what a reader takes for one letter, each. The segmenter is made late because that takes ten milliseconds. */
function letters(text: string): string[] {
  segmenter ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}
