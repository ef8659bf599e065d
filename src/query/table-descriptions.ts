import type { Column } from "../resources/table-shape.js";
import type { Mirror } from "../store/database.js";
import { hasBeenRead } from "../store/runs.js";
import { quote } from "../store/table-sql.js";
import { views } from "../views/all-views.js";
import { mainTableNames, type ReadableTable, resolveTable, tableNames } from "./readable-tables.js";

/** A table or view in the format of `tables --json`. */
export interface TableDescription {
  name: string;
  kind: "table" | "view";
  about: string;
  /** The number of rows. Null if the rows were not counted, or if the resource has never been read. */
  rows: number | null;
  columns: ColumnDescription[];
  example: string;
}

interface ColumnDescription extends Pick<Column, "name" | "type" | "about"> {
  rows_with_value?: number | undefined;
}

const exampleQueries: Readonly<Record<string, string>> = {
  orders: `SELECT month, currency, count(*) AS orders, round(sum(total_amount), 2) AS gross
FROM orders WHERE is_cancelled IS NOT 1 GROUP BY month, currency ORDER BY month DESC`,
  order_line_items: `SELECT i.sku, i.title, o.currency, sum(i.quantity) AS sold, sum(i.quantity * i.price) AS worth
FROM order_line_items i JOIN orders o ON o.id = i.order_id
WHERE o.is_cancelled IS NOT 1
GROUP BY i.sku, i.title, o.currency ORDER BY sold DESC LIMIT 10`,
};

/**
 * Returns all tables and views. Rows in views are not counted, because counting can be slow.
 * @param all true to include helper views and tables for removed records
 */
export function listTableDescriptions(mirror: Mirror, { all }: { all: boolean }): TableDescription[] {
  const names = all ? tableNames : mainTableNames;
  const isView = (name: string) => views.some((view) => view.name === name);
  return names.map((name) => loadTableDescription(mirror, name, isView(name) ? "nothing" : "rows"));
}

/**
 * Describes a table or view and its columns.
 * @param counted `values` to count the rows and the values in each column, or `rows` to count only the rows
 */
export function loadTableDescription(
  mirror: Mirror,
  name: string,
  counted: "values" | "rows" | "nothing" = "values",
): TableDescription {
  const table = resolveTable(mirror, name);
  const view = views.find((one) => one.name === name);
  const isRead = table.shape === null || hasBeenRead(mirror, table.shape.resource);
  const counts =
    isRead && counted !== "nothing" ? countValues(mirror, table, counted === "values") : undefined;
  return {
    name,
    kind: view ? "view" : "table",
    about: table.about,
    rows: counts?.rows ?? null,
    columns: table.columns.map((column, index) => ({
      name: column.name,
      type: column.type,
      about: columnAbout(column),
      rows_with_value: counts?.values[index],
    })),
    example: view?.example ?? exampleQueries[name] ?? `SELECT * FROM ${name} LIMIT 5`,
  };
}

function columnAbout({ type, about }: Column): string {
  return [about, ...(type === "boolean" ? ["0 or 1"] : [])].filter((text) => text !== "").join("; ");
}

function countValues(mirror: Mirror, table: ReadableTable, withValues: boolean) {
  const columns = withValues ? table.columns.map(({ name }) => `t.${quote(name)}`) : [];
  const counts = ["*", ...columns].map((value) => `count(${value})`).join(", ");
  const row = mirror.db.prepare(`SELECT ${counts} FROM ${table.tableSql} AS t`).raw().get();
  const [rows = 0, ...values] = row as number[];
  return { rows, values };
}
