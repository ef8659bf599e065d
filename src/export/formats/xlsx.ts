import { UsageError } from "../../errors.js";
import { counted } from "../../lib/counted.js";
import type { ReadableColumn, Row, Source } from "../../query/index.js";
import type { Chunk, WriteOptions } from "../format.js";
import { cellWriter, styles, textCell } from "../sheet-cells.js";
import { head, main, sheetNames, workbookParts } from "../workbook.js";
import { openZip, type ZipStream } from "../zip.js";

/** As many rows as a sheet has, the header's among them. */
const rowsOfSheet = 1_048_576;
/** So many letters of XML are made before they are compressed. */
const pieceLetters = 256 * 1_024;

/**
 * XLSX: a sheet a table, its header frozen. Dates are dates (times in UTC), numbers are numbers, ids and all other text
 * are text: no cell is a formula. Texts stand in their cells, so that nothing is held but a few rows.
 * @throws UsageError where a table has more rows than a sheet
 */
export function* writeAll(sources: readonly Source[], { warn }: WriteOptions): Iterable<Chunk> {
  for (const source of sources) checkRows(source.name, source.count() ?? 0);
  const names = sheetNames(sources.map(({ name }) => name));
  const zip = openZip(() => tooMuch("A sheet is larger than 4 GB."));
  for (const [name, xml] of workbookParts(names)) {
    zip.begin(name);
    zip.write(xml);
  }
  const cut = { count: 0 };
  for (const [index, source] of sources.entries()) {
    zip.begin(`xl/worksheets/sheet${index + 1}.xml`);
    yield* writeSheet(source, zip, cut);
  }
  zip.end();
  yield { data: zip.take(), rows: 0 };
  if (cut.count > 0)
    warn(
      `${counted(cut.count, "text")} longer than a cell can be: cut after 32,767 letters; CSV has all of it`,
    );
}

function* writeSheet(source: Source, zip: ZipStream, cut: { count: number }): Iterable<Chunk> {
  const { name, columns } = source;
  const writers = columns.map((column) => cellWriter(column, cut));
  const places = columns.map((_, column) => letters(column));
  let text = "";
  let rows = 0;
  let total = 0;
  const flush = (): Chunk => {
    zip.write(text);
    const chunk = { data: zip.take(), rows };
    text = "";
    rows = 0;
    return chunk;
  };
  for (const batch of withFirst(source.rows("values"))) {
    if (total === 0) text = sheetStart(columns, batch, cut);
    for (const row of batch) {
      let cells = "";
      for (const [column, write] of writers.entries()) {
        const cell = write(row[column] ?? null);
        if (cell !== "") cells += `<c r="${places[column]}${total + 2}"${cell.slice(2)}`;
      }
      text += `<row r="${total + 2}">${cells}</row>`;
      total += 1;
      rows += 1;
      if (text.length > pieceLetters) yield flush();
    }
    checkRows(name, total);
    yield { data: "", rows: 0 };
  }
  text += "</sheetData></worksheet>";
  yield flush();
}

/** The batches, and one without rows where there are none. */
function* withFirst(batches: Iterable<readonly Row[]>): Iterable<readonly Row[]> {
  let isEmpty = true;
  for (const batch of batches) {
    isEmpty = false;
    yield batch;
  }
  if (isEmpty) yield [];
}

/** All that stands before the first row: the frozen header, and the widths of columns by what the first rows hold. */
function sheetStart(
  columns: readonly ReadableColumn[],
  first: readonly Row[],
  cut: { count: number },
): string {
  const widths = columns.map(({ name, type }, index) => {
    if (type === "timestamp") return 20;
    const longest = first.reduce((most, row) => Math.max(most, String(row[index] ?? "").length), name.length);
    return Math.min(Math.max(longest, 6), 50) + 2;
  });
  const cols = widths.map(
    (width, index) => `<col min="${index + 1}" max="${index + 1}" width="${width}" customWidth="1"/>`,
  );
  const titles = columns.map(
    ({ name }, column) => `<c r="${letters(column)}1"${textCell(name, cut, styles.header).slice(2)}`,
  );
  return (
    `${head}<worksheet xmlns="${main}"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" ` +
    `activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><cols>${cols.join("")}</cols>` +
    `<sheetData><row r="1">${titles.join("")}</row>`
  );
}

/** `A`, `Z`, `AA`. */
function letters(column: number): string {
  const rest = Math.floor(column / 26);
  return (rest > 0 ? letters(rest - 1) : "") + String.fromCharCode(65 + (column % 26));
}

function checkRows(name: string, rows: number): void {
  if (rows >= rowsOfSheet)
    throw tooMuch(`\`${name}\` has more rows than a sheet holds, which are 1,048,576 with the header.`);
}

function tooMuch(message: string): UsageError {
  return new UsageError(message, {
    hint: "take fewer with `--since` or `--limit`, or write CSV: `-o FILE.csv`",
  });
}
