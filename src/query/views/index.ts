import { campaignProgress, campaignsOwing } from "./campaigns.js";
import { commissionByHost, hosts, hostsByMonth } from "./hosts.js";
import { viewNames } from "./names.js";
import { orderFigures, ordersNet } from "./orders.js";
import { lateRefunds, refundsByMonth, refundTriangle } from "./refunds.js";
import { restatedOrders, restatements } from "./restatements.js";
import { analyticsHostsDaily, contentByHost, rosterChanges } from "./roster.js";
import { salesByDay, salesByMonth } from "./sales.js";
import type { Definition, View } from "./view.js";

export { selectOf, type View } from "./view.js";

const definitions: Readonly<Record<(typeof viewNames)[number], Definition>> = {
  sales_by_month: salesByMonth,
  sales_by_day: salesByDay,
  restatements,
  restated_orders: restatedOrders,
  refunds_by_month: refundsByMonth,
  late_refunds: lateRefunds,
  refund_triangle: refundTriangle,
  hosts_by_month: hostsByMonth,
  hosts,
  commission_by_host: commissionByHost,
  roster_changes: rosterChanges,
  content_by_host: contentByHost,
  campaigns_owing: campaignsOwing,
  campaign_progress: campaignProgress,
  orders_net: ordersNet,
  order_figures: orderFigures,
  analytics_hosts_daily: analyticsHostsDaily,
  codes_current: current("codes", "discount codes"),
  gifts_current: current("gifts", "gifts"),
};

export const views: readonly View[] = viewNames.map((name) => ({ name, ...definitions[name] }));

/** Views of earlier versions: `late_refunds` and `commission_by_host` took their place. */
export const retired = ["refunds_by_age", "commission_taken_back"] as const;

/** Of a resource without documented fields: every column seen so far. */
function current(table: string, what: string): Definition {
  return {
    about: `${what} as far as known: every column seen, without those that are gone`,
    columns: [],
    like: table,
    example: `SELECT * FROM ${table}_current LIMIT 10`,
    sql: `SELECT * FROM ${table} WHERE removed_at IS NULL`,
  };
}
