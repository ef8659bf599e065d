import { boolean, date, number, text } from "../../resources/types.js";
import { figureColumns, money, summed } from "./figures.js";
import { reachedAt, reads, reportedAt } from "./history.js";
import type { Definition } from "./view.js";

const currency = text(
  "currency",
  "amounts of different currencies are never added; null: the API names none",
);

const before = "strftime('%Y-%m', m.month || '-01', '-1 month')";

export const salesByDay: Definition = {
  about: "a day (UTC) and currency on which orders were placed",
  columns: [date("day"), currency, ...figureColumns],
  date: "day",
  example: `SELECT currency, sum(orders) AS orders, round(sum(net_amount), 2) AS net FROM sales_by_day
WHERE day >= date('now', '-7 days') AND day < date('now') GROUP BY currency`,
  sql: `SELECT day, currency, ${summed} FROM order_figures GROUP BY day, currency ORDER BY day, currency`,
};

/**
 * "Today" is the day up to which the mirror was read: the same mirror gives the same answer at any time, and an old
 * mirror does not compare half a month with a whole one.
 */
export const salesByMonth: Definition = {
  about:
    "a month (UTC) and currency; the month that was not read to its end is partial, and is compared with as many " +
    "days of the month before, the day of the last read included",
  columns: [
    text("month"),
    currency,
    ...figureColumns,
    boolean("is_partial", "whether the mirror has not read all of it yet"),
    number(
      "net_before",
      "net of the month before, of a partial month through the same day; null: there is none, or it was not read whole",
    ),
  ],
  date: "month",
  example: `SELECT month, currency, net_amount, net_before, round(100 * (net_amount / net_before - 1), 1) AS growth
FROM sales_by_month WHERE month >= strftime('%Y-%m', 'now', 'start of month', '-6 months')
ORDER BY currency, month`,
  sql: `WITH ${reads},
    last AS (SELECT ${reachedAt} AS at),
    days AS MATERIALIZED (
      SELECT *, substr(day, 1, 7) AS month, CAST(substr(day, 9) AS INTEGER) AS nth FROM sales_by_day),
    months AS MATERIALIZED (SELECT month, currency, ${summed},
        CASE WHEN month = substr(at, 1, 7) THEN CAST(substr(at, 9, 2) AS INTEGER)
          WHEN month > substr(at, 1, 7) THEN 0 ELSE 31 END AS through
      FROM days, last GROUP BY month, currency)
  SELECT month, currency, ${figureColumns.map(({ name }) => name).join(", ")},
    CASE WHEN month IS NOT NULL THEN ${reportedAt("month")} IS NULL END AS is_partial,
    CASE WHEN EXISTS (SELECT 1 FROM reads WHERE from_at <= ${before} || '-01T00:00:00.000Z'
        AND to_at >= min(m.month, (SELECT at FROM last)))
      THEN (SELECT CASE WHEN count(*) > 0 THEN ${money("CASE WHEN d.nth <= m.through THEN d.net_amount END")} END
      FROM days AS d
      WHERE d.month = ${before} AND d.currency IS m.currency) END AS net_before
  FROM months AS m ORDER BY month, currency`,
};
