import { type Html, html, type Piece } from "./html.js";

/** A column of a table on the page. */
export interface PageColumn<Row> {
  title: string;
  cell(row: Row): Piece;
  /** Numbers stand to the right; what is short, such as a date, stays on one line. */
  kind?: "number" | "short";
  /** Left out on a phone, where it would not fit. */
  spare?: boolean;
}

/** A table with its caption and, under it, the view that it can be checked by. The first column names the row. */
export function pageTable<Row>(
  caption: string,
  columns: readonly PageColumn<Row>[],
  rows: readonly Row[],
  { source, more = "", hideCaption = false }: { source?: string; more?: string; hideCaption?: boolean } = {},
): Html {
  return html`<table>
<caption${hideCaption ? html` class="unseen"` : ""}>${caption}</caption>
<thead><tr>${columns.map((column) => html`<th scope="col"${classOf(column)}>${column.title}</th>`)}</tr></thead>
<tbody>
${rows.map((row) => html`<tr>${columns.map((column, index) => cellOf(column, row, index === 0))}</tr>\n`)}</tbody>
</table>
${source === undefined ? "" : sourceLine(source, more)}`;
}

/** Where the figures come from, for who wants to check them, and how many are only there. */
export function sourceLine(source: string, more = ""): Html {
  return html`<p class="source">from <code>${source}</code>${more === "" ? "" : `, which has ${more} more`}</p>\n`;
}

function cellOf<Row>(column: PageColumn<Row>, row: Row, isName: boolean): Html {
  const cell = column.cell(row);
  return isName
    ? html`<th scope="row"${classOf(column)}>${cell}</th>`
    : html`<td${classOf(column)}>${cell}</td>`;
}

function classOf({ kind, spare }: Pick<PageColumn<unknown>, "kind" | "spare">): Html {
  const names = [...(kind ? [kind === "number" ? "n" : kind] : []), ...(spare ? ["spare"] : [])];
  return names.length === 0 ? html`` : html` class="${names.join(" ")}"`;
}
