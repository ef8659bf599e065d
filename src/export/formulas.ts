/**
 * Text that a spreadsheet runs when it opens a CSV file: it begins with = + - @ (also full width), a tab or a carriage
 * return, also after blanks and control characters, which spreadsheets skip. A plain number (-5.00) is no formula.
 * Source: OWASP, "CSV Injection".
 */
const formula = /^[\s\p{Cc}]*[=+\-@＝＋－＠\t\r]/u;
const plainNumber = /^[+-]?\d+(?:[.,]\d+)*(?:[eE][+-]?\d+)?$/;

/**
 * The same inside a cell, after a semicolon or a tab: a spreadsheet of another country ends the cell there. After a line
 * end only `=` counts, because lines that begin with a dash or an @ are lists and names.
 */
const inner =
  /([;\t](?=(?:(?![\t\r\n])[\s\p{Cc}])*[=+\-@＝＋－＠])|[\r\n](?=(?:(?![\t\r\n])[\s\p{Cc}])*[=＝]))/gu;

/** Returns the text with an apostrophe before each part that would run: the spreadsheet's own mark for text. */
export function neutralize(text: string): string {
  const start = formula.test(text) && !plainNumber.test(text) ? "'" : "";
  return start + text.replace(inner, "$1'");
}

/** True if a text with this first byte, in UTF-8, can be a formula: signs, blanks, controls, and wide forms of them. */
export function canStartFormula(byte: number): boolean {
  return byte <= 0x20 || byte === 0x7f || [...Buffer.from("=+-@")].includes(byte) || wideStarts.has(byte);
}

const wideStarts: ReadonlySet<number> = new Set([0xc2, 0xe1, 0xe2, 0xe3, 0xef]);
