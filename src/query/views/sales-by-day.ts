import { columnsOf, figures } from "./columns.js";
import { summed } from "./figures.js";
import type { View } from "./view.js";

export const salesByDay: View = {
  name: "sales_by_day",
  about: "one row per day (UTC) and currency with orders",
  columns: columnsOf(`day currency ${figures}`),
  date: "day",
  example: `SELECT currency, sum(orders) AS orders, round(sum(net_amount), 2) AS net FROM sales_by_day
WHERE day >= date('now', '-7 days') AND day < date('now') GROUP BY currency`,
  sql: `SELECT day, currency, ${summed} FROM order_figures GROUP BY day, currency ORDER BY day, currency`,
};
