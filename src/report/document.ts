import type { Period } from "./period.js";

/** A report before it is written: the page, the text and the JSON are three ways to write it. */
export interface Document {
  brand: string;
  period: Period;
  /** The first sentence to know: how net moved. Empty if nothing can be compared. */
  summary: string;
  /** What is proven of the orders, in one sentence. */
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

export type Block = Sentences | Figures | Table | Chart | List;

export interface Sentences {
  kind: "text";
  title?: string;
  text: string;
  /** True for what only some readers need. */
  is_note?: boolean;
}

/** Some large figures beside each other. */
export interface Figures {
  kind: "figures";
  title: string;
  figures: Figure[];
}

export interface Figure {
  title: string;
  value: Cell;
  /** Such as its share of the figure before, or empty. */
  note?: string;
  comparisons: { /** The days compared with. */ title: string; change: Cell; before: Cell }[];
}

export interface Table {
  kind: "table";
  title: string;
  columns: Column[];
  rows: Cell[][];
  /** The view or table that has all of it. */
  source: string;
  /** How many rows only the source has. */
  more?: number;
  /** True if a chart shows the same: the page opens the table when asked. */
  is_folded?: boolean;
}

export interface Column {
  key: string;
  title: string;
  kind: "name" | "short" | "number";
  /** True if a narrow screen leaves it out. */
  is_spare?: boolean;
}

/** Rows of a chart have the same points in time; `null` where there is nothing to draw. */
export interface Chart {
  kind: "chart";
  title: string;
  shape: "lines" | "bars";
  labels: string[];
  /** The first is what the chart is about. Bars stand on each other. */
  series: { title: string; values: (number | null)[] }[];
  /** Writes an amount for an axis: `25K`. */
  axis(value: number): string;
}

export interface List {
  kind: "list";
  title: string;
  items: Cell[];
  more?: number;
}

/** A value, and how the reader's locale writes it. */
export interface Cell {
  value: string | number | null;
  text: string;
}

/** Returns a cell of words that a host, a server or this program wrote. */
export function words(value: string | null, none = ""): Cell {
  return { value, text: value === null || value === "" ? none : value };
}
