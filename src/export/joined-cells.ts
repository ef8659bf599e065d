import { cellEnd, rowEnd } from "../query/index.js";
import { canStartFormula } from "./formulas.js";

/** How joined cells are finished. */
export interface Cells {
  delimiter: string;
  /** For each column, true if it can hold a formula. */
  texts: readonly boolean[];
  asText(text: string): string;
}

const [plain, special, endOfCell, endOfRow] = [0, 1, 2, 3];
const lineFeed = 0x0a;
/** Half a character, which the API can send as an escape, begins with this byte and is not UTF-8. */
const surrogateStart = 0xed;
const starts = Uint8Array.from({ length: 256 }, (_, byte) => Number(canStartFormula(byte)));

/**
 * Makes CSV of cells that SQLite joined, where they stand: the ends of cells become delimiters, the ends of rows line
 * ends. Only the few cells with a byte that CSV or a spreadsheet may take for something else are looked at as text.
 * @param bytes are overwritten
 */
export function finishCells(bytes: Buffer, { delimiter, texts, asText }: Cells): Buffer {
  const comma = delimiter.charCodeAt(0);
  const kinds = new Uint8Array(256).fill(plain);
  for (const byte of [...Buffer.from('";\t\r\n'), comma, surrogateStart]) kinds[byte] = special;
  kinds[cellEnd] = endOfCell;
  kinds[rowEnd] = endOfRow;
  const needsQuotes = new RegExp(`["\\r\\n\\x${comma.toString(16).padStart(2, "0")}]`);
  const pieces: Buffer[] = [];
  let [column, from, copied, isSpecial] = [0, 0, 0, false];
  for (let at = 0; at < bytes.length; at++) {
    const kind = kinds[bytes[at] as number];
    if (kind === plain) continue;
    if (kind === special) {
      isSpecial = true;
      continue;
    }
    if ((isSpecial || starts[bytes[from] as number] === 1) && at > from && texts[column]) {
      const text = asText(bytes.toString("utf8", from, at));
      const quoted = needsQuotes.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
      pieces.push(bytes.subarray(copied, from), Buffer.from(quoted));
      copied = at;
    }
    isSpecial = false;
    if (kind === endOfCell) {
      bytes[at] = comma;
      column += 1;
    } else {
      bytes[at] = lineFeed;
      column = 0;
    }
    from = at + 1;
  }
  return pieces.length === 0 ? bytes : Buffer.concat([...pieces, bytes.subarray(copied)]);
}
