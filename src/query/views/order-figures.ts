import { utc } from "../../lib/utc.js";
import { boolean, date, text, timestamp } from "../../resources/types.js";
import { figureColumns, hostColumns, hostName, ofOrder } from "./figures.js";
import type { View, ViewColumn } from "./view.js";

export const orderColumns: readonly ViewColumn[] = [
  text("id", "platform order id"),
  text("order_number", "number the customer saw"),
  timestamp("order_date", "when placed, as the API sent it"),
  text("ordered_at", "the same in UTC as SQLite writes times: compares with `datetime('now', '-7 days')`"),
  date("day", "its day in UTC: compares with `date('now', '-7 days')`"),
  text("month", "its month in UTC, `2026-10`"),
  text("currency", "ISO 4217 code; null: the API names none"),
];

export const otherColumns: readonly ViewColumn[] = [
  boolean("is_cancelled"),
  boolean("is_refunded", "true when fully refunded"),
  text("attribution", "`tracked` or `manual`"),
  ...hostColumns,
];

export const orderFigures: View = {
  name: "order_figures",
  isHelper: true,
  about:
    "one row per order that the API still has, with what it adds to each figure; every other view of orders is a sum " +
    "of these; a cancelled order adds to `cancelled_orders` alone",
  columns: [
    ...orderColumns,
    ...figureColumns,
    ...otherColumns,
    text("product_id"),
    text("product_title", "the product that the shopper came from"),
    timestamp("synced_at", "when this form of it was first read"),
  ],
  date: "order_date",
  rowId: "record_id",
  example: `SELECT product_title, currency, sum(orders) AS orders, sum(cancelled_orders) AS cancelled,
  round(sum(net_amount), 2) AS net
FROM order_figures WHERE day >= date('now', '-90 days') GROUP BY 1, 2 ORDER BY orders DESC LIMIT 10`,
  sql: `SELECT id, order_number, order_date, ${utc("order_date")} AS ordered_at, day, month, currency, ${ofOrder},
      is_cancelled, is_refunded, attribution, host_id, host_username, CAST(${hostName()} AS TEXT) AS host_name,
      product_id, product_title, synced_at, record_id
    FROM orders WHERE removed_at IS NULL`,
};
