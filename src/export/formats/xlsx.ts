import { UsageError } from "../../errors.js";
import { counted } from "../../lib/counted.js";
import type { ReadableColumn, Source } from "../../query/index.js";
import type { Chunk, Sources, WriteOptions } from "../format.js";
import { cellOf, longestText, styles, textCell } from "../sheet-cells.js";
import { type Sheet, sheetNamespace, workbookParts, workbookXml, xmlHead } from "../workbook.js";
import { openZip, type ZipStream } from "../zip.js";

/** The rows of a sheet, its header included. */
const rowsOfSheet = 1_048_576;
/** Letters of XML that are compressed at a time. */
const pieceLetters = 256 * 1_024;

/**
 * XLSX: one sheet per table, with a frozen header and a filter. Amounts have two decimals. Dates are dates (times in UTC), numbers are numbers, ids and all other
 * text are text: no cell is a formula. Texts are written in their cells, because a table of them would have to be held.
 * @throws UsageError if a table has more rows than a sheet
 */
export function* write(sources: Sources, { warn }: WriteOptions): Iterable<Chunk> {
  for (const source of sources) checkRows(source.name, source.count?.() ?? 0);
  const zip = openZip();
  for (const [name, xml] of workbookParts(sources.map(({ name }) => name))) {
    zip.begin(name);
    zip.write(xml);
  }
  const cut = { count: 0 };
  const sheets: Sheet[] = [];
  for (const [index, source] of sources.entries()) {
    zip.begin(`xl/worksheets/sheet${index + 1}.xml`);
    const range = yield* writeSheet(source, zip, cut);
    sheets.push({ table: source.name, range });
  }
  zip.begin("xl/workbook.xml");
  zip.write(workbookXml(sheets));
  zip.end();
  yield { data: zip.take(), rows: 0 };
  const longer = `${counted(cut.count, "text")} longer than a cell can be`;
  if (cut.count > 0) warn(`${longer}: cut after 32,767 letters; CSV has all of it`);
}

/** Writes a sheet. Returns the range of its cells. */
function* writeSheet(source: Source, zip: ZipStream, cut: { count: number }): Generator<Chunk, string> {
  const { name, columns } = source;
  const letters = columns.map((_, column) => columnLetters(column));
  let text = sheetStart(columns, letters);
  let rows = 0;
  let number = 1;
  for (const batch of source.rows())
    for (const row of batch) {
      number += 1;
      rows += 1;
      text += `<row r="${number}">`;
      for (const [column, described] of columns.entries()) {
        const value = row[column] ?? null;
        if (typeof value === "string" && value.length > longestText) cut.count += 1;
        if (value !== null) text += `<c r="${letters[column]}${number}"${cellOf(value, described)}`;
      }
      text += "</row>";
      if (text.length < pieceLetters) continue;
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
  return range;
}

/** Returns what a sheet has before its first row: the frozen header, and the widths of columns. */
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

/** Returns `A`, `Z`, `AA` for 0, 25, 26. */
function columnLetters(column: number): string {
  const rest = Math.floor(column / 26);
  return (rest > 0 ? columnLetters(rest - 1) : "") + String.fromCharCode(65 + (column % 26));
}

function checkRows(name: string, rows: number): void {
  if (rows < rowsOfSheet) return;
  const hint = "take fewer with `--since` or `--limit`, or write CSV: `-o FILE.csv`";
  throw new UsageError(`\`${name}\` has more rows than a sheet holds, which are 1,048,576 with the header.`, {
    hint,
  });
}
