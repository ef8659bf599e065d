import { wrap } from "./facts.js";
import type { Style } from "./style.js";
import { escapeText } from "./text.js";
import { displayWidth, pad, shorten, truncate } from "./width.js";

export type Cell = string | number | bigint | boolean | null | undefined;

export interface TableOptions {
  /** The terminal's columns; undefined: as wide as it takes (pipes, files). */
  width?: number | undefined;
  style?: Style | undefined;
  /** Titles of columns to align right; by default those that hold nothing but numbers. */
  alignRight?: readonly string[];
  /** What stands for null, where that has to be told from an empty text; by default nothing. */
  none?: string;
  /** Titles of columns that are left out, one after another, where the table would not fit. */
  spare?: readonly string[];
  /** True if the last column is wrapped at its blanks instead of being cut. */
  wrap?: boolean;
}

const gap = "  ";
/** No column is cut below this many columns of the terminal while another is wider. */
const narrowest = 4;

/**
 * A table as text, without a trailing newline: a header, then one line a row. Every cell is escaped, and a very long
 * one is cut: a table is for reading.
 * With a width, spare columns are left out, then the widest are cut with `…`, until the table fits.
 */
export function renderTable(
  titles: readonly string[],
  rows: readonly (readonly Cell[])[],
  options: TableOptions = {},
): string {
  const { heads, texts, natural } = measure(titles, rows, options.none);
  const [spare, ...spared] = options.spare ?? [];
  const dropped = spare === undefined ? -1 : titles.indexOf(spare);
  if (dropped >= 0 && options.width !== undefined && widthOf(natural) > options.width) {
    const others = <T>(cells: readonly T[]): T[] =>
      titles.flatMap((_, at) => (at === dropped ? [] : [cells[at] as T]));
    return renderTable(others(titles), rows.map(others), { ...options, spare: spared });
  }
  const fitted = options.width === undefined ? natural : narrow(natural, options.width);
  const widths = options.wrap ? withRoom(natural, options.width) : fitted;
  const right = titles.map(
    (title, index) => options.alignRight?.includes(title) ?? rows.every((row) => isNumeric(row[index])),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, index) => {
        const width = widths[index] ?? 0;
        const last = index === cells.length - 1 && !right[index];
        const text = truncate(cell, width);
        return last ? text : pad(text, width, right[index] ? "right" : "left");
      })
      .join(gap)
      .trimEnd();
  const header = line(heads);
  const lines = options.wrap ? texts.flatMap((row) => wrapped(row, widths.at(-1) ?? 0)) : texts;
  return [options.style ? options.style.bold(header) : header, ...lines.map(line)].join("\n");
}

/** The last column gets the room that the others leave, and never less than this. */
const leastRoom = 24;

function withRoom(natural: readonly number[], width = Number.POSITIVE_INFINITY): number[] {
  const others = natural.slice(0, -1);
  const room = width - others.reduce((sum, one) => sum + one + gap.length, 0);
  return [...others, Math.min(natural.at(-1) ?? 0, Math.max(leastRoom, room))];
}

/** A row as several: the last cell wrapped, the others once. */
function wrapped(row: readonly string[], room: number): string[][] {
  const others = row.slice(0, -1);
  return wrap(row.at(-1) ?? "", room).map((piece, n) => [
    ...others.map((cell) => (n === 0 ? cell : "")),
    piece,
  ]);
}

/** Whether nothing of the table would be cut in a terminal of so many columns. */
export function tableFits(
  titles: readonly string[],
  rows: readonly (readonly Cell[])[],
  { width, none }: { width: number; none?: string },
): boolean {
  return widthOf(measure(titles, rows, none).natural) <= width;
}

/** Every cell escaped, and how wide each column is where nothing is cut. */
function measure(titles: readonly string[], rows: readonly (readonly Cell[])[], none: string | undefined) {
  const texts = rows.map((row) => titles.map((_, index) => cellText(row[index], none)));
  const heads = titles.map((title) => escapeText(shorten(title)));
  const natural = heads.map((head, index) =>
    texts.reduce((most, row) => Math.max(most, displayWidth(row[index] ?? "")), displayWidth(head)),
  );
  return { heads, texts, natural };
}

function cellText(cell: Cell, none = ""): string {
  return cell === null || cell === undefined ? none : escapeText(shorten(String(cell)));
}

function isNumeric(cell: Cell): boolean {
  return cell === null || cell === undefined || typeof cell === "number" || typeof cell === "bigint";
}

/** How wide a table of these columns is. */
function widthOf(columns: readonly number[]): number {
  return columns.reduce((sum, one) => sum + one, 0) + gap.length * (columns.length - 1);
}

/** Narrows the widest columns, evenly, until all fit; the others keep their width. */
function narrow(natural: readonly number[], width: number): number[] {
  const room = width - gap.length * (natural.length - 1);
  if (widthOf(natural) <= width) return [...natural];
  const ascending = natural.map((one, index) => ({ one, index })).sort((a, b) => a.one - b.one);
  const fitted = [...natural];
  let left = room;
  ascending.forEach(({ one, index }, position) => {
    const share = Math.max(narrowest, Math.floor(left / (ascending.length - position)));
    fitted[index] = Math.min(one, share);
    left -= fitted[index];
  });
  return fitted;
}
