import { amounts, counts, figures } from "./columns.js";

/**
 * Ends a common table expression that is read several times or in a subquery: SQLite then computes it once. `AS MATERIALIZED`
 * would make the mirror unreadable for SQLite before 3.35.
 */
export const once = "LIMIT -1";

/** Returns a host's handle, by an expression for its ID: that of the record that was read last. */
export function hostUsername(id: string): string {
  return `(SELECT n.username FROM host_names AS n WHERE n.host_id = ${id} ORDER BY n.read_at DESC LIMIT 1)`;
}

/** Returns a host's handle, else its name, else the beginning of its ID; null without an ID. */
export function hostLabel(id: string): string {
  return `CAST(coalesce((SELECT coalesce(nullif(n.username, ''), n.name) FROM host_names AS n WHERE n.host_id = ${id}
      ORDER BY n.read_at DESC LIMIT 1), substr(${id}, 1, 8)) AS TEXT)`;
}

/** Returns the columns that name a host. @param id an expression for its ID, with the name of its table */
export function hostColumns(id: string): string {
  return `${id} AS host_id, ${hostUsername(id)} AS host_username, ${hostLabel(id)} AS host_label`;
}

/**
 * The figures of one order, from the columns of the table `orders`. Views are stored in the mirror for any program, so they use
 * nothing that is newer than SQLite 3.26. The net of an order without a refund is the API's
 * own number; others are rounded to six digits, because binary fractions leave a rest.
 */
export const ofOrder = [
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
export const figureNames = figures.replaceAll(" ", ", ");

/** The figures of a group: of orders, or of groups of them. */
export const summed = [
  ...counts.split(" ").map((name) => `sum(${name}) AS ${name}`),
  ...amounts.split(" ").map((name) => `${money(name)} AS ${name}`),
].join(", ");

/**
 * Returns the number that a text from JSON is, null if it is none: in SQL what `numberFromText` does for the tables. CASE,
 * because SQLite may evaluate both sides of AND, and `json_type` fails on other texts.
 */
export function numberIn(text: string): string {
  const number = `CASE WHEN json_type(${text}) IN ('integer', 'real') THEN CAST(${text} AS REAL) END`;
  const isExact = `${text} NOT GLOB '*[^-+.0-9eE]*' AND json_valid(${text})`;
  return `CASE WHEN CASE WHEN ${isExact} THEN abs(${number}) <= 1.7976931348623157e308 END THEN ${number} END`;
}

/** Returns a sum of amounts: 0 if there is none, rounded to six digits. */
export function money(amount: string): string {
  return `round(total(${amount}), 6)`;
}
