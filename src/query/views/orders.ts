import { boolean, date, text, timestamp } from "../../resources/types.js";
import { figureColumns, ofOrder, utc } from "./figures.js";
import type { Definition, ViewColumn } from "./view.js";

const [, , , ...amounts] = figureColumns;

const ownColumns: readonly ViewColumn[] = [
  text("id", "platform order id"),
  text("order_number", "number the customer saw"),
  timestamp("order_date", "when placed, as the API sent it"),
  text("ordered_at", "the same in UTC as SQLite writes times: compares with `datetime('now', '-7 days')`"),
  date("day", "its day in UTC: compares with `date('now', '-7 days')`"),
  text("month", "its month in UTC, `2026-10`"),
  text("currency", "ISO 4217 code; null where the API names none"),
];

const others: readonly ViewColumn[] = [
  boolean("is_cancelled"),
  boolean("is_refunded", "true when fully refunded"),
  text("attribution", "`tracked` or `manual`"),
  text("host_id"),
  text("host_username", "as on the order"),
];

export const orderFigures: Definition = {
  about:
    "an order that the API still has, with what it adds to each figure: every other view of orders is a sum of " +
    "these; a cancelled order adds to `cancelled_orders` alone",
  columns: [
    ...ownColumns,
    ...figureColumns,
    ...others,
    text("product_id"),
    text("product_title", "the product that the shopper came from"),
    timestamp("synced_at", "when this form of it was first read"),
  ],
  date: "order_date",
  rowId: "record_id",
  example: `SELECT product_title, currency, sum(orders) AS orders, sum(cancelled_orders) AS cancelled,
  round(sum(net_amount), 2) AS net
FROM order_figures WHERE day >= date('now', '-90 days') GROUP BY 1, 2 ORDER BY orders DESC LIMIT 10`,
  sql: `SELECT id, order_number, order_date, ordered_at, CAST(substr(ordered_at, 1, 10) AS TEXT) AS day,
      CAST(substr(ordered_at, 1, 7) AS TEXT) AS month, currency, ${ofOrder},
      is_cancelled, is_refunded, attribution, host_id, host_username, product_id, product_title, synced_at, record_id
    FROM (SELECT *, ${utc("order_date")} AS ordered_at FROM orders WHERE removed_at IS NULL)`,
};

export const ordersNet: Definition = {
  about: "an order that counts, which is one neither removed nor cancelled, with what is left after refunds",
  columns: [...ownColumns, ...amounts, ...others],
  date: "order_date",
  rowId: "record_id",
  example: `SELECT currency, count(*) AS orders, round(sum(net_amount), 2) AS net FROM orders_net
WHERE day >= date('now', '-7 days') GROUP BY currency`,
  sql: `SELECT ${[...ownColumns, ...amounts, ...others].map(({ name }) => name).join(", ")}, record_id
    FROM order_figures WHERE orders = 1`,
};
