import type { FormattedValue } from "./formatting.js";
import type { Period } from "./period.js";

/** A report before it is rendered as a page, as text or as JSON. */
export interface ReportDocument {
  brand: string;
  period: Period;
  /** How the net amount changed, in one sentence; empty if there is nothing to compare with. */
  summary: string;
  is_proven: boolean;
  /** Whether the orders are proven, in one sentence. */
  proof: string;
  sections: Section[];
  /** ISO 8601. */
  made_at: string;
  /** The time that the orders were read up to, ISO 8601. */
  reached: string;
}

export interface Section {
  id: string;
  title: string;
  /** A sentence under the heading, or empty. Commands and tables are in backticks. */
  lead: string;
  blocks: Block[];
}

export type Block = Paragraph | KeyFigures | ReportTable | Chart;

export interface Paragraph {
  kind: "text";
  text: string;
}

/** The most important figures of a currency. */
export interface KeyFigures {
  kind: "figures";
  title: string;
  /** True if one line is enough: the page and the text leave out the comparisons. */
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
  /** The view or table with all rows. */
  source: string;
  /** Narrow screens leave out spare columns. */
  columns: { key: string; title: string; kind: ColumnKind; is_spare: boolean }[];
  rows: Record<string, FormattedValue>[];
}

/** How a column is laid out: text that wraps, text that does not, or right-aligned numbers. */
export type ColumnKind = "name" | "short" | "number";

/** A stacked bar chart. */
export interface Chart {
  kind: "chart";
  title: string;
  labels: string[];
  /** From bottom to top; null leaves a gap. */
  series: { title: string; values: (number | null)[] }[];
}

/** A column of a table: its key in JSON, its title, its layout, and its value in a row. */
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

/** Returns key figures as one sentence, such as `SEK: net 57.89, gross 77.89, refunds 20.00, orders 1, cancelled 0.` */
export function keyFiguresLine({ title, figures }: KeyFigures): string {
  const parts = figures.map(({ title: name, value }) => `${name.toLowerCase()} ${value.text}`);
  return `${title}: ${parts.join(", ")}.`;
}
