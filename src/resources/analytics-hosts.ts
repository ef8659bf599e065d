import { amount, integer, object, requestParameter } from "./fields.js";
import { hostFields } from "./host.js";
import { type Resource, resourceDefaults } from "./resource.js";

/**
 * All-time clicks and sales per host (see "3. GET /analytics/hosts" in the API documentation). Records are identified
 * by their position in the ranking, because several of them may lack a host.
 */
export const analyticsHosts = {
  ...resourceDefaults,
  name: "analytics-hosts",
  about: "all-time clicks and sales per host, with a daily snapshot",
  path: "/analytics/hosts",
  scope: "analytics:read",
  strategy: { kind: "ranking" },
  key: [],
  query: { sort: "sale_amount", order: "desc" },
  table: "analytics_hosts",
  tableAbout: "one row per entry in the current ranking by sales",
  keepsHistory: false,
  indexes: [["host_id"]],
  fields: [
    requestParameter("position", "integer", "0-based position in the ranking"),
    object("host", hostFields),
    integer("clicks", "clicks on the brand's products from this host"),
    integer("buy_now_clicks", "click-throughs to the store"),
    integer("orders", "attributed orders"),
    amount("sales", "attributed sales in the store's currency"),
  ],
} as const satisfies Resource;
