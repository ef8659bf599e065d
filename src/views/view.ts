import { amount, date, integer, text } from "../resources/fields.js";
import { orders } from "../resources/orders.js";
import { type Column, listTableShapes } from "../resources/table-shape.js";

/**
 * A view, which is stored in the mirror file so that any SQLite client can use it. Many parts of its SQL are shared
 * with other views. `views.sql`, which `npm run docs` generates, contains the complete statements.
 */
export interface View {
  name: string;
  /** A description of the view: what a row represents, and notes for users. */
  about: string;
  columns: readonly Column[];
  /** An example query. By default, it selects the first five rows. */
  example?: string;
  /** The tables that the SELECT statement reads, directly or through other views. */
  reads: readonly string[];
  /**
   * The SELECT statement. It must work with SQLite 3.26, because other programs that read the mirror may use an old
   * version.
   */
  sql: string;
  /** The column by which `--since` and `--until` filter. */
  date?: string;
  /** The integer column that gives the rows a stable order. Set only if each row corresponds to a row of a table. */
  rowId?: "record_id";
  /**
   * True for a helper view, which mainly serves as a building block for other views. Only `tables --all` lists helper
   * views.
   */
  isHelper?: true;
}

const sqlTypes: Partial<Record<Column["type"], string>> = {
  integer: "INTEGER",
  boolean: "INTEGER",
  number: "REAL",
};

/**
 * Returns the query that defines a view. Columns are cast, because other programs rely on declared types. A view with a
 * `rowId` is not cast, because casts would prevent SQLite from using indexes.
 */
export function viewQuery({ columns, rowId, sql }: View): string {
  if (rowId !== undefined) return sql;
  const typed = columns.map(({ name, type }) => `CAST(${name} AS ${sqlTypes[type] ?? "TEXT"}) AS ${name}`);
  return `SELECT ${typed.join(", ")} FROM (\n${sql})`;
}

export function orderColumns(...names: string[]): Column[] {
  const columns = listTableShapes(orders)[0]?.columns ?? [];
  return names.map((name) => {
    const column = columns.find((one) => one.name === name);
    if (!column) throw new Error(`the orders table has no column ${name}`);
    return column;
  });
}

/** True for a column with UTC times in the format of `formatUtc`, which can be compared with SQLite's `datetime()`. */
export function isUtcTime(column: string): boolean {
  return column === "ordered_at" || column.endsWith("_utc");
}

/**
 * A suffix for common table expressions that are used more than once. SQLite computes a table expression only once if
 * it ends in LIMIT. `AS MATERIALIZED` would have the same effect, but requires SQLite 3.35.
 */
export const materializedSql = "LIMIT -1";

export const orderCountColumns: readonly Column[] = [
  integer("orders", "orders that are neither removed nor cancelled"),
  integer("cancelled_orders", "cancelled orders, which are excluded from all other totals"),
  integer(
    "orders_without_total",
    "orders that the `orders` column counts but that have no total, and therefore add nothing to the gross amount",
  ),
];

/** An order's amounts. Null amounts count as 0. */
export const orderAmountColumns: readonly Column[] = [
  amount("gross_amount", "sum of `total_amount` over the orders that the `orders` column counts"),
  amount("refunded_amount", "sum of `refund_amount` over the orders that the `orders` column counts"),
  amount("net_amount", "gross amount minus refunds"),
  amount("commission_amount", "the commission that hosts have earned (the API does not report payments)"),
];

export const orderFigureColumns: readonly Column[] = [...orderCountColumns, ...orderAmountColumns];

export const currencyColumn = text(
  "currency",
  "the currency of the amounts, or null if the API reports none; amounts in different currencies are never added together",
);
export const monthColumn = text("month", "in UTC, `2026-10`");
export const dayColumn = date("day", "the day in UTC, comparable with `date('now', '-7 days')`");

export const orderFigureNamesSql = orderFigureColumns.map(({ name }) => name).join(", ");

export const orderFigureSumsSql = [
  ...orderCountColumns.map(({ name }) => `sum(${name}) AS ${name}`),
  ...orderAmountColumns.map(({ name }) => `${amountSumSql(name)} AS ${name}`),
].join(", ");

/**
 * SQL that computes an order's figures from the `orders` table. Without a refund, the net is exactly the API's amount.
 * With a refund, it is rounded to six decimal places, which hides floating-point errors.
 */
export const orderFiguresSql = [
  ["orders", "INTEGER", "is_cancelled IS NOT 1"],
  ["cancelled_orders", "INTEGER", "is_cancelled IS 1"],
  ["orders_without_total", "INTEGER", "is_cancelled IS NOT 1 AND total_amount IS NULL"],
  ["gross_amount", "REAL", "CASE WHEN is_cancelled IS NOT 1 THEN coalesce(total_amount, 0) END"],
  ["refunded_amount", "REAL", "CASE WHEN is_cancelled IS NOT 1 THEN coalesce(refund_amount, 0) END"],
  [
    "net_amount",
    "REAL",
    `CASE WHEN is_cancelled IS 1 THEN NULL WHEN coalesce(refund_amount, 0) = 0 THEN coalesce(total_amount, 0)
      ELSE round(coalesce(total_amount, 0) - refund_amount, 6) END`,
  ],
  ["commission_amount", "REAL", "CASE WHEN is_cancelled IS NOT 1 THEN coalesce(commission_amount, 0) END"],
]
  .map(([name, type, value]) => `CAST(${value} AS ${type}) AS ${name}`)
  .join(", ");

/** Returns SQL for a sum of amounts, rounded to six decimal places. If there are no rows, the sum is 0. */
export function amountSumSql(amounts: string): string {
  return `round(total(${amounts}), 6)`;
}

export const hostUsernameColumn: Column = text("host_username", "the host's handle");

export const hostLabelColumn: Column = text(
  "host_label",
  "the handle, the full name, or the first eight characters of the ID",
);

export const hostColumns: readonly Column[] = [
  text("host_id", "the host's user ID"),
  hostUsernameColumn,
  hostLabelColumn,
];

/**
 * Returns SQL for the columns in `hostColumns`.
 * @param id an SQL expression for the host's ID
 */
export function hostColumnsSql(id: string): string {
  return `${id} AS host_id, ${hostUsernameSql(id)} AS host_username, ${hostLabelSql(id)} AS host_label`;
}

/**
 * Returns SQL for a host's most recently read handle.
 * @param id an SQL expression for the host's ID
 */
export function hostUsernameSql(id: string): string {
  return `(SELECT names.username FROM host_names AS names WHERE names.host_id = ${id} ORDER BY names.read_at DESC LIMIT 1)`;
}

/**
 * Returns SQL for a host's label: the handle, falling back to the full name and then to the start of the ID. If the ID
 * is null, the label is null.
 * @param id an SQL expression for the host's ID
 */
export function hostLabelSql(id: string): string {
  return `CAST(coalesce((SELECT coalesce(nullif(names.username, ''), names.name) FROM host_names AS names
      WHERE names.host_id = ${id} ORDER BY names.read_at DESC LIMIT 1), substr(${id}, 1, 8)) AS TEXT)`;
}
