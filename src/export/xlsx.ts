import { UsageError } from "../errors.js";
import type { ReadableColumn } from "../query/readable-tables.js";
import { countRows, type RowSource, type RowValue } from "../query/select.js";
import { pluralize } from "../util/text.js";
import { dayMs, daysSince1970, isTimestampText, parseTimestamp } from "../util/timestamp.js";
import type { Chunk, FormatOptions, RowSources } from "./formats.js";
import {
  type Sheet,
  sheetNamespace,
  styles,
  workbookParts,
  workbookXml,
  xmlHead,
  xmlText,
  ZipWriter,
} from "./xlsx-package.js";

/** The maximum number of rows in a sheet, including the header row. */
const maxSheetRows = 1_048_576;
/** The number of characters to collect before compressing them. */
const flushLength = 256 * 1_024;

/**
 * Writes a workbook with one sheet per table, each with a frozen header row and a filter. Strings are stored in the
 * cells, because a shared string table would have to be kept in memory.
 * @throws UsageError if a table has more rows than a sheet allows
 */
export function* write(sources: RowSources, { warn }: FormatOptions): Iterable<Chunk> {
  for (const { name, origin } of sources)
    if (origin) checkRows(name, countRows(origin.mirror, origin.selection));
  const zip = new ZipWriter();
  for (const [name, xml] of workbookParts(sources.map(({ name }) => name))) {
    zip.begin(name);
    zip.write(xml);
  }
  const sheets: Sheet[] = [];
  let cutTexts = 0;
  for (const [index, source] of sources.entries()) {
    zip.begin(`xl/worksheets/sheet${index + 1}.xml`);
    const written = yield* writeSheet(source, zip);
    sheets.push({ table: source.name, range: written.range });
    cutTexts += written.cutTexts;
  }
  zip.begin("xl/workbook.xml");
  zip.write(workbookXml(sheets));
  zip.end();
  yield { data: zip.take(), rows: 0 };
  if (cutTexts > 0)
    warn(
      `${pluralize(cutTexts, "cell")} truncated to 32,767 characters, the spreadsheet limit; export as CSV to get the complete text`,
    );
}

/** Writes a sheet. Returns its cell range and the number of truncated strings. */
function* writeSheet(
  source: RowSource,
  zip: ZipWriter,
): Generator<Chunk, { range: string; cutTexts: number }> {
  const { name, columns } = source;
  const letters = columns.map((_, column) => columnLetters(column));
  let text = sheetStart(columns, letters);
  let rows = 0;
  let number = 1;
  let cutTexts = 0;
  for (const batch of source.rows())
    for (const row of batch) {
      number += 1;
      rows += 1;
      text += `<row r="${number}">`;
      for (const [column, described] of columns.entries()) {
        const value = row[column] ?? null;
        if (typeof value === "string" && value.length > maxCellText) cutTexts += 1;
        if (value !== null) text += `<c r="${letters[column]}${number}"${formatCell(value, described)}`;
      }
      text += "</row>";
      if (text.length < flushLength) continue;
      checkRows(name, number - 1);
      zip.write(text);
      yield { data: zip.take(), rows, table: name };
      text = "";
      rows = 0;
    }
  checkRows(name, number - 1);
  const range = `A1:${letters.at(-1)}${number}`;
  zip.write(`${text}</sheetData><autoFilter ref="${range}"/></worksheet>`);
  yield { data: zip.take(), rows, table: name };
  return { range, cutTexts };
}

function sheetStart(columns: readonly ReadableColumn[], letters: readonly string[]): string {
  const widths = columns.map(({ name, type }, index) => {
    const width = Math.max(name.length + 2, type === "text" || type === "timestamp" ? 20 : 12);
    return `<col min="${index + 1}" max="${index + 1}" width="${width}" customWidth="1"/>`;
  });
  const titles = columns.map(
    ({ name }, index) => `<c r="${letters[index]}1"${textCell(name, styles.header)}`,
  );
  return (
    `${xmlHead}<worksheet xmlns="${sheetNamespace}"><sheetViews><sheetView workbookViewId="0">` +
    `<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>` +
    `<cols>${widths.join("")}</cols><sheetData><row r="1">${titles.join("")}</row>`
  );
}

/** Returns a column's letters: `A` for 0, `Z` for 25, `AA` for 26. */
function columnLetters(column: number): string {
  const rest = Math.floor(column / 26);
  return (rest > 0 ? columnLetters(rest - 1) : "") + String.fromCharCode(65 + (column % 26));
}

function checkRows(name: string, rows: number): void {
  if (rows < maxSheetRows) return;
  const hint = "select fewer with `--since` or `--limit`, or write CSV: `-o FILE.csv`";
  throw new UsageError(
    `\`${name}\` has more rows than the limit of a sheet: 1,048,576, including the header.`,
    {
      hint,
    },
  );
}

/** The maximum length of a cell's text. Spreadsheets report files with longer text as damaged. */
const maxCellText = 32_767;

/**
 * Returns a cell's XML without the opening `<c` and the cell reference, or an empty string for null. A value that does
 * not fit the column's type is written as text.
 */
export function formatCell(value: RowValue, column: CellColumn): string {
  if (value === null) return "";
  return typedCell(value, column) ?? textCell(String(value));
}

type CellColumn = Pick<ReadableColumn, "type" | "isAmount">;

function typedCell(value: Exclude<RowValue, null>, { type, isAmount }: CellColumn): string | undefined {
  if (type === "text" || type === "json") return undefined;
  if (typeof value !== "string")
    return type === "boolean" ? booleanCell(value) : numberCell(value, isAmount === true);
  const day = type === "date" || type === "any" ? dateCell(daysSince1970(value), styles.day) : undefined;
  const isTime = type === "timestamp" || (type === "any" && isTimestampText(value));
  return day ?? (isTime ? dateCell((parseTimestamp(value) ?? Number.NaN) / dayMs, styles.time) : undefined);
}

/** Returns undefined for integers with 16 digits or more, because spreadsheets would round them. */
function numberCell(value: number | bigint, isAmount: boolean): string | undefined {
  const number = Number(value);
  const fits = Number.isFinite(number) && !(Number.isInteger(number) && Math.abs(number) >= 1e15);
  return fits ? `${isAmount ? ` s="${styles.amount}"` : ""}><v>${value}</v></c>` : undefined;
}

/**
 * Writes a boolean as a number that is displayed as true or false, because LibreOffice turns boolean cells into
 * formulas.
 */
function booleanCell(value: number | bigint): string | undefined {
  return value === 0 || value === 1 ? ` s="${styles.yesNo}"><v>${value}</v></c>` : undefined;
}

/**
 * Spreadsheets count days from the end of 1899, disagree about dates before March 1900, and support no dates after
 * 9999.
 */
function dateCell(daysSince1970: number | undefined, style: number): string | undefined {
  const serial = (daysSince1970 ?? Number.NaN) + 25_569;
  return serial >= 61 && serial < 2_958_466 ? ` s="${style}"><v>${serial}</v></c>` : undefined;
}

function textCell(text: string, style: number = styles.text): string {
  const xml = xmlText(text.slice(0, maxCellText));
  return ` t="inlineStr" s="${style}"><is><t xml:space="preserve">${xml}</t></is></c>`;
}
