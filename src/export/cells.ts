import { cellEnd, rowEnd } from "../query/index.js";
import { canStartFormula, splitters } from "./formulas.js";

/** A cell that is not written as it stands. */
export interface SpecialCell {
  from: number;
  to: number;
  column: number;
  /** Whether csv-stringify has to see it: it holds a quote, the delimiter, a line's end, or half a character. */
  quote: boolean;
}

export interface CellLayout {
  columns: number;
  /** One byte; a comma by default. */
  delimiter?: string;
  /** By column: whether SQLite printed a number, which past 15 digits is not as JavaScript prints it. */
  numbers: readonly boolean[];
  /** By column: whether it can hold a formula. */
  texts: readonly boolean[];
  /** Lines end in CRLF: each row has a line feed behind its end already. */
  crlf: boolean;
}

const [plain, special, endOfCell, endOfRow, surrogate, splitter] = [0, 1, 2, 3, 4, 5];
/** Half a character, which the API can send as an escape, begins so and is no UTF-8: it is written as U+FFFD. */
const surrogateStart = 0xed;
const [quoteSign, lineFeed, carriageReturn] = [0x22, 0x0a, 0x0d];

/** What each byte means, once it is known what ends a cell. */
function kindsOf(delimiter: number): Uint8Array {
  const kinds = new Uint8Array(256).fill(plain);
  for (const sign of splitters) kinds[sign.charCodeAt(0)] = splitter;
  for (const byte of [quoteSign, delimiter, lineFeed, carriageReturn]) kinds[byte] = special;
  kinds[surrogateStart] = surrogate;
  kinds[cellEnd] = endOfCell;
  kinds[rowEnd] = endOfRow;
  return kinds;
}

const starts = Uint8Array.from({ length: 256 }, (_, byte) => (canStartFormula(byte) ? 1 : 0));

/**
 * Turns joined cells into CSV where they stand: their ends become delimiters and line ends. The few cells that CSV cannot
 * hold as they are come back, to be replaced.
 * @returns undefined where a text held a separator itself, so that the bytes cannot be taken apart
 */
export function cutCells(bytes: Uint8Array, rows: number, layout: CellLayout): SpecialCell[] | undefined {
  const { columns, numbers, texts, crlf } = layout;
  const delimiter = (layout.delimiter ?? ",").charCodeAt(0);
  const kinds = kindsOf(delimiter);
  const found: SpecialCell[] = [];
  let column = 0;
  let row = 0;
  let from = 0;
  let quote = false;
  let splits = false;
  for (let at = 0; at < bytes.length; at++) {
    const kind = kinds[bytes[at] as number];
    if (kind === plain) continue;
    if (kind === special || kind === surrogate) {
      if (kind === special || (bytes[at + 1] as number) >= 0xa0) quote = true;
      continue;
    }
    if (kind === splitter) {
      splits = true;
      continue;
    }
    const mayRun = splits || starts[bytes[from] as number] === 1;
    if (quote || (mayRun && texts[column] && at > from) || (numbers[column] && needsDigits(bytes, from, at)))
      found.push({ from, to: at, column, quote });
    quote = false;
    splits = false;
    if (kind === endOfCell) {
      bytes[at] = delimiter;
      column += 1;
      if (column === columns) return undefined;
    } else {
      if (column !== columns - 1) return undefined;
      column = 0;
      row += 1;
      bytes[at] = crlf ? carriageReturn : lineFeed;
      if (crlf && bytes[++at] !== lineFeed) return undefined;
    }
    from = at + 1;
  }
  return row === rows ? found : undefined;
}

/**
 * SQLite prints up to 15 digits as JavaScript does; then 17, where JavaScript finds the fewest; exponents differ, and so
 * does `Inf`, a sum that left the range of numbers.
 */
function needsDigits(bytes: Uint8Array, from: number, to: number): boolean {
  if (to - from > 15 || bytes[to - 1] === 0x66) return true;
  for (let at = Math.max(from, to - 5); at < to; at++) if (bytes[at] === 0x65) return true;
  return false;
}
