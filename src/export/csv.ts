import { type Options, stringify } from "csv-stringify/sync";
import type { ReadableColumn } from "../query/readable-tables.js";
import type { RowValue } from "../query/rows.js";
import { cellTerminator, rowTerminator } from "../query/select.js";
import { pluralize } from "../util/text.js";
import { formatUtc, isTimestampText, readTimestamp } from "../util/timestamp.js";
import type { Chunk, FormatOptions, RowSources } from "./format.js";

/**
 * Writes CSV: UTF-8, a header, RFC 4180 quoting, `\n`, null as empty, exact values. With `excel`: a BOM, CRLF, timestamps in
 * the format that spreadsheets read as dates, and an apostrophe before text that a spreadsheet would run as a formula.
 * Without it such cells stay exact, and one warning gives their number.
 *
 * SQLite formats the rows of tables (`RowSource.cells`), which takes a quarter of the time. csv-stringify writes the header,
 * views, query results, and values that need another format. The bytes are the same.
 */
export function* write([source]: RowSources, options: FormatOptions): Iterable<Chunk> {
  const { excel, decimalComma = false, delimiter = ",", warn } = options;
  const { columns } = source;
  const csv: Options = {
    delimiter,
    record_delimiter: excel ? "\r\n" : "\n",
    quote_record_delimiter: true,
    // Most readers skip empty lines, so an empty value in the only column is quoted.
    quoted_empty: columns.length === 1,
  };
  const texts = columns.map(isTextColumn);
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
      // csv-stringify writes false as an empty cell.
      if (type === "boolean" && typeof value === "number") return String(value === 1);
      return decimalComma && typeof value === "number" ? String(value).replace(".", ",") : value;
    };
    for (const rows of source.rows()) {
      const cells = rows.map((row) => row.map(toCell));
      yield { data: stringify(cells, csv), rows: rows.length };
    }
  }
  if (formulas > 0 && !excel)
    warn(
      `${pluralize(formulas, "cell")} would run as a formula in a spreadsheet: kept exact; for a spreadsheet add \`--excel\``,
    );
}

/** Formats a timestamp as spreadsheets read it, in UTC: `2026-11-28 06:44:52`. Returns undefined for other text. */
function spreadsheetTime(text: string, type: ReadableColumn["type"] | undefined): string | undefined {
  if (type !== "timestamp" && !(type === "any" && isTimestampText(text))) return undefined;
  const read = readTimestamp(text);
  return read && formatUtc(read).slice(0, 19);
}

/** True if a column can contain a formula. */
function isTextColumn({ type, stored }: ReadableColumn): boolean {
  return stored?.isDiscovered === true || (type !== "number" && type !== "integer" && type !== "boolean");
}

/**
 * Text that a spreadsheet runs as a formula when it opens a CSV file: it starts with = + - @ (also full-width), a tab or a
 * carriage return. Spreadsheets skip blanks and control characters before them. Source: OWASP, "CSV Injection".
 */
const formula = /^[\s\p{Cc}]*[=+\-@＝＋－＠\t\r]/u;
const plainNumber = /^[+-]?\d+(?:[.,]\d+)*(?:[eE][+-]?\d+)?$/;

/**
 * The same inside a cell, after a semicolon or a tab, because spreadsheets of some countries split the cell there. After a
 * line break only `=` counts: lines that start with a dash or an @ are lists and names.
 */
const innerFormula =
  /([;\t](?=(?:(?![\t\r\n])[\s\p{Cc}])*[=+\-@＝＋－＠])|[\r\n](?=(?:(?![\t\r\n])[\s\p{Cc}])*[=＝]))/gu;

/** Puts an apostrophe before each part that would run as a formula: spreadsheets take the rest as text. */
export function neutralize(text: string): string {
  const start = formula.test(text) && !plainNumber.test(text) ? "'" : "";
  return start + text.replace(innerFormula, "$1'");
}

/** True if a text whose UTF-8 bytes start with this one can be a formula. */
export function canStartFormula(byte: number): boolean {
  return byte <= 0x20 || byte === 0x7f || [...Buffer.from("=+-@")].includes(byte) || wideSignBytes.has(byte);
}

/** First bytes of full-width signs, and of blanks and control characters beyond ASCII. */
const wideSignBytes: ReadonlySet<number> = new Set([0xc2, 0xe1, 0xe2, 0xe3, 0xef]);

export interface CellFormat {
  delimiter: string;
  /** For each column, true if it can contain a formula. */
  texts: readonly boolean[];
  /** Formats a text before it is quoted. */
  asText(text: string): string;
}

const [plain, special, endOfCell, endOfRow] = [0, 1, 2, 3];
const lineFeed = 0x0a;
/** The first byte of half a surrogate pair, which JSON can contain as an escape and which is not valid UTF-8. */
const surrogateStart = 0xed;
const starts = Uint8Array.from({ length: 256 }, (_, byte) => Number(canStartFormula(byte)));

/**
 * Turns the cells of `RowSource.cells` into CSV in place: terminators become delimiters and line feeds. Only cells with a byte
 * that has a meaning in CSV or in a spreadsheet are decoded.
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
