import type { Style } from "./terminal.js";
import { displayWidth, escapeText, pad, truncate, wrap } from "./terminal-text.js";

export type TableCell = string | number | bigint | boolean | null | undefined;
type Rows = readonly (readonly TableCell[])[];

export interface TableOptions {
  /** The terminal's columns; undefined: as wide as it takes (pipes, files). */
  width?: number | undefined;
  style?: Style | undefined;
  /** Titles of columns to align right; default: those that hold nothing but numbers. */
  rightAligned?: readonly string[];
  /** Stands for null; default: nothing. */
  nullText?: string;
  /** Titles of columns that are left out, one after another, if the table would not fit. */
  optionalColumns?: readonly string[];
  /** Title of the last column, whose text is wrapped instead of cut; in a narrow terminal it goes below its row. */
  wrappedColumn?: string;
}

const gap = "  ";
const narrowest = 4;
/** The least width of wrapped text beside other columns. */
const readable = 24;
const indent = "    ";

/**
 * Returns a table as text, without a trailing newline: a header, then one line per row, every cell escaped.
 * With a width, spare columns are left out, then the widest are cut with `…`, until the table fits.
 */
export function renderTable(titles: readonly string[], rows: Rows, options: TableOptions = {}): string {
  const {
    style,
    width = Number.POSITIVE_INFINITY,
    nullText,
    optionalColumns = [],
    rightAligned,
    wrappedColumn,
  } = options;
  const { lines, widths } = measure(titles, rows, nullText);
  if (wrappedColumn !== undefined && titles.at(-1) === wrappedColumn && widthOf(widths) > width)
    return renderWrapped(titles, rows, { ...options, width });
  const dropped = titles.indexOf(optionalColumns[0] ?? "");
  if (dropped >= 0 && widthOf(widths) > width) {
    const others = <T>(cells: readonly T[]): T[] => cells.filter((_, index) => index !== dropped);
    return renderTable(others(titles), rows.map(others), {
      ...options,
      optionalColumns: optionalColumns.slice(1),
    });
  }
  narrow(widths, width);
  const isNumber = (cell: TableCell) => ["number", "bigint"].includes(typeof (cell ?? 0));
  const sides = titles.map((title, index) =>
    (rightAligned?.includes(title) ?? rows.every((row) => isNumber(row[index]))) ? "right" : "left",
  );
  const cellText = (cell: string, index: number) =>
    pad(truncate(cell, widths[index] ?? 0), widths[index] ?? 0, sides[index]);
  const [header = "", ...body] = lines.map((cells) => cells.map(cellText).join(gap).trimEnd());
  return [style ? style.bold(header) : header, ...body].join("\n");
}

/** Returns a table whose last column is wrapped: beside the others, or below them if it would be too narrow there. */
function renderWrapped(
  titles: readonly string[],
  rows: Rows,
  options: TableOptions & { width: number },
): string {
  const { width, wrappedColumn, ...others } = options;
  const last = titles.length - 1;
  const left = widthOf(measure(titles, rows).widths.slice(0, last)) + gap.length;
  const texts = rows.map((row) => escapeText(String(row[last] ?? "")));
  if (width - left >= readable) {
    const lines = rows.flatMap((row, index) =>
      wrap(texts[index] ?? "", width - left)
        .split("\n")
        .map((text, line) => [
          ...(line === 0 ? row.slice(0, last) : titles.slice(1).map(() => undefined)),
          text,
        ]),
    );
    return renderTable(titles, lines, others);
  }
  const [header = "", ...body] = renderTable(
    titles.slice(0, last),
    rows.map((row) => row.slice(0, last)),
    { ...others, width },
  ).split("\n");
  const below = (text = "") =>
    text === "" ? [] : [wrap(text, width - indent.length).replace(/^/gm, indent)];
  return [header, ...body.flatMap((line, index) => [line, ...below(texts[index])])].join("\n");
}

/** True if a table takes no more than these columns of a terminal. */
export function tableFits(titles: readonly string[], rows: Rows, { width, nullText }: TableOptions): boolean {
  return width === undefined || widthOf(measure(titles, rows, nullText).widths) <= width;
}

/** Returns one block per row, with a line `column: value` for each column; without rows the columns alone. */
export function renderBlocks(
  titles: readonly string[],
  rows: Rows,
  { style, nullText = "" }: TableOptions,
): string {
  const name = (title: string) => (style ? style.bold(escapeText(title)) : escapeText(title));
  if (rows.length === 0) return titles.map(name).join("\n");
  const block = (row: Rows[number]) =>
    titles
      .map((title, index) => `${name(title)}: ${escapeText(String(row[index] ?? nullText))}`.trimEnd())
      .join("\n");
  return rows.map(block).join("\n\n");
}

/** Returns header and rows as escaped cells, and how wide each column is if nothing is cut. */
function measure(titles: readonly string[], rows: Rows, none = "") {
  const lines = [titles, ...rows].map((row) =>
    titles.map((_, index) => escapeText(String(row[index] ?? none))),
  );
  const widest = (index: number) =>
    lines.reduce((most, line) => Math.max(most, displayWidth(line[index] ?? "")), 0);
  return { lines, widths: titles.map((_, index) => widest(index)) };
}

function widthOf(columns: readonly number[]): number {
  return columns.reduce((sum, one) => sum + one, 0) + gap.length * (columns.length - 1);
}

/** Narrows the widest column, again and again, until all fit. */
function narrow(widths: number[], width: number): void {
  for (let over = widthOf(widths) - width; over > 0; over--) {
    const widest = Math.max(...widths);
    if (widest <= narrowest) return;
    widths[widths.indexOf(widest)] = widest - 1;
  }
}
