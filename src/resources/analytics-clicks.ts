import {
  amount,
  date,
  type Field,
  inlinedObject,
  integer,
  list,
  number,
  object,
  requestParameter,
  text,
} from "./fields.js";
import { hostFields } from "./host.js";
import { type Resource, resourceDefaults, type TotalsSource } from "./resource.js";

const sales: readonly Field[] = [
  amount("revenue", "order totals in the store's currency"),
  amount("subtotal_revenue", "order subtotals before tax and shipping"),
  number("conversion_rate", "tracked orders divided by buy-now clicks, 0 to 1"),
];

const clicks: readonly Field[] = [
  integer("total_clicks"),
  integer("product_clicks"),
  integer("buy_now_clicks"),
  integer("unique_buy_now_clicks"),
];

const parameters: readonly Field[] = [
  requestParameter("period_start", "date", "first day of the requested month"),
  requestParameter("period_end", "date", "last day of the requested month"),
  requestParameter("group_by", "text", "bucket size of the time series: `day`, `week` or `month`"),
  requestParameter("host_id", "text", "the requested host, or null for all hosts"),
];

const period = { column: "period_start", mainColumn: "period_start" };
const bucket = { column: "group_by", mainColumn: "group_by" };
const parentKey = [period, bucket, { column: "host_id", mainColumn: "host_id" }];
/** The items in `top_hosts` contain a `host_id`, so the column for the requested host has a different name. */
const parentKeyOfHosts = [period, bucket, { column: "asked_host_id", mainColumn: "host_id" }];

/** All orders and sales per day, in a single response (see "2. GET /analytics/clicks" in the API documentation). */
export const analyticsTotals: TotalsSource = {
  path: "/analytics/clicks",
  query: { group_by: "day", limit: 1 },
  totalsField: "timeseries",
  dayField: "date",
  countField: "orders",
  amountFields: ["revenue", "subtotal_revenue"],
};

/**
 * Clicks, views and sales (see "2. GET /analytics/clicks" and "Click analytics" in the API documentation), read by
 * calendar month. Unique counts must not be summed across days or months.
 */
export const analyticsClicks = {
  ...resourceDefaults,
  name: "analytics-clicks",
  about: "clicks, views and sales by day, with each month's summary and top lists",
  path: "/analytics/clicks",
  scope: "analytics:read",
  strategy: { kind: "monthly", totalsSource: analyticsTotals, hostResource: "roster" },
  key: [],
  query: { limit: 100 },
  table: "analytics_clicks_periods",
  tableAbout: "one row per month, with its summary",
  keepsHistory: false,
  dateColumn: "period_start",
  fields: [
    ...parameters,
    inlinedObject("summary", [
      integer("total_clicks", "every tracked click on the brand's products"),
      integer("product_clicks", "clicks on a product card"),
      integer("product_views", "product page views"),
      integer("buy_now_clicks", "click-throughs to the brand's store"),
      integer("unique_buy_now_clicks", "buy-now clicks, counted once per session"),
      integer("profile_views", "views of host profiles that feature the brand"),
      integer("list_views", "views of gear lists that feature the brand"),
      integer("opportunity_clicks", "clicks on campaign links"),
      integer("unique_sessions", "distinct browsing sessions"),
      integer("unique_users", "distinct signed-in shoppers"),
      integer("orders", "attributed orders from all connected stores and networks"),
      ...sales,
      integer("manual_orders", "orders that the team attributed manually"),
    ]),
    list("timeseries", {
      table: "analytics_clicks",
      about: "one row per day, week or month of the time series",
      parentKey,
      fields: [
        date("date", "start of the bucket"),
        ...clicks,
        integer("profile_views"),
        integer("list_views"),
        integer("unique_sessions"),
        integer("orders"),
        ...sales,
      ],
    }),
    list("top_hosts", {
      table: "analytics_clicks_top_hosts",
      about: "one row per host in a month's top 100 by clicks; other hosts are not included",
      parentKey: parentKeyOfHosts,
      hasPosition: true,
      fields: [
        object("host", hostFields),
        ...clicks,
        integer("unique_sessions"),
        integer("orders"),
        ...sales,
      ],
    }),
    list("top_products", {
      table: "analytics_clicks_top_products",
      about: "one row per product in a month's top 100 by clicks; other products are not included",
      parentKey,
      hasPosition: true,
      fields: [text("product_id"), text("title"), text("brand_name", "the product's brand"), ...clicks],
    }),
  ],
} as const satisfies Resource;
