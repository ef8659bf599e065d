/**
 * Text that a spreadsheet runs as a formula when it opens a CSV file: it starts with = + - @ (also full-width), a tab
 * or a carriage return. Spreadsheets skip spaces and control characters before them. Source: OWASP, "CSV Injection".
 */
const formula = /^[\s\p{Cc}]*[=+\-@＝＋－＠\t\r]/u;
const plainNumber = /^[+-]?\d+(?:[.,]\d+)*(?:[eE][+-]?\d+)?$/;

/**
 * The same inside a cell, after a semicolon or a tab, because spreadsheets in some locales split the cell there. After
 * a line break only `=` counts: lines that start with a dash or an @ are lists and names.
 */
const innerFormula =
  /([;\t](?=(?:(?![\t\r\n])[\s\p{Cc}])*[=+\-@＝＋－＠])|[\r\n](?=(?:(?![\t\r\n])[\s\p{Cc}])*[=＝]))/gu;

/** Puts an apostrophe before each part that would run as a formula: spreadsheets treat the rest as text. */
export function neutralize(text: string): string {
  const start = formula.test(text) && !plainNumber.test(text) ? "'" : "";
  return start + text.replace(innerFormula, "$1'");
}

/** True if a text whose UTF-8 bytes start with this one can be a formula. */
export function canStartFormula(byte: number): boolean {
  return byte <= 0x20 || byte === 0x7f || [...Buffer.from("=+-@")].includes(byte) || wideSignBytes.has(byte);
}

/** UTF-8 lead bytes of full-width signs and of non-ASCII spaces and control characters. */
const wideSignBytes: ReadonlySet<number> = new Set([0xc2, 0xe1, 0xe2, 0xe3, 0xef]);
