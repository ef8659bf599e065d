import { columnsOf, host } from "./columns.js";
import { hostColumns, money, once } from "./figures.js";
import { versions } from "./history.js";
import type { View } from "./view.js";

/** Commission taken back: the highest of an order's versions, less the present one of that host. */
export const commissionByHost: View = {
  name: "commission_by_host",
  about:
    "one row per host and currency: the commission of the orders that count, and what was taken back; that is the " +
    "highest commission that this mirror has seen on each order less the present one; the API does not say what was paid",
  columns: columnsOf(`${host} currency orders commission_amount taken_back`),
  sql: `WITH ${versions},
    most AS (SELECT record_id, host_id, currency, max(commission_amount) AS amount
      FROM versions WHERE present AND orders GROUP BY record_id, host_id, currency ${once}),
    all_of AS (
      SELECT host_id, currency, orders, commission_amount, NULL AS taken FROM order_figures
      UNION ALL SELECT m.host_id, m.currency, 0, NULL, max(0, m.amount - coalesce(
          (SELECT o.commission_amount FROM orders AS o WHERE o.record_id = m.record_id
            AND o.is_cancelled IS NOT 1 AND o.host_id IS m.host_id AND o.currency IS m.currency), 0)) FROM most AS m)
    SELECT ${hostColumns("c.host_id")}, currency, orders, commission_amount, taken_back
    FROM (SELECT host_id, currency, total(orders) AS orders,
        ${money("commission_amount")} AS commission_amount, ${money("taken")} AS taken_back
      FROM all_of GROUP BY host_id, currency) AS c
    WHERE orders > 0 OR taken_back > 0 ORDER BY host_id, currency`,
};
