import { integer, number } from "../../resources/types.js";
import type { ViewColumn } from "./view.js";

/**
 * One definition of each figure (contract, section 9): every view of orders is made of these. Views lie in the mirror
 * for any program, so they use nothing that is younger than SQLite 3.38.
 */
export const figureColumns: readonly ViewColumn[] = [
  integer("orders", "orders that count: neither removed nor cancelled"),
  integer("cancelled_orders", "beside them: in no other figure"),
  integer("orders_without_total", "orders that count and have no total: they add nothing to the gross"),
  number("gross_amount", "`total_amount` of the orders that count"),
  number("refunded_amount", "their `refund_amount`"),
  number("net_amount", "gross less refunded"),
  number("commission_amount", "as the API states it: what was earned, not what was paid"),
];

/**
 * What one order, with the columns of the table `orders`, adds to each figure. A net that nothing was refunded of is
 * the API's own number; others are rounded to six digits, since what binary fractions add is no money.
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

/** The figures of a group: of orders, or of groups of them. */
export const summed = figureColumns
  .map(({ name, type }) => `${type === "integer" ? `sum(${name})` : money(name)} AS ${name}`)
  .join(", ");

/** A sum of amounts: 0 where there is none, rounded to six digits. */
export function money(amount: string): string {
  return `round(total(${amount}), 6)`;
}

/**
 * A timestamp of the API as SQLite writes times: in UTC, with a blank between day and time. So it compares with
 * `datetime('now', …)`, and its first letters are the day and the month. The digits of its seconds stay.
 */
export function utc(at: string): string {
  const shifted = (offset: string, letters: number) =>
    `substr(datetime(substr(${at}, 1, 10) || ' ' || substr(${at}, 12, 5) || ${offset}), 1, 16)
      || substr(${at}, 17, length(${at}) - ${16 + letters})`;
  return `CAST(CASE
    WHEN ${at} GLOB '????-??-??T??:??:??*Z' THEN substr(${at}, 1, 10) || ' ' || substr(${at}, 12, length(${at}) - 12)
    WHEN ${at} GLOB '????-??-??[Tt ]??:??*[-+]??:??' THEN ${shifted(`substr(${at}, -6)`, 6)}
    WHEN ${at} GLOB '????-??-??[Tt ]??:??*[-+]????' THEN ${shifted(`substr(${at}, -5, 3) || ':' || substr(${at}, -2)`, 5)}
    WHEN ${at} GLOB '????-??-??[Tt ]??:??*' THEN substr(${at}, 1, 10) || ' ' || rtrim(substr(${at}, 12), 'Zz')
    WHEN ${at} GLOB '????-??-??' THEN ${at} || ' 00:00:00' END AS TEXT)`;
}
