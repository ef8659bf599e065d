import { type Options, stringify } from "csv-stringify/sync";
import { counted } from "../../lib/counted.js";
import type { ReadableColumn, RowValue } from "../../query/index.js";
import type { Chunk, Sources, WriteOptions } from "../format.js";
import { neutralize } from "../formulas.js";
import { type Cells, finishCells } from "../joined-cells.js";

/**
 * CSV: UTF-8, a header, RFC 4180 quoting, `\n`, null as empty. With `excel`: a BOM, CRLF, and cells that a spreadsheet
 * would run are made text by an apostrophe; without it they stay exact and are counted in one warning.
 *
 * csv-stringify writes the header and the rows of views and answers. Rows of tables come from SQLite as joined cells,
 * which takes a quarter of the time; the bytes are the same.
 */
export function* write([source]: Sources, options: WriteOptions): Iterable<Chunk> {
  const { excel, delimiter = ",", warn } = options;
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
  const joined = columns.length > 1 ? source.cells?.({ lineFeed: excel }) : undefined;
  if (joined) {
    const cells: Cells = { delimiter, texts, asText, crlf: excel };
    for (const { bytes, rows } of joined) yield { data: finishCells(bytes, cells), rows };
  } else {
    const toCell = (value: RowValue, index: number) => {
      if (typeof value === "string" && texts[index]) return asText(value);
      // csv-stringify writes false as nothing.
      return columns[index]?.type === "boolean" && typeof value === "number" ? String(value === 1) : value;
    };
    for (const rows of source.rows()) {
      const cells = rows.map((row) => row.map(toCell));
      yield { data: stringify(cells, csv), rows: rows.length };
    }
  }
  const found = `${counted(formulas, "cell")} would run as a formula in a spreadsheet`;
  if (formulas > 0 && !excel) warn(`${found}: kept exact; for a spreadsheet add \`--excel\``);
}

/** True if a column can hold a formula. */
function isText({ type, stored }: ReadableColumn): boolean {
  return stored?.open === true || (type !== "number" && type !== "integer" && type !== "boolean");
}
