import { amount, boolean, integer, list, number, object, signedUrl, text, timestamp } from "./fields.js";
import { baseHost } from "./host.js";
import { analyticsDailyTotals, common, type Resource } from "./resource.js";

/** Every attributed order, newest first: the API document, "4. GET /orders" and "Order". */
export const orders = {
  ...common,
  name: "orders",
  about: "attributed orders with refunds, cancellations and commissions",
  path: "/orders",
  scope: "analytics:read",
  strategy: {
    kind: "dated",
    date: "order_date",
    from: "start_date",
    until: "end_date",
    end: "inclusive",
    countedFilters: [
      { name: "cancelled", query: { status: "cancelled" }, member: "is_cancelled" },
      { name: "refunded", query: { status: "refunded" }, member: "is_refunded" },
    ],
    dailyTotals: analyticsDailyTotals,
  },
  table: "orders",
  tableAbout: "one row per order",
  date: "order_date",
  indexes: [["id"], ["order_date"]],
  fields: [
    text("id", "platform order id"),
    text("external_order_id", "order id in the brand's store or network"),
    text("order_number", "number that the customer sees"),
    timestamp(
      "order_date",
      "when placed, as the API writes it; `day`, `month` and `order_date_utc` are this in UTC: write " +
        "`order_date_utc >= datetime('now', '-7 days')`",
    ),
    text("currency", "ISO 4217 code"),
    amount("total_amount", "order total"),
    amount("subtotal_amount", "before tax and shipping"),
    amount("refund_amount", "refunded so far; may be null: write `coalesce(refund_amount, 0) = 0`"),
    text("financial_status", "payment state as the store reports it"),
    text("fulfillment_status", "as the store reports it"),
    boolean("is_cancelled"),
    boolean("is_refunded", "true when fully refunded"),
    number("commission_rate", "percentage of `subtotal_amount`"),
    amount("commission_amount", "host's commission"),
    text("attribution", "`tracked` or `manual`"),
    object("host", baseHost),
    object("product", [text("id"), text("title"), signedUrl("cover_photo")]),
    object("gear_list", [text("id"), text("title")]),
    list("line_items", {
      table: "order_line_items",
      about: "one row per item of an order",
      parent: [{ column: "order_id", from: "id" }],
      position: true,
      fields: [
        text("title"),
        text("variant_title"),
        text("sku"),
        integer("quantity"),
        amount("price", "unit price"),
      ],
    }),
  ],
} as const satisfies Resource;
