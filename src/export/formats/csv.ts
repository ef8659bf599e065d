import { type Options, stringify } from "csv-stringify/sync";
import { counted } from "../../lib/counted.js";
import { readTimestamp, utcText } from "../../lib/timestamp.js";
import type { ReadableColumn, RowValue } from "../../query/index.js";
import type { Chunk, Sources, WriteOptions } from "../format.js";
import { neutralize } from "../formulas.js";
import { finishCells } from "../joined-cells.js";
import { isTimeOfQuery } from "../sheet-cells.js";

/**
 * CSV: UTF-8, a header, RFC 4180 quoting, `\n`, null as empty, exact values. With `excel`: a BOM, CRLF, timestamps in the
 * form that spreadsheets read as dates, and an apostrophe before text that a spreadsheet would run as a formula. Without it
 * such cells stay exact and are counted in one warning.
 *
 * csv-stringify writes the header, views, results of queries, and what needs another form. Otherwise rows of tables come
 * from SQLite as joined cells, which takes a quarter of the time; the bytes are the same.
 */
export function* write([source]: Sources, options: WriteOptions): Iterable<Chunk> {
  const { excel, decimalComma = false, delimiter = ",", warn } = options;
  const { columns } = source;
  const csv: Options = {
    delimiter,
    record_delimiter: excel ? "\r\n" : "\n",
    quote_record_delimiter: true,
    // Most readers skip an empty line.
    quoted_empty: columns.length === 1,
  };
  const texts = columns.map(isText);
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
      yield { data: finishCells(bytes, { delimiter, texts, asText }), rows };
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
  const found = `${counted(formulas, "cell")} would run as a formula in a spreadsheet`;
  if (formulas > 0 && !excel) warn(`${found}: kept exact; for a spreadsheet add \`--excel\``);
}

/** Returns a timestamp as spreadsheets read it, in UTC: `2026-11-28 06:44:52`; undefined for other text. */
function spreadsheetTime(text: string, type: ReadableColumn["type"] | undefined): string | undefined {
  if (type !== "timestamp" && !(type === "any" && isTimeOfQuery(text))) return undefined;
  const read = readTimestamp(text);
  return read && utcText(read).slice(0, 19);
}

/** True if a column can hold a formula. */
function isText({ type, stored }: ReadableColumn): boolean {
  return stored?.open === true || (type !== "number" && type !== "integer" && type !== "boolean");
}
