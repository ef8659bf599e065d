/**
 * Text that a spreadsheet would run when it opens a CSV file: it begins with = + - @, a tab or a carriage return, also
 * in full width, also after blanks and line feeds, which spreadsheets skip. A plain number (-5.00) is no formula.
 * Source: OWASP, "CSV Injection".
 */
const formula = /^[\s\u0000]*[=+\-@\uff1d\uff0b\uff0d\uff20\t\r]/;
const plainNumber = /^[+-]?\d+(?:[.,]\d+)*(?:[eE][+-]?\d+)?$/;

export function isFormula(text: string): boolean {
  return formula.test(text) && !plainNumber.test(text);
}

/** A leading apostrophe: the spreadsheet's own mark for text. */
export function neutralize(text: string): string {
  return isFormula(text) ? `'${text}` : text;
}

/** The bytes with which such text can begin, in UTF-8: what need not be looked at more closely is not. */
export const formulaStarts: ReadonlySet<number> = new Set(
  [..."=+-@\t\r\n\v\f \u00a0\u1680\u2000\u3000\ufeff\uff1d\0"].map(
    (start) => new TextEncoder().encode(start)[0] ?? 0,
  ),
);
