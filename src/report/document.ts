import type { Period } from "./period.js";

/** A report before it is written: the page, the text and the JSON are three ways to write it. */
export interface Document {
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

export type Block = Sentences | Figures | Table | Chart;

export interface Sentences {
  kind: "text";
  text: string;
}

/** A few large figures beside each other. */
export interface Figures {
  kind: "figures";
  title: string;
  figures: Figure[];
}

export interface Figure {
  title: string;
  value: Cell;
  comparisons: { name: string; change: Cell; before: Cell }[];
}

export interface Table {
  kind: "table";
  title: string;
  /** The view or table that has all of it. */
  source: string;
  columns: { key: string; title: string; kind: "name" | "short" | "number"; is_spare: boolean }[];
  rows: Record<string, Cell>[];
}

export interface Chart {
  kind: "chart";
  title: string;
  labels: string[];
  /** Bars that stand on each other, the first below; null leaves a gap. */
  series: { title: string; values: (number | null)[] }[];
}

/** A value, and how a person reads it; in JSON the value alone. */
export class Cell {
  constructor(
    readonly value: string | number | null,
    readonly text = String(value ?? ""),
  ) {}

  toJSON(): string | number | null {
    return this.value;
  }
}

/** A column: its key in JSON, its title, and its cell of a row. A narrow screen leaves out spare columns. */
export type ColumnOf<Row> = [
  key: string,
  title: string,
  kind: Table["columns"][number]["kind"],
  cell: (row: Row) => Cell,
  spare?: "spare",
];

export function tableOf<Row>(
  title: string,
  source: string,
  rows: readonly Row[],
  columns: ColumnOf<Row>[],
): Table {
  return {
    kind: "table",
    title,
    source,
    columns: columns.map(([key, name, kind, , spare]) => ({ key, title: name, kind, is_spare: !!spare })),
    rows: rows.map((row) => Object.fromEntries(columns.map(([key, , , cell]) => [key, cell(row)]))),
  };
}

export function sentence(text: string): Sentences {
  return { kind: "text", text };
}
