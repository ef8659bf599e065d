import type { Style } from "./style.js";
import { escapeText } from "./text.js";
import { displayWidth, pad, truncate } from "./width.js";

export type Cell = string | number | bigint | boolean | null | undefined;
type Rows = readonly (readonly Cell[])[];

export interface TableOptions {
  /** The terminal's columns; undefined: as wide as it takes (pipes, files). */
  width?: number | undefined;
  style?: Style | undefined;
  /** Titles of columns to align right; default: those that hold nothing but numbers. */
  alignRight?: readonly string[];
  /** Stands for null; default: nothing. */
  none?: string;
  /** Titles of columns that are left out, one after another, if the table would not fit. */
  spare?: readonly string[];
}

const gap = "  ";
const narrowest = 4;

/**
 * Returns a table as text, without a trailing newline: a header, then one line per row, every cell escaped.
 * With a width, spare columns are left out, then the widest are cut with `…`, until the table fits.
 */
export function renderTable(titles: readonly string[], rows: Rows, options: TableOptions = {}): string {
  const { style, width = Number.POSITIVE_INFINITY, none, spare = [], alignRight } = options;
  const { lines, widths } = measure(titles, rows, none);
  const dropped = titles.indexOf(spare[0] ?? "");
  if (dropped >= 0 && widthOf(widths) > width) {
    const others = <T>(cells: readonly T[]): T[] => cells.filter((_, index) => index !== dropped);
    return renderTable(others(titles), rows.map(others), { ...options, spare: spare.slice(1) });
  }
  narrow(widths, width);
  const isNumber = (cell: Cell) => ["number", "bigint"].includes(typeof (cell ?? 0));
  const sides = titles.map((title, index) =>
    (alignRight?.includes(title) ?? rows.every((row) => isNumber(row[index]))) ? "right" : "left",
  );
  const cellText = (cell: string, index: number) =>
    pad(truncate(cell, widths[index] ?? 0), widths[index] ?? 0, sides[index]);
  const [header = "", ...body] = lines.map((cells) => cells.map(cellText).join(gap).trimEnd());
  return [style ? style.bold(header) : header, ...body].join("\n");
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
