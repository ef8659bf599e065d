import { type Options, stringify } from "csv-stringify/sync";
import type { ReadableColumn } from "../query/readable-tables.js";
import type { RowValue } from "../query/rows.js";
import { pluralize } from "../util/text.js";
import { formatUtc, isTimestampText, readTimestamp } from "../util/timestamp.js";
import { formatCells, neutralize } from "./csv-cells.js";
import type { Chunk, FormatOptions, RowSources } from "./formats.js";

/**
 * Writes CSV in UTF-8 with a header, RFC 4180 quoting, LF line endings, empty cells for null, and exact values. `excel`
 * adds a BOM, CRLF line endings, timestamps in a format that spreadsheets recognize, and an apostrophe before each
 * formula. Without `excel`, formulas are written unchanged, and one warning reports how many there are.
 */
export function* write([source]: RowSources, options: FormatOptions): Iterable<Chunk> {
  const { excel, decimalComma = false, delimiter = ",", warn } = options;
  const { columns } = source;
  const hasOneColumn = columns.length === 1;
  const csv: Options = {
    delimiter,
    record_delimiter: excel ? "\r\n" : "\n",
    quote_record_delimiter: true,
    // Most readers skip empty lines. If there is only one column, empty values are therefore quoted.
    quoted_empty: hasOneColumn,
  };
  yield { data: (excel ? "\ufeff" : "") + stringify([columns.map(({ name }) => name)], csv), rows: 0 };

  let formulas = 0;
  const formatText = (text: string): string => {
    const safe = neutralize(text);
    if (safe !== text) formulas += 1;
    return excel ? safe : text;
  };
  const textColumns = columns.map(isTextColumn);
  const toCell = (value: RowValue, index: number) => {
    const type = columns[index]?.type;
    if (typeof value === "string" && textColumns[index])
      return formatText((excel ? spreadsheetTime(value, type) : undefined) ?? value);
    // csv-stringify would write false as an empty cell.
    if (type === "boolean" && typeof value === "number") return String(value === 1);
    return decimalComma && typeof value === "number" ? String(value).replace(".", ",") : value;
  };
  // For most tables, SQLite joins the cells, which is faster. csv-stringify writes all other rows and formats.
  const needsOtherFormat = excel || decimalComma || hasOneColumn;
  const joined = needsOtherFormat ? undefined : source.cells?.();
  if (joined)
    for (const { bytes, rows } of joined)
      yield { data: formatCells(bytes, { delimiter, textColumns, formatText }), rows };
  else
    for (const batch of source.rows()) {
      const cells = batch.map((row) => row.map(toCell));
      yield { data: stringify(cells, csv), rows: batch.length };
    }

  if (formulas > 0 && !excel)
    warn(
      `${pluralize(formulas, "cell")} would run as a formula in a spreadsheet; add \`--excel\` to export plain text`,
    );
}

/**
 * Formats a timestamp for spreadsheets, in UTC: `2026-11-28 06:44:52`. Returns undefined if the text is not a
 * timestamp.
 */
function spreadsheetTime(text: string, type: ReadableColumn["type"] | undefined): string | undefined {
  if (type !== "timestamp" && !(type === "any" && isTimestampText(text))) return undefined;
  const read = readTimestamp(text);
  return read && formatUtc(read).slice(0, 19);
}

/** True if a column can contain formulas. */
function isTextColumn({ type, stored }: ReadableColumn): boolean {
  return stored?.isDiscovered === true || (type !== "number" && type !== "integer" && type !== "boolean");
}
