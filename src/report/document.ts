import type { FormattedValue } from "./formatting.js";
import type { Period } from "./period.js";

/** A report's content, which is rendered as a page, text or JSON. */
export interface ReportDocument {
  brand: string;
  period: Period;
  /** A sentence about the change in the net amount; empty if there is no comparison. */
  summary: string;
  is_proven: boolean;
  proof: string;
  sections: Section[];
  /** The creation time (ISO 8601). */
  made_at: string;
  /** The time up to which the orders were read (ISO 8601). */
  reached: string;
}

export interface Section {
  id: string;
  title: string;
  /** The sentence below the heading, which can be empty. Command names are in backticks. */
  lead: string;
  blocks: Block[];
}

export type Block = Paragraph | KeyFigures | ReportTable | Chart;

export interface Paragraph {
  kind: "text";
  text: string;
}

/** The key figures for one currency. */
export interface KeyFigures {
  kind: "figures";
  title: string;
  /** True for a currency with few orders, whose figures are rendered as one line. */
  is_minor: boolean;
  figures: KeyFigure[];
}

export interface KeyFigure {
  title: string;
  value: FormattedValue;
  comparisons: { name: string; change: FormattedValue; before: FormattedValue }[];
}

export interface ReportTable {
  kind: "table";
  title: string;
  /** The view or table that contains all rows. */
  source: string;
  /** Narrow screens hide the columns with `is_spare`. */
  columns: { key: string; title: string; kind: ColumnKind; is_spare: boolean }[];
  rows: Record<string, FormattedValue>[];
}

/** A column's layout: text that wraps, text that does not wrap, or right-aligned numbers. */
export type ColumnKind = "name" | "short" | "number";

export interface Chart {
  kind: "chart";
  title: string;
  labels: string[];
  /** The parts of each bar, from bottom to top; null leaves a gap. */
  series: { title: string; values: (number | null)[] }[];
}

export type ColumnSpec<Row> = [
  key: string,
  title: string,
  kind: ColumnKind,
  value: (row: Row) => FormattedValue,
  spare?: "spare",
];

export function createTable<Row>(
  title: string,
  source: string,
  rows: readonly Row[],
  columns: ColumnSpec<Row>[],
): ReportTable {
  return {
    kind: "table",
    title,
    source,
    columns: columns.map(([key, name, kind, , spare]) => ({ key, title: name, kind, is_spare: !!spare })),
    rows: rows.map((row) => Object.fromEntries(columns.map(([key, , , value]) => [key, value(row)]))),
  };
}

export function paragraph(text: string): Paragraph {
  return { kind: "text", text };
}

/** Formats key figures as one sentence, such as `SEK: net 57.89, gross 77.89, refunds 20.00, orders 1, cancelled 0.` */
export function keyFiguresLine({ title, figures }: KeyFigures): string {
  const parts = figures.map(({ title: name, value }) => `${name.toLowerCase()} ${value.text}`);
  return `${title}: ${parts.join(", ")}.`;
}
