import type { Mirror } from "../../mirror/index.js";
import type { Days } from "./sales.js";

/** Clicks of some days and the orders that the API attributes to them. Unique counts do not add up over days. */
export interface Clicks {
  days: number;
  total_clicks: number;
  buy_now_clicks: number;
  orders: number;
}

/** Returns null if the mirror holds none of these days. */
export function readClicks({ db }: Mirror, days: Days): Clicks | null {
  const clicks = db
    .prepare(
      `SELECT count(*) AS days, total(total_clicks) AS total_clicks, total(buy_now_clicks) AS buy_now_clicks,
         total(orders) AS orders
       FROM analytics_clicks WHERE group_by = 'day' AND host_id IS NULL AND date BETWEEN @since AND @until`,
    )
    .get(days) as Clicks;
  return clicks.days === 0 ? null : clicks;
}
