import { type Options, stringify } from "csv-stringify/sync";
import { counted } from "../../lib/counted.js";
import type { ReadableColumn, Row, Source } from "../../query/index.js";
import { type CellLayout, cutCells, type SpecialCell } from "../cells.js";
import type { Chunk, WriteOptions } from "../format.js";
import { isFormula, neutralize } from "../formulas.js";

/**
 * CSV: UTF-8, a header, RFC 4180 quoting, `\n`, null as empty, exact values, a comma or another delimiter. With `excel`: a BOM, CRLF, and cells that
 * a spreadsheet would run are made text by a leading apostrophe; without it they stay exact and are counted. Control
 * characters, NUL too, are values like any other.
 *
 * csv-stringify writes the file. Where SQLite can hand over whole batches of joined cells, only the cells that need
 * quoting go through it: the bytes are the same (a test holds them together), the time is a quarter.
 */
export function* write(source: Source, { excel, delimiter = ",", warn }: WriteOptions): Iterable<Chunk> {
  const { columns } = source;
  const csv = csvOptions({ excel, delimiter }, columns);
  yield { data: `${excel ? "\ufeff" : ""}${stringify([columns.map(({ name }) => name)], csv)}`, rows: 0 };
  const formulas = { count: 0 };
  const slow = rowWriter(columns, csv, excel, formulas);
  const joined = columns.length > 1 ? source.cells({ lineFeed: excel }) : undefined;
  if (!joined) {
    for (const rows of source.rows("values")) yield { data: slow(rows), rows: rows.length };
  } else {
    const layout: CellLayout = {
      columns: columns.length,
      delimiter,
      numbers: columns.map(({ type }) => type === "number" && !source.exact),
      texts: columns.map(isText),
      crlf: excel,
    };
    for (const batch of joined) {
      const { bytes } = batch;
      const special = cutCells(bytes, batch.rows, layout);
      const data =
        special === undefined
          ? slow(batch.values())
          : replaceCells(bytes, special, { layout, csv, excel, formulas });
      yield { data, rows: batch.rows };
    }
  }
  if (formulas.count > 0 && !excel)
    warn(
      `${counted(formulas.count, "cell")} would run as a formula in a spreadsheet: ` +
        "kept exact; for a spreadsheet add `--excel`",
    );
}

function csvOptions(
  { excel, delimiter }: { excel: boolean; delimiter: string },
  columns: readonly unknown[],
): Options {
  return {
    delimiter,
    record_delimiter: excel ? "\r\n" : "\n",
    quote_record_delimiter: true,
    // A line without anything would be no row to most readers.
    ...(columns.length === 1 ? { quoted_empty: true } : {}),
  };
}

function isText({ type, stored }: ReadableColumn): boolean {
  return stored?.open === true || (type !== "number" && type !== "integer" && type !== "boolean");
}

/** Writes rows value by value. What each column needs is settled before the first row. */
function rowWriter(
  columns: readonly ReadableColumn[],
  csv: Options,
  excel: boolean,
  formulas: { count: number },
) {
  const booleans = columns.flatMap(({ type }, index) => (type === "boolean" ? [index] : []));
  const texts = columns.flatMap((column, index) => (isText(column) ? [index] : []));
  return (rows: readonly Row[]): string =>
    stringify(
      rows.map((row) => {
        const cells: (Row[number] | string)[] = [...row];
        for (const index of booleans) cells[index] = asWord(row[index] ?? null);
        for (const index of texts) {
          const text = cells[index];
          if (typeof text !== "string" || !isFormula(text)) continue;
          formulas.count += 1;
          if (excel) cells[index] = neutralize(text);
        }
        return cells;
      }),
      csv,
    );
}

function asWord(value: Row[number]): Row[number] {
  if (value === 1) return "true";
  return value === 0 ? "false" : value;
}

/** The batch with its special cells as csv-stringify writes them. */
function replaceCells(
  bytes: Buffer,
  special: readonly SpecialCell[],
  {
    layout,
    csv,
    excel,
    formulas,
  }: { layout: CellLayout; csv: Options; excel: boolean; formulas: { count: number } },
): Buffer {
  const replaced: { from: number; to: number; text: string }[] = [];
  const quoted: (typeof replaced)[number][] = [];
  for (const { from, to, column, quote } of special) {
    const cell = { from, to, text: bytes.toString("utf8", from, to) };
    if (layout.numbers[column]) {
      replaced.push({ ...cell, text: String(Number(cell.text.replace("Inf", "Infinity"))) });
      continue;
    }
    const runs = layout.texts[column] && isFormula(cell.text);
    if (runs) formulas.count += 1;
    if (runs && excel) cell.text = neutralize(cell.text);
    if (quote) quoted.push(cell);
    if (quote || (runs && excel)) replaced.push(cell);
  }
  if (replaced.length === 0) return bytes;
  quoteAll(quoted, csv);
  return splice(bytes, replaced);
}

/** All of a batch in one call. No text holds the separator used here: the batch could not have been cut otherwise. */
function quoteAll(cells: { text: string }[], csv: Options): void {
  if (cells.length === 0) return;
  const written = stringify(
    cells.map(({ text }) => [text]),
    { ...csv, record_delimiter: "\x1e", eof: false },
  ).split("\x1e");
  cells.forEach((cell, index) => {
    cell.text = written[index] ?? "";
  });
}

function splice(bytes: Buffer, replaced: readonly { from: number; to: number; text: string }[]): Buffer {
  const room = replaced.reduce((sum, { text }) => sum + text.length * 3, bytes.length);
  const out = Buffer.allocUnsafe(room);
  let end = 0;
  let copied = 0;
  for (const { from, to, text } of replaced) {
    end += bytes.copy(out, end, copied, from);
    end += out.write(text, end);
    copied = to;
  }
  end += bytes.copy(out, end, copied);
  return out.subarray(0, end);
}
