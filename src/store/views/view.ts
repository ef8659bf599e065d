import {
  amount,
  boolean,
  date,
  integer,
  json,
  number,
  type ScalarField,
  type ScalarType,
  text,
  timestamp,
} from "../../resources/fields.js";
import { orders } from "../../resources/orders.js";
import { tablesOf } from "../../resources/table-shape.js";

/** A view for analysts: it lies in the mirror, so that any SQL program has it. */
export interface View {
  name: string;
  /** One row's meaning, and what must be known to read it. */
  about: string;
  columns: readonly ViewColumn[];
  /** A query to begin with, if the first rows in the view's own order are none. */
  example?: string;
  sql: string;
  /** The column that `--since` and `--until` go by. */
  date?: string;
  /** The integer that orders its rows and never changes, if each row is a row of a table. */
  rowId?: string;
  /** True if other views stand on it and people rarely need it: `tables --all` lists it. */
  isHelper?: true;
}

/** The types that are not text in SQLite. */
const sqlTypes: Partial<Record<ScalarType, string>> = {
  integer: "INTEGER",
  boolean: "INTEGER",
  number: "REAL",
};

/** Returns what a view selects. Other programs go by a column's type, so each is cast, unless that would cost an index. */
export function viewQuery({ columns, rowId, sql }: View): string {
  if (rowId !== undefined) return sql;
  const typed = columns.map(({ name, type }) => `CAST(${name} AS ${sqlTypes[type] ?? "TEXT"}) AS ${name}`);
  return `SELECT ${typed.join(", ")} FROM (\n${sql})`;
}

export type ViewColumn = Pick<ScalarField, "name" | "type" | "about" | "isAmount">;

/** The figures of orders, in the order in which views have them: counts, then amounts. */
export const counts = "orders cancelled_orders orders_without_total";
export const amounts = "gross_amount refunded_amount net_amount commission_amount";
export const figures = `${counts} ${amounts}`;

/** The columns that name a host. */
export const host = "host_id host_username host_label";

const own: readonly ViewColumn[] = [
  integer("orders", "orders that count: neither removed nor cancelled"),
  integer("cancelled_orders", "in no other figure"),
  integer("orders_without_total", "orders that count and have no total: they add nothing to the gross"),
  amount("gross_amount", "`total_amount` of the orders that count"),
  amount("refunded_amount", "their `refund_amount`"),
  amount("net_amount", "gross less refunded"),
  amount("commission_amount", "as the API states it: what was earned, not what was paid"),
  text("currency", "amounts of different currencies are never added; null: the API names none"),
  text("host_username", "the handle"),
  text("username", "the handle"),
  text("host_label", "the handle, else first and last name, else the first eight characters of the ID"),
  timestamp("ordered_at", "`order_date` in UTC: compares with `datetime('now', '-7 days')`"),
  date("day", "in UTC: compares with `date('now', '-7 days')`"),
  text("month", "in UTC, `2026-10`"),
  timestamp("synced_at", "when this form of it was first read"),
  boolean("is_partial", "true if the mirror has not read all of it yet"),
  amount("net_through", "net through the last whole day that was read, to compare with `net_before`"),
  amount("net_before", "net of the month before; of a month that is not over, through the same day"),
  timestamp("reported_at", "when the first complete read of the month after its end was done"),
  amount("net_reported", "net at that time"),
  amount("net_now"),
  amount("difference", "now less reported"),
  timestamp("seen_at", "when it was first seen"),
  timestamp("last_seen_at", "when it was last seen as before: the change came between the two"),
  number("old", "the previous commission rate, percentage"),
  number("new", "the rate since then"),
  integer("refunded_orders", "orders that count and were refunded, wholly or in part"),
  number("refund_rate", "refunded amount by gross amount, 0 to 1"),
  integer("days_at_least", "whole days from the order to when it was last seen without the refund"),
  integer("days_at_most", "days from the order to when the refund was seen, rounded up"),
  ...["last_seen_unchanged_at", "seen_changed_at", "last_added_at"].map((name) => timestamp(name)),
  amount("taken_back", "by refunds, cancellations, withdrawals and corrections"),
  boolean("on_roster"),
  ...["net_by_currency", "commission_by_currency"].map((name) => json(name)),
  integer("clicks", "the ranking's"),
  integer("buy_now_clicks", "the ranking's"),
  number("conversion_rate", "the ranking's: tracked orders divided by buy-now clicks, 0 to 1"),
  integer("ranking_orders", "the ranking's `orders`, which can differ from ours"),
  amount("ranking_revenue", "the ranking's, in the store currency"),
  amount("ranking_sales", "the ranking's, in the store currency"),
  integer("recommended_products"),
  ...["files", "deliverables", "uploads", "images", "videos", "campaigns", "bytes"].map((name) =>
    integer(name),
  ),
  date("deadline"),
  boolean("is_overdue", "true if an open deliverable was due before campaigns were last read"),
  integer("deliverables_open", "asked for and not done, in a campaign that runs or has ended"),
  integer("assignments_open", "hosts who have accepted and not completed"),
  integer("payments_open", "assignments for which the brand has still to pay"),
  integer("payouts_open", "assignments whose host has earned and not been paid"),
  amount("flat_fee", "the campaign's fixed fee per host, without commission and bonuses"),
];

/** True for columns with times as `utcText` writes them, which compare with a result of `datetime()`. */
export function isUtcTime(column: string): boolean {
  return column === "ordered_at" || column.endsWith("_utc");
}

const known = new Map(
  [...tablesOf(orders).flatMap(({ columns }) => columns), ...own].map((one) => [one.name, one]),
);

/** Names of the amounts of orders and views, for the columns of a person's SQL. */
export const amountNames: ReadonlySet<string> = new Set(
  [...known.values()].filter(({ isAmount }) => isAmount).map(({ name }) => name),
);

/** Returns the columns of these names, with blanks between: as here, else as `orders` has them, else text. */
export function columnsOf(names: string, abouts: Readonly<Record<string, string>> = {}): ViewColumn[] {
  return names.split(" ").map((name) => {
    const { type, about, isAmount } = known.get(name) ?? text(name);
    return { name, type, about: abouts[name] ?? about, isAmount };
  });
}

/**
 * Ends a common table expression that is read several times or in a subquery: SQLite then computes it once. `AS MATERIALIZED`
 * would make the mirror unreadable for SQLite before 3.35.
 */
export const materialized = "LIMIT -1";

/** Returns a host's handle, by an expression for its ID: that of the record that was read last. */
export function selectHostUsername(id: string): string {
  return `(SELECT n.username FROM host_names AS n WHERE n.host_id = ${id} ORDER BY n.read_at DESC LIMIT 1)`;
}

/** Returns a host's handle, else its name, else the beginning of its ID; null without an ID. */
export function selectHostLabel(id: string): string {
  return `CAST(coalesce((SELECT coalesce(nullif(n.username, ''), n.name) FROM host_names AS n WHERE n.host_id = ${id}
      ORDER BY n.read_at DESC LIMIT 1), substr(${id}, 1, 8)) AS TEXT)`;
}

/** Returns the columns that name a host. @param id an expression for its ID, with the name of its table */
export function selectHost(id: string): string {
  return `${id} AS host_id, ${selectHostUsername(id)} AS host_username, ${selectHostLabel(id)} AS host_label`;
}

/**
 * The figures of one order, from the columns of the table `orders`. Views are stored in the mirror for any program, so they use
 * nothing that is newer than SQLite 3.26. The net of an order without a refund is the API's
 * own number; others are rounded to six digits, because binary fractions leave a rest.
 */
export const selectOrderFigures = [
  ["orders", "INTEGER", "is_cancelled IS NOT 1"],
  ["cancelled_orders", "INTEGER", "is_cancelled IS 1"],
  ["orders_without_total", "INTEGER", "is_cancelled IS NOT 1 AND total_amount IS NULL"],
  ["gross_amount", "REAL", "CASE WHEN is_cancelled IS NOT 1 THEN total_amount END"],
  ["refunded_amount", "REAL", "CASE WHEN is_cancelled IS NOT 1 THEN coalesce(refund_amount, 0) END"],
  [
    "net_amount",
    "REAL",
    `CASE WHEN is_cancelled IS 1 THEN NULL WHEN coalesce(refund_amount, 0) = 0 THEN total_amount
      ELSE round(coalesce(total_amount, 0) - refund_amount, 6) END`,
  ],
  ["commission_amount", "REAL", "CASE WHEN is_cancelled IS NOT 1 THEN commission_amount END"],
]
  .map(([name, type, value]) => `CAST(${value} AS ${type}) AS ${name}`)
  .join(", ");

/** The names of the figures, with commas between. */
export const orderFigureNames = figures.replaceAll(" ", ", ");

/** The figures of a group: of orders, or of groups of them. */
export const orderFigureSums = [
  ...counts.split(" ").map((name) => `sum(${name}) AS ${name}`),
  ...amounts.split(" ").map((name) => `${sumAmounts(name)} AS ${name}`),
].join(", ");

/**
 * Returns the number that a text from JSON is, null if it is none: in SQL what `numberFromText` does for the tables. CASE,
 * because SQLite may evaluate both sides of AND, and `json_type` fails on other texts.
 */
export function numberFromSqlText(text: string): string {
  const number = `CASE WHEN json_type(${text}) IN ('integer', 'real') THEN CAST(${text} AS REAL) END`;
  const isExact = `${text} NOT GLOB '*[^-+.0-9eE]*' AND json_valid(${text})`;
  return `CASE WHEN CASE WHEN ${isExact} THEN abs(${number}) <= 1.7976931348623157e308 END THEN ${number} END`;
}

/** Returns a sum of amounts: 0 if there is none, rounded to six digits. */
export function sumAmounts(amount: string): string {
  return `round(total(${amount}), 6)`;
}
