import { amount, integer, object, requestParameter } from "./fields.js";
import { baseHost } from "./host.js";
import { common, type Resource } from "./resource.js";

/**
 * Clicks and sales per host, all time: the API document, "3. GET /analytics/hosts". Several rows can have no host,
 * so a row's place in the ranking is its key.
 */
export const analyticsHosts = {
  ...common,
  name: "analytics-hosts",
  about: "all-time clicks and sales per host, with a snapshot a day",
  path: "/analytics/hosts",
  scope: "analytics:read",
  strategy: { kind: "snapshot" },
  key: [],
  table: "analytics_hosts",
  tableAbout: "the ranking by sales as it stands",
  history: false,
  indexes: [["host_id"]],
  fields: [
    requestParameter("position", "integer", "0-based place in the ranking"),
    object("host", baseHost),
    integer("clicks", "clicks on the brand's products from this host"),
    integer("buy_now_clicks", "clicks through to the store"),
    integer("orders", "attributed orders"),
    amount("sales", "attributed sales in the store currency"),
  ],
} as const satisfies Resource;
