import { type Options, stringify } from "csv-stringify/sync";
import type { Row, RowValue } from "../query/open-rows.js";
import type { Column } from "../resources/table-shape.js";
import { pluralize } from "../util/format-text.js";
import { formatUtc, isTimestampText, parseTimestampParts } from "../util/timestamps.js";
import type { Chunk, CsvOptions, EncoderOptions, RowSources } from "./formats.js";

/**
 * Encodes a table as CSV in UTF-8 with a header row, RFC 4180 quoting, LF line endings and exact values. Nulls become
 * empty cells. `excel` adds a BOM, CRLF line endings, timestamps that spreadsheets recognize, and an apostrophe before
 * each formula. Without `excel`, formulas are written unchanged, and a single warning reports their number.
 */
export function* encode(
  [source]: RowSources,
  options: Pick<EncoderOptions, "csv" | "warn">,
): Iterable<Chunk> {
  const { excel, delimiter } = options.csv;
  const { columns, name } = source;
  const csv: Options = {
    delimiter,
    record_delimiter: excel ? "\r\n" : "\n",
    quote_record_delimiter: true,
    // Most readers skip empty lines, so an empty value in a single-column file is quoted.
    quoted_empty: columns.length === 1,
  };
  yield { data: (excel ? "\ufeff" : "") + stringify([columns.map((column) => column.name)], csv) };

  let formulas = 0;
  for (const rows of source.batches()) {
    if (!excel) formulas += countFormulas(rows);
    const cells = rows.map((row) =>
      row.map((value, index) => formatCsvCell(value, columns[index]?.type ?? "any", options.csv)),
    );
    yield { data: stringify(cells, csv), rows: rows.length, table: name };
  }
  if (formulas > 0)
    options.warn(
      `${pluralize(formulas, "cell")} would run as ${formulas === 1 ? "a formula" : "formulas"} in a spreadsheet; add \`--excel\` to export plain text`,
    );
}

function countFormulas(rows: readonly Row[]): number {
  let count = 0;
  for (const row of rows)
    for (const value of row) if (typeof value === "string" && neutralizeFormulas(value) !== value) count += 1;
  return count;
}

function formatCsvCell(value: RowValue, type: Column["type"], { excel, decimalComma }: CsvOptions): RowValue {
  if (typeof value === "string") return excel ? neutralizeFormulas(spreadsheetTime(value, type)) : value;
  // Convert booleans to strings, because csv-stringify would write `false` as an empty cell.
  if (type === "boolean" && typeof value === "number") return String(value === 1);
  return decimalComma && typeof value === "number" ? String(value).replace(".", ",") : value;
}

/** Formats a timestamp for spreadsheets as `2026-11-28 06:44:52` in UTC. Returns other text unchanged. */
function spreadsheetTime(text: string, type: Column["type"]): string {
  if (type !== "timestamp" && !(type === "any" && isTimestampText(text))) return text;
  const time = parseTimestampParts(text);
  return time ? formatUtc(time).slice(0, 19) : text;
}

/** Matches text that consists only of a signed number, which is not a formula. */
const signedNumber = /^[+-]\d+(?:[.,]\d+)*(?:[eE][+-]?\d+)?$/;

/*
 * The patterns that detect formulas. A formula starts with `=`, `+`, `-`, `@` or one of their full-width forms.
 * Spreadsheets ignore whitespace and control characters before it.
 */

/** Matches a formula at the start of a cell, and a leading tab or carriage return (see OWASP, "CSV Injection"). */
const formulaAtStart = /^[\s\p{Cc}]*[=+\-@＝＋－＠\t\r]/u;

/**
 * Matches a semicolon or tab before a formula, as in `a; -5`, because spreadsheets in some locales split cells there.
 */
const separatorBeforeFormula = /[;\t](?=(?:(?![\t\r\n])[\s\p{Cc}])*[=+\-@＝＋－＠])/gu;

/**
 * Matches the line break in `a\n =1+1`. After a line break, only `=` starts a formula, because lines that start with a
 * dash or an `@` are usually list items or names.
 */
const lineBreakBeforeFormula = /[\r\n](?=(?:(?![\t\r\n])[\s\p{Cc}])*[=＝])/gu;

/**
 * Adds an apostrophe before each formula, so that spreadsheets treat it as text. For example, `=1+1` becomes `'=1+1`,
 * and `a;-5` becomes `a;'-5`. A signed number such as `-5.00` remains unchanged.
 */
export function neutralizeFormulas(text: string): string {
  const isFormula = formulaAtStart.test(text) && !signedNumber.test(text);
  const safe = isFormula ? `'${text}` : text;
  // Skip the replacements if there is no separator, as in most cells, because searching is faster than replacing.
  if (!/[;\t\r\n]/.test(text)) return safe;
  return safe.replace(separatorBeforeFormula, "$&'").replace(lineBreakBeforeFormula, "$&'");
}
