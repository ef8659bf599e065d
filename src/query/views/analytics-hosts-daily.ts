import { columnsOf, host } from "./columns.js";
import { fullName, hostName } from "./figures.js";
import type { View } from "./view.js";

const named = `(SELECT ${fullName("a.host")} FROM analytics_hosts AS a WHERE a.host_id = s.host_id LIMIT 1)`;

export const analyticsHostsDaily: View = {
  name: "analytics_hosts_daily",
  about:
    "one row per host and day: clicks and sales as the difference between one snapshot of the all-time totals and the " +
    "previous one (`since`)",
  columns: columnsOf(`date since ${host} clicks buy_now_clicks orders sales`, {
    since: "the day of the previous snapshot",
    orders: "the ranking's",
  }),
  date: "date",
  example: "SELECT date, sum(clicks), sum(sales) FROM analytics_hosts_daily GROUP BY date",
  sql: `SELECT date, since, host_id, host_username, host_name, clicks, buy_now_clicks, orders, sales FROM (
      SELECT s.date, (SELECT max(d.date) FROM analytics_hosts_days d WHERE d.date < s.date) AS since,
        s.host_id, s.host_username, ${hostName("s.host", named)} AS host_name,
        s.clicks - coalesce(lag(s.clicks) OVER w, 0) AS clicks,
        s.buy_now_clicks - coalesce(lag(s.buy_now_clicks) OVER w, 0) AS buy_now_clicks,
        s.orders - coalesce(lag(s.orders) OVER w, 0) AS orders,
        round(s.sales - coalesce(lag(s.sales) OVER w, 0), 6) AS sales
      FROM analytics_hosts_snapshots s WHERE s.clicks IS NOT NULL WINDOW w AS (PARTITION BY s.host_id ORDER BY s.date)
    ) WHERE since IS NOT NULL`,
};
