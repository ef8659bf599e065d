import { type Options, stringify } from "csv-stringify/sync";
import type { ReadableColumn } from "../query/readable-tables.js";
import type { RowValue } from "../query/rows.js";
import { cellTerminator, rowTerminator } from "../query/select.js";
import { pluralize } from "../util/text.js";
import { formatUtc, isTimestampText, readTimestamp } from "../util/timestamp.js";
import type { Chunk, RowSources, WriteOptions } from "./format.js";

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
const innerFormula =
  /([;\t](?=(?:(?![\t\r\n])[\s\p{Cc}])*[=+\-@＝＋－＠])|[\r\n](?=(?:(?![\t\r\n])[\s\p{Cc}])*[=＝]))/gu;

/** Returns the text with an apostrophe before each part that would run: the spreadsheet's own mark for text. */
export function neutralize(text: string): string {
  const start = formula.test(text) && !plainNumber.test(text) ? "'" : "";
  return start + text.replace(innerFormula, "$1'");
}

/** True if a text with this first byte, in UTF-8, can be a formula: signs, blanks, controls, and wide forms of them. */
export function canStartFormula(byte: number): boolean {
  return byte <= 0x20 || byte === 0x7f || [...Buffer.from("=+-@")].includes(byte) || wideSignBytes.has(byte);
}

const wideSignBytes: ReadonlySet<number> = new Set([0xc2, 0xe1, 0xe2, 0xe3, 0xef]);

/** How joined cells are finished. */
export interface CellFormat {
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
export function formatCells(bytes: Buffer, { delimiter, texts, asText }: CellFormat): Buffer {
  const comma = delimiter.charCodeAt(0);
  const kinds = new Uint8Array(256).fill(plain);
  for (const byte of [...Buffer.from('";\t\r\n'), comma, surrogateStart]) kinds[byte] = special;
  kinds[cellTerminator] = endOfCell;
  kinds[rowTerminator] = endOfRow;
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

/**
 * CSV: UTF-8, a header, RFC 4180 quoting, `\n`, null as empty, exact values. With `excel`: a BOM, CRLF, timestamps in the
 * form that spreadsheets read as dates, and an apostrophe before text that a spreadsheet would run as a formula. Without it
 * such cells stay exact and are counted in one warning.
 *
 * csv-stringify writes the header, views, results of queries, and what needs another form. Otherwise rows of tables come
 * from SQLite as joined cells, which takes a quarter of the time; the bytes are the same.
 */
export function* write([source]: RowSources, options: WriteOptions): Iterable<Chunk> {
  const { excel, decimalComma = false, delimiter = ",", warn } = options;
  const { columns } = source;
  const csv: Options = {
    delimiter,
    record_delimiter: excel ? "\r\n" : "\n",
    quote_record_delimiter: true,
    // Most readers skip an empty line.
    quoted_empty: columns.length === 1,
  };
  const texts = columns.map(canHoldText);
  let formulas = 0;
  const asText = (text: string): string => {
    const safe = neutralize(text);
    if (safe !== text) formulas += 1;
    return excel ? safe : text;
  };
  yield { data: (excel ? "\ufeff" : "") + stringify([columns.map(({ name }) => name)], csv), rows: 0 };
  const isExact = !excel && !decimalComma && columns.length > 1;
  const joined = isExact ? source.cells?.() : undefined;
  if (joined) {
    for (const { bytes, rows } of joined)
      yield { data: formatCells(bytes, { delimiter, texts, asText }), rows };
  } else {
    const toCell = (value: RowValue, index: number) => {
      const type = columns[index]?.type;
      if (typeof value === "string" && texts[index])
        return asText((excel ? spreadsheetTime(value, type) : undefined) ?? value);
      // csv-stringify writes false as nothing.
      if (type === "boolean" && typeof value === "number") return String(value === 1);
      return decimalComma && typeof value === "number" ? String(value).replace(".", ",") : value;
    };
    for (const rows of source.rows()) {
      const cells = rows.map((row) => row.map(toCell));
      yield { data: stringify(cells, csv), rows: rows.length };
    }
  }
  const found = `${pluralize(formulas, "cell")} would run as a formula in a spreadsheet`;
  if (formulas > 0 && !excel) warn(`${found}: kept exact; for a spreadsheet add \`--excel\``);
}

/** Returns a timestamp as spreadsheets read it, in UTC: `2026-11-28 06:44:52`; undefined for other text. */
function spreadsheetTime(text: string, type: ReadableColumn["type"] | undefined): string | undefined {
  if (type !== "timestamp" && !(type === "any" && isTimestampText(text))) return undefined;
  const read = readTimestamp(text);
  return read && formatUtc(read).slice(0, 19);
}

/** True if a column can hold a formula. */
function canHoldText({ type, stored }: ReadableColumn): boolean {
  return stored?.isDiscovered === true || (type !== "number" && type !== "integer" && type !== "boolean");
}
