import { displayWidth, escapeText, pad, type Style, truncate, truncateStart, wrap } from "./terminal.js";

type TableCell = string | number | bigint | boolean | null | undefined;
type Rows = readonly (readonly TableCell[])[];

interface TableOptions {
  /** The terminal's width in columns, or undefined for pipes and files. */
  width?: number | undefined;
  style?: Style | undefined;
  /** The titles of right-aligned columns. By default, columns that contain only numbers are right-aligned. */
  rightAligned?: readonly string[];
  nullText?: string;
  /** The titles of columns that may be omitted, one by one, if the table is too wide. */
  optionalColumns?: readonly string[];
  /**
   * Wraps the text in the last column instead of truncating it. In a narrow terminal, the text is printed below its
   * row.
   */
  wrapsLastColumn?: boolean;
  /**
   * The title of a column with paths. If the table is too wide, this column is shortened first, from the start of each
   * path. It is omitted if too little space is left.
   */
  pathColumn?: string;
}

const gap = "  ";
const minColumnWidth = 4;
const minWrappedWidth = 24;
const minPathWidth = 16;
const indent = "    ";

/**
 * Renders a table with a header and one line per row, without a trailing newline. Escapes the cells. If the table is
 * wider than `width`, omits optional columns, then truncates the widest columns with `…`.
 */
export function renderTable(titles: readonly string[], rows: Rows, options: TableOptions = {}): string {
  const {
    style,
    width = Number.POSITIVE_INFINITY,
    nullText,
    optionalColumns = [],
    pathColumn,
    rightAligned,
    wrapsLastColumn,
  } = options;
  const { lines, widths } = measure(titles, rows, nullText);
  if (wrapsLastColumn && widthOf(widths) > width) return renderWrapped(titles, rows, { ...options, width });
  const path = pathColumn === undefined ? -1 : titles.indexOf(pathColumn);
  if (path >= 0 && widthOf(widths) > width) {
    const pathWidth = (widths[path] ?? 0) - (widthOf(widths) - width);
    if (pathWidth < minPathWidth)
      return renderTable(...withoutColumn(titles, rows, titles[path] ?? ""), options);
    widths[path] = pathWidth;
  }
  const [dropped] = optionalColumns.filter((title) => titles.includes(title));
  if (dropped !== undefined && widthOf(widths) > width)
    return renderTable(...withoutColumn(titles, rows, dropped), options);
  narrow(widths, width);
  const isNumber = (cell: TableCell) => ["number", "bigint"].includes(typeof (cell ?? 0));
  const sides = titles.map((title, index) =>
    (rightAligned?.includes(title) ?? rows.every((row) => isNumber(row[index]))) ? "right" : "left",
  );
  const cellText = (cell: string, index: number) => {
    const cut = index === path ? truncateStart : truncate;
    return pad(cut(cell, widths[index] ?? 0), widths[index] ?? 0, sides[index]);
  };
  const [header = "", ...body] = lines.map((cells) => cells.map(cellText).join(gap).trimEnd());
  return [style ? style.bold(header) : header, ...body].join("\n");
}

function withoutColumn(titles: readonly string[], rows: Rows, title: string): [string[], TableCell[][]] {
  const removed = titles.indexOf(title);
  const others = <T>(cells: readonly T[]): T[] => cells.filter((_, index) => index !== removed);
  return [others(titles), rows.map(others)];
}

/** Wraps the last column. If the column would be too narrow, prints its text below each row. */
function renderWrapped(
  titles: readonly string[],
  rows: Rows,
  options: TableOptions & { width: number },
): string {
  const { width, wrapsLastColumn, ...others } = options;
  const last = titles.length - 1;
  const left = widthOf(measure(titles, rows).widths.slice(0, last)) + gap.length;
  const texts = rows.map((row) => escapeText(String(row[last] ?? "")));
  if (width - left >= minWrappedWidth) {
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

export function tableFits(titles: readonly string[], rows: Rows, { width, nullText }: TableOptions): boolean {
  return width === undefined || widthOf(measure(titles, rows, nullText).widths) <= width;
}

/** Renders each row as a block of lines in the form `column: value`. If there are no rows, renders the column names. */
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

function measure(titles: readonly string[], rows: Rows, nullText = "") {
  const lines = [titles, ...rows].map((row) =>
    titles.map((_, index) => escapeText(String(row[index] ?? nullText))),
  );
  const widest = (index: number) =>
    lines.reduce((most, line) => Math.max(most, displayWidth(line[index] ?? "")), 0);
  return { lines, widths: titles.map((_, index) => widest(index)) };
}

function widthOf(columns: readonly number[]): number {
  return columns.reduce((sum, width) => sum + width, 0) + gap.length * (columns.length - 1);
}

function narrow(widths: number[], width: number): void {
  for (let over = widthOf(widths) - width; over > 0; over--) {
    const widest = Math.max(...widths);
    if (widest <= minColumnWidth) return;
    widths[widths.indexOf(widest)] = widest - 1;
  }
}
