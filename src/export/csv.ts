import { type Options, stringify } from "csv-stringify/sync";
import type { ReadableColumn } from "../query/readable-tables.js";
import type { RowValue } from "../query/select.js";
import { pluralize } from "../util/text.js";
import { formatUtc, isTimestampText, readTimestamp } from "../util/times.js";
import type { Chunk, FormatOptions, RowSources } from "./formats.js";

/**
 * Writes CSV in UTF-8 with a header row, RFC 4180 quoting, LF line endings and exact values. Nulls become empty cells.
 * `excel` adds a BOM, CRLF line endings, timestamps that spreadsheets recognize, and an apostrophe before each formula.
 * Without `excel`, formulas are written unchanged, and a single warning reports how many there are.
 */
export function* write([source]: RowSources, options: FormatOptions): Iterable<Chunk> {
  const { excel, decimalComma = false, delimiter = ",", warn } = options;
  const { columns } = source;
  const csv: Options = {
    delimiter,
    record_delimiter: excel ? "\r\n" : "\n",
    quote_record_delimiter: true,
    // Most readers skip empty lines, so an empty value in a single-column file is quoted.
    quoted_empty: columns.length === 1,
  };
  yield { data: (excel ? "\ufeff" : "") + stringify([columns.map(({ name }) => name)], csv), rows: 0 };

  let formulas = 0;
  const toCell = (value: RowValue, index: number): RowValue => {
    const type = columns[index]?.type ?? "any";
    if (typeof value === "string") {
      const text = excel ? spreadsheetTime(value, type) : value;
      const safe = neutralize(text);
      if (safe !== text) formulas += 1;
      return excel ? safe : text;
    }
    // csv-stringify would write `false` as an empty cell.
    if (type === "boolean" && typeof value === "number") return String(value === 1);
    return decimalComma && typeof value === "number" ? String(value).replace(".", ",") : value;
  };
  for (const rows of source.rows()) {
    const cells = rows.map((row) => row.map(toCell));
    yield { data: stringify(cells, csv), rows: rows.length };
  }
  if (formulas > 0 && !excel)
    warn(
      `${pluralize(formulas, "cell")} would run as a formula in a spreadsheet; add \`--excel\` to export plain text`,
    );
}

/** Formats a timestamp for spreadsheets as `2026-11-28 06:44:52` in UTC. Returns other text unchanged. */
function spreadsheetTime(text: string, type: ReadableColumn["type"]): string {
  if (type !== "timestamp" && !(type === "any" && isTimestampText(text))) return text;
  const time = readTimestamp(text);
  return time ? formatUtc(time).slice(0, 19) : text;
}

/**
 * Matches text that a spreadsheet would run as a formula (OWASP, "CSV Injection"): after any leading spaces and control
 * characters, it starts with = + - @ (or a full-width form), a tab or a carriage return.
 */
const formula = /^[\s\p{Cc}]*[=+\-@＝＋－＠\t\r]/u;
const plainNumber = /^[+-]?\d+(?:[.,]\d+)*(?:[eE][+-]?\d+)?$/;

/** Matches a separator in a cell and the text up to the next separator. */
const separatedText = /([;\t\r\n])([^;\t\r\n]*)/g;
const formulaAfterDelimiter = /^[\s\p{Cc}]*[=+\-@＝＋－＠]/u;
const formulaAfterLineBreak = /^[\s\p{Cc}]*[=＝]/u;

/**
 * Adds an apostrophe before each formula, so that spreadsheets treat it as text. Spreadsheets in some locales split cells
 * at semicolons or tabs, so a formula can follow either character. After a line break, only `=` counts, because lines
 * that start with a dash or an @ are usually lists and names.
 */
export function neutralize(text: string): string {
  const start = formula.test(text) && !plainNumber.test(text) ? "'" : "";
  const safe = text.replace(separatedText, (unchanged, separator: string, rest: string) => {
    const innerFormula = /[;\t]/.test(separator) ? formulaAfterDelimiter : formulaAfterLineBreak;
    return innerFormula.test(rest) ? `${separator}'${rest}` : unchanged;
  });
  return start + safe;
}
