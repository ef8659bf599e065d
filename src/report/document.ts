import type { Period } from "./period.js";

/** A report before it is written: the page, the text and the JSON are three ways to write it. */
export interface ReportDocument {
  brand: string;
  period: Period;
  /** How net moved, in one sentence; empty if nothing can be compared. */
  summary: string;
  /** The proof of the orders, in one sentence. */
  proof: string;
  sections: Section[];
  /** ISO 8601, as is `reached`. */
  made_at: string;
  /** The end of what was read of the orders. */
  reached: string;
}

export interface Section {
  id: string;
  title: string;
  /** A sentence under the heading, or empty. Commands and tables stand between backticks. */
  lead: string;
  blocks: Block[];
}

export type Block = Paragraph | KeyFigures | ReportTable | Chart;

export interface Paragraph {
  kind: "text";
  text: string;
}

/** A few large figures beside each other. */
export interface KeyFigures {
  kind: "figures";
  title: string;
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
  /** The view or table that has all of it. */
  source: string;
  columns: { key: string; title: string; kind: "name" | "short" | "number"; is_spare: boolean }[];
  rows: Record<string, FormattedValue>[];
}

export interface Chart {
  kind: "chart";
  title: string;
  labels: string[];
  /** Bars that stand on each other, the first below; null leaves a gap. */
  series: { title: string; values: (number | null)[] }[];
}

/** A value, and how a person reads it; in JSON the value alone. */
export class FormattedValue {
  constructor(
    readonly value: string | number | null,
    readonly text = String(value ?? ""),
  ) {}

  toJSON(): string | number | null {
    return this.value;
  }
}

/** A column: its key in JSON, its title, and its cell of a row. A narrow screen leaves out spare columns. */
export type ColumnSpec<Row> = [
  key: string,
  title: string,
  kind: ReportTable["columns"][number]["kind"],
  cell: (row: Row) => FormattedValue,
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
    rows: rows.map((row) => Object.fromEntries(columns.map(([key, , , cell]) => [key, cell(row)]))),
  };
}

export function paragraph(text: string): Paragraph {
  return { kind: "text", text };
}
