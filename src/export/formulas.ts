/**
 * Text that a spreadsheet would run when it opens a CSV file: it begins with = + - @, a tab or a carriage return, also
 * in full width, also after blanks and controls, which spreadsheets skip. A plain number (-5.00) is no formula.
 * Source: OWASP, "CSV Injection".
 */
const formula = /^[\s\p{Cc}]*[=+\-@\uff1d\uff0b\uff0d\uff20\t\r]/u;
const plainNumber = /^[+-]?\d+(?:[.,]\d+)*(?:[eE][+-]?\d+)?$/;

/**
 * The same inside a cell, behind what a spreadsheet of another country, or one that is told so, takes for the end of a
 * cell: a semicolon, a tab. What looks like a number there may go on in the next cell. Behind a line's end only `=`
 * counts: lines that begin with a dash or an @ are lists and names.
 */
const innerStart =
  "([;\\t](?=[[\\s\\p{Cc}]--[\\t\\r\\n]]*[=+\\-@\\uff1d\\uff0b\\uff0d\\uff20])" +
  "|[\\r\\n](?=[[\\s\\p{Cc}]--[\\t\\r\\n]]*[=\\uff1d]))";
const inner = new RegExp(innerStart, "gv");
const anyInner = new RegExp(innerStart, "v");

export function isFormula(text: string): boolean {
  return startsFormula(text) || anyInner.test(text);
}

function startsFormula(text: string): boolean {
  return formula.test(text) && !plainNumber.test(text);
}

/** A leading apostrophe, for each part that would run: the spreadsheet's own mark for text. */
export function neutralize(text: string): string {
  return `${startsFormula(text) ? "'" : ""}${text.replace(inner, "$1'")}`;
}

/**
 * Whether a text with this first byte, in UTF-8, can be a formula: what cannot need not be looked at more closely.
 * Beside the signs themselves: blanks and controls, and the first bytes of wide blanks and wide signs.
 */
export function canStartFormula(byte: number): boolean {
  return byte <= 0x20 || byte === 0x7f || "=+-@".includes(String.fromCharCode(byte)) || wideStarts.has(byte);
}

/** Bytes that a spreadsheet may take for the end of a cell: see `inner`. */
export const splitters = ";\t";

const wideStarts: ReadonlySet<number> = new Set([0xc2, 0xe1, 0xe2, 0xe3, 0xef]);
