import { cellTerminator, rowTerminator } from "../query/select.js";

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

/** UTF-8 lead bytes of full-width signs and of non-ASCII spaces and control characters. */
const wideSignBytes: ReadonlySet<number> = new Set([0xc2, 0xe1, 0xe2, 0xe3, 0xef]);

/** True if a text whose UTF-8 bytes start with this one can be a formula. */
function canStartFormula(byte: number): boolean {
  return byte <= 0x20 || byte === 0x7f || [...Buffer.from("=+-@")].includes(byte) || wideSignBytes.has(byte);
}

export interface CellFormat {
  delimiter: string;
  /** For each column, true if it contains text. */
  textColumns: readonly boolean[];
  /** Formats a text before it is quoted. Not called for text that is neither quoted nor a formula. */
  formatText(text: string): string;
}

// The meanings of bytes. A cell with a special byte may need quotes.
const [plain, special, endOfCell, endOfRow] = [0, 1, 2, 3];
const lineFeed = 0x0a;
/** The first byte of half a surrogate pair, which JSON can contain as an escape and which is not valid UTF-8. */
const surrogateStart = 0xed;
const formulaStarts = Uint8Array.from({ length: 256 }, (_, byte) => Number(canStartFormula(byte)));

/**
 * Turns the cells of `RowSource.cells` into CSV: replaces terminators by delimiters and line feeds, and quotes cells. Only cells
 * with a special byte, or that may be formulas, are decoded; the others stay bytes.
 * @param bytes are overwritten
 */
export function formatCells(bytes: Buffer, { delimiter, textColumns, formatText }: CellFormat): Buffer {
  const delimiterByte = delimiter.charCodeAt(0);
  const meanings = byteMeanings(delimiterByte);
  const mustQuote = new RegExp(`["\\r\\n\\x${delimiterByte.toString(16).padStart(2, "0")}]`);
  const output: Buffer[] = [];
  /** The end of the bytes that `output` contains. */
  let copied = 0;
  let column = 0;
  let cellStart = 0;
  let hasSpecial = false;
  for (let index = 0; index < bytes.length; index++) {
    const meaning = meanings[bytes[index] as number];
    if (meaning === plain) continue;
    if (meaning === special) {
      hasSpecial = true;
      continue;
    }
    const mayChange = hasSpecial || formulaStarts[bytes[cellStart] as number] === 1;
    if (mayChange && index > cellStart && textColumns[column]) {
      const text = formatText(bytes.toString("utf8", cellStart, index));
      const cell = mustQuote.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
      output.push(bytes.subarray(copied, cellStart), Buffer.from(cell));
      copied = index;
    }
    bytes[index] = meaning === endOfCell ? delimiterByte : lineFeed;
    column = meaning === endOfCell ? column + 1 : 0;
    cellStart = index + 1;
    hasSpecial = false;
  }
  return output.length === 0 ? bytes : Buffer.concat([...output, bytes.subarray(copied)]);
}

function byteMeanings(delimiterByte: number): Uint8Array {
  const meanings = new Uint8Array(256).fill(plain);
  for (const byte of [...Buffer.from('";\t\r\n'), delimiterByte, surrogateStart]) meanings[byte] = special;
  meanings[cellTerminator] = endOfCell;
  meanings[rowTerminator] = endOfRow;
  return meanings;
}
