import { type Options, stringify } from "csv-stringify/sync";
import type { RowValue } from "../query/open-rows.js";
import type { ReadableColumn } from "../query/readable-tables.js";
import { pluralize } from "../util/format-text.js";
import { formatUtc, isTimestampText, parseTimestampParts } from "../util/timestamps.js";
import type { Chunk, FormatOptions, RowSources } from "./formats.js";

/**
 * Writes CSV in UTF-8 with a header row, RFC 4180 quoting, LF line endings and exact values. Nulls become empty cells.
 * `excel` adds a BOM, CRLF line endings, timestamps that spreadsheets recognize, and an apostrophe before each formula.
 * Without `excel`, formulas are written unchanged, and one warning gives their number.
 */
export function* write([source]: RowSources, options: FormatOptions): Iterable<Chunk> {
  const { excel, decimalComma, delimiter } = options.csv;
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
  for (const rows of source.batches()) {
    const cells = rows.map((row) => row.map(toCell));
    yield { data: stringify(cells, csv), rows: rows.length, table: name };
  }
  if (formulas > 0 && !excel)
    options.warn(
      `${pluralize(formulas, "cell")} would run as a formula in a spreadsheet; add \`--excel\` to export plain text`,
    );
}

/** Formats a timestamp for spreadsheets as `2026-11-28 06:44:52` in UTC. Returns other text unchanged. */
function spreadsheetTime(text: string, type: ReadableColumn["type"]): string {
  if (type !== "timestamp" && !(type === "any" && isTimestampText(text))) return text;
  const time = parseTimestampParts(text);
  return time ? formatUtc(time).slice(0, 19) : text;
}

/** Matches most cells without a formula, as a fast first check. */
const harmless = /^\w[^;\t\r\n]*$/;
const plainNumber = /^[+-]?\d+(?:[.,]\d+)*(?:[eE][+-]?\d+)?$/;

const signs = "[=+\\-@＝＋－＠]";
const blanks = String.raw`(?:(?![\t\r\n])[\s\p{Cc}])*`;

/**
 * Matches text that starts with a formula (OWASP, "CSV Injection"). A leading tab or carriage return is also unsafe.
 */
const startsWithFormula = new RegExp(String.raw`^[\s\p{Cc}]*(?:${signs}|[\t\r])`, "u");

/**
 * Matches the characters after which a formula starts: semicolons and tabs, because spreadsheets in some locales split
 * cells there, and line breaks. After a line break, only `=` counts, because lines that start with a dash or an `@` are
 * usually lists and names.
 */
const formulaSeparator = new RegExp(String.raw`[;\t](?=${blanks}${signs})|[\r\n](?=${blanks}[=＝])`, "gu");

/** Adds an apostrophe before each formula, so that spreadsheets treat it as text. */
export function neutralize(text: string): string {
  if (harmless.test(text) || plainNumber.test(text)) return text;
  const start = startsWithFormula.test(text) ? "'" : "";
  return start + text.replace(formulaSeparator, "$&'");
}
