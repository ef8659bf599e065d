import { type Mirror, quote, wasRead } from "../mirror/index.js";
import type { TableShape } from "../resources/shape.js";
import type { Resource } from "../resources/types.js";
import { typedTablesBelow } from "./as-of.js";
import { knownTableNames, removedTableNames, syncedBy } from "./names.js";
import { selectSql } from "./select-sql.js";
import { describeTable, type ReadableColumn, type ReadableTable } from "./tables.js";
import { views } from "./views/index.js";

/** A table or view, as `tables` shows it. */
export interface TableFacts {
  name: string;
  kind: "table" | "view";
  /** One row's meaning. */
  about: string;
  /** Rows that an export would give; null if its resource was never read, or for a view in the list. */
  rows: number | null;
  columns: ColumnFacts[];
  /** A query to begin with. */
  example: string;
}

export interface ColumnFacts extends Pick<ReadableColumn, "name" | "type" | "about"> {
  /** Rows in which the column is not null; left out if the rows were not counted. */
  rows_with_value?: number | undefined;
}

/** Queries to begin with, of tables that hold more than what counts; by default the first five rows. */
const examples: Readonly<Record<string, string>> = {
  orders: `SELECT month, currency, count(*) AS orders, round(sum(total_amount), 2) AS gross
FROM orders WHERE is_cancelled IS NOT 1 GROUP BY month, currency ORDER BY month DESC`,
  order_line_items: `SELECT i.sku, i.title, o.currency, sum(i.quantity) AS sold, sum(i.quantity * i.price) AS worth
FROM order_line_items i JOIN orders o ON o.id = i.order_id
WHERE o.is_cancelled IS NOT 1
GROUP BY i.sku, i.title, o.currency ORDER BY sold DESC LIMIT 10`,
};

/** Returns the tables and views; with `all` also helper views and the tables of removed records. The rows of a view are not counted, because some take long. */
export function listFacts(mirror: Mirror, { all }: { all: boolean }): TableFacts[] {
  const isHelper = (name: string) =>
    removedTableNames().includes(name) || views.some((view) => view.name === name && view.isHelper);
  const names = knownTableNames().filter((name) => all || !isHelper(name));
  const isView = (name: string) => views.some((view) => view.name === name);
  return names.map((name) => readFacts(mirror, name, isView(name) ? "nothing" : "rows"));
}

/** Returns one table or view; by default its rows, and the values in each column, are counted. */
export function readFacts(
  mirror: Mirror,
  name: string,
  counted: "values" | "rows" | "nothing" = "values",
): TableFacts {
  const table = describeTable(mirror, name);
  const view = views.find((one) => one.name === name);
  const isRead = table.shape === null || wasSynced(mirror, table.shape.resource);
  const columns = table.columns.map((column) => ({ ...column, about: columnAbout(column) }));
  const counts =
    isRead && counted !== "nothing" ? countValues(mirror, table, counted === "values") : undefined;
  return {
    name,
    kind: view ? "view" : "table",
    about: table.about,
    rows: counts?.rows ?? null,
    columns: columns.map(({ name: column, type, about }, index) => ({
      name: column,
      type,
      about,
      rows_with_value: counts?.values[index],
    })),
    example: view?.example ?? examples[name] ?? `SELECT * FROM ${name} LIMIT 5`,
  };
}

function columnAbout({ type, about }: ReadableColumn): string {
  return [about, ...(type === "boolean" ? ["0 or 1"] : [])].filter((text) => text !== "").join("; ");
}

/** Counts the rows of a table or view, and the rows in which each column has a value. */
function countValues(mirror: Mirror, table: ReadableTable, withValues: boolean) {
  const columns = withValues ? table.columns.map(({ name }) => `t.${quote(name)}`) : [];
  const counts = ["*", ...columns].map((value) => `count(${value})`).join(", ");
  const row = mirror.db
    .prepare(`SELECT ${counts} ${selectSql({ table }).from}`)
    .raw()
    .get();
  const [rows = 0, ...values] = row as number[];
  return { rows, values };
}

/** True if a resource was ever read, if only in part, by itself or with the one that it is the details of. */
export function wasSynced(mirror: Mirror, resource: Resource): boolean {
  return wasRead(mirror, resource.name, syncedBy(resource).name);
}

/** Returns those of these tables that were never read, and the resource to sync; a view if all its tables are. */
export function neverRead(mirror: Mirror, names: readonly string[]): { name: string; resource: string }[] {
  const isUnread = (shape: TableShape) => !wasSynced(mirror, shape.resource);
  return names.flatMap((name) => {
    const shapes = typedTablesBelow(mirror, name);
    const [first] = shapes;
    return first && shapes.every(isUnread) ? [{ name, resource: syncedBy(first.resource).name }] : [];
  });
}
