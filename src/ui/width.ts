import type { Output } from "../deps.js";

const wide =
  /[\u1100-\u115f\u231a\u231b\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\p{Extended_Pictographic}\ufe0f|\p{Emoji}\ufe0f\u20e3/u;
const ascii = /^[\x20-\x7e]*$/;

/** How wide a terminal is; undefined where there is none, or it does not know (it then says 0). */
export function terminalWidth({ columns, isTTY }: Pick<Output, "columns" | "isTTY">): number | undefined {
  return isTTY && columns ? columns : undefined;
}

/** How many columns of a terminal the text takes: two for CJK and emoji, none for combining marks. */
export function displayWidth(text: string): number {
  if (ascii.test(text)) return text.length;
  let width = 0;
  for (const grapheme of graphemes(text)) width += graphemeWidth(grapheme);
  return width;
}

/** The text cut to at most `width` columns, with `…` in place of what was cut. */
export function truncate(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  if (width < 1) return "";
  let kept = "";
  let taken = 0;
  for (const grapheme of graphemes(text)) {
    taken += graphemeWidth(grapheme);
    if (taken > width - 1) break;
    kept += grapheme;
  }
  return `${kept}…`;
}

/** The text filled with blanks to `width` columns. */
export function pad(text: string, width: number, align: "left" | "right" = "left"): string {
  const blanks = " ".repeat(Math.max(0, width - displayWidth(text)));
  return align === "right" ? blanks + text : text + blanks;
}

/** As much as a person reads in one place. */
const longest = 2_000;

/** Text from outside, cut before anything else is done with it: a host can make it a million letters long. */
export function shorten(text: string): string {
  return text.length > longest ? `${text.slice(0, wholeEnd(text, longest))}…` : text;
}

let segmenter: Intl.Segmenter | undefined;
/** Of a text in one piece, each step of the segmenter would take as long as the text is. */
const pieceLength = 256;

/** What a reader takes for one letter, each. One longer than a piece comes in several. */
function* graphemes(text: string): Iterable<string> {
  // Made when the first text needs it: that takes ten milliseconds, and most texts are plain.
  segmenter ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  for (let from = 0; from < text.length; ) {
    const piece = text.slice(from, wholeEnd(text, from + pieceLength));
    const isLast = from + piece.length === text.length;
    for (const { index, segment } of segmenter.segment(piece)) {
      const end = index + segment.length;
      // What ends with the piece may go on behind it: the next piece begins there.
      if (end === piece.length && index > 0 && !isLast) break;
      yield segment;
      from += segment.length;
    }
  }
}

/** Where a text can be cut at or before `at`: not between the halves of a character. */
function wholeEnd(text: string, at: number): number {
  if (at >= text.length) return text.length;
  const isHigh = (text.charCodeAt(at - 1) & 0xfc00) === 0xd800;
  return isHigh ? at - 1 : at;
}

function graphemeWidth(grapheme: string): number {
  if (wide.test(grapheme)) return 2;
  return /^[\p{M}\p{Cf}\p{Default_Ignorable_Code_Point}]+$/u.test(grapheme) ? 0 : 1;
}
