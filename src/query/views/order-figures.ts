import { columnsOf, figures, host } from "./columns.js";
import { hostColumns, ofOrder } from "./figures.js";
import type { View } from "./view.js";

export const orderFigures: View = {
  name: "order_figures",
  isHelper: true,
  about:
    "one row per order that the API still has, with what it adds to each figure; every other view of orders is a sum " +
    "of these; a cancelled order adds to `cancelled_orders` alone",
  columns: columnsOf(
    `id order_number order_date ordered_at day month currency ${figures} is_cancelled is_refunded attribution ${host} product_id product_title synced_at`,
  ),
  date: "ordered_at",
  rowId: "record_id",
  sql: `SELECT id, order_number, order_date, order_date_utc AS ordered_at, day, month, currency, ${ofOrder},
      is_cancelled, is_refunded, attribution, ${hostColumns("o.host_id")},
      product_id, product_title, synced_at, record_id
    FROM orders AS o`,
};
