import { amounts, columnsOf, host } from "./columns.js";
import type { View } from "./view.js";

const columns = columnsOf(
  `id order_number order_date ordered_at day month currency ${amounts} is_cancelled is_refunded attribution ${host}`,
);

export const ordersNet: View = {
  name: "orders_net",
  about: "one row per order that counts (neither removed nor cancelled), with what is left after refunds",
  columns,
  date: "ordered_at",
  rowId: "record_id",
  sql: `SELECT ${columns.map(({ name }) => name).join(", ")}, record_id FROM order_figures WHERE orders = 1`,
};
