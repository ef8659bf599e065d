import type { Mirror } from "../../mirror/index.js";
import { money } from "../views/figures.js";
import type { Days } from "./sales.js";

/** The figures of a host in some days, in one currency. */
export interface Share {
  host_id: string | null;
  host_name: string | null;
  currency: string | null;
  orders: number;
  net_amount: number;
}

/** Returns the hosts with the highest net, at most so many per currency. Orders without a host are a row of their own. */
export function readShares({ db }: Mirror, days: Days, most: number): Share[] {
  return db
    .prepare(
      `WITH sums AS (SELECT host_id, host_name, currency, sum(orders) AS orders, ${money("net_amount")} AS net_amount,
           max(ordered_at) FROM order_figures WHERE day BETWEEN @since AND @until AND orders = 1 GROUP BY host_id, currency)
       SELECT host_id, host_name, currency, orders, net_amount
       FROM (SELECT *, row_number() OVER (PARTITION BY currency ORDER BY net_amount DESC, host_id) AS nth FROM sums)
       WHERE nth <= @most ORDER BY currency, nth`,
    )
    .all({ ...days, most }) as Share[];
}
