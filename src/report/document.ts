import type { FormattedValue } from "./formatting.js";
import type { Period } from "./period.js";

/** The content of a report, which is rendered as an HTML page, text or JSON. */
export interface ReportDocument {
  brand: string;
  period: Period;
  /** A sentence about the change in net sales, or an empty string if there is nothing to compare. */
  summary: string;
  is_proven: boolean;
  proof: string;
  sections: Section[];
  /** The time at which the report was created (ISO 8601). */
  made_at: string;
  /** The time up to which orders have been read (ISO 8601). */
  reached: string;
}

export interface Section {
  id: string;
  title: string;
  /** The sentence below the section's heading, or an empty string. Command names are in backticks. */
  lead: string;
  blocks: Block[];
}

export type Block = Paragraph | KeyFigures | ReportTable | Chart;

interface Paragraph {
  kind: "text";
  text: string;
}

export interface KeyFigures {
  kind: "figures";
  title: string;
  /** True for a currency with few orders. Its figures are rendered on a single line. */
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
  /** The view or table that the rows come from. The report may contain only some of its rows. */
  source: string;
  /** The columns of the table. Columns with `is_spare` are hidden on narrow screens. */
  columns: { key: string; title: string; kind: ColumnKind; is_spare: boolean }[];
  rows: Record<string, FormattedValue>[];
}

/** The layout of a table column: text that wraps, text that does not wrap, or right-aligned numbers. */
type ColumnKind = "name" | "short" | "number";

export interface Chart {
  kind: "chart";
  title: string;
  labels: string[];
  /** The segments of each bar, from bottom to top. A null value leaves a gap. */
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

/**
 * Formats key figures as a single sentence, such as `SEK: net 57.89, gross 77.89, refunds 20.00, orders 1, cancelled
 * 0.`
 */
export function keyFiguresLine({ title, figures }: KeyFigures): string {
  const parts = figures.map(({ title: name, value }) => `${name.toLowerCase()} ${value.text}`);
  return `${title}: ${parts.join(", ")}.`;
}
