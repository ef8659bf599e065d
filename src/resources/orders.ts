import { analyticsTotals } from "./analytics-clicks.js";
import { amount, boolean, integer, list, number, object, signedUrl, text, timestamp } from "./fields.js";
import { hostFields } from "./host.js";
import { type Resource, resourceDefaults } from "./resource.js";

/** See "4. GET /orders" and "Order" in the API documentation. */
export const orders = {
  ...resourceDefaults,
  name: "orders",
  about: "attributed orders with refunds, cancellations and commissions",
  path: "/orders",
  scope: "analytics:read",
  strategy: {
    kind: "dated",
    dateField: "order_date",
    fromParameter: "start_date",
    untilParameter: "end_date",
    untilBound: "inclusive",
    statusFilters: [
      { name: "cancelled", query: { status: "cancelled" }, field: "is_cancelled" },
      { name: "refunded", query: { status: "refunded" }, field: "is_refunded" },
    ],
    totalsSource: analyticsTotals,
  },
  table: "orders",
  tableAbout: "one row per order",
  dateColumn: "order_date",
  indexes: [["id"], ["order_date"]],
  fields: [
    text("id", "the platform's order ID"),
    text("external_order_id", "order ID in the brand's store or network"),
    text("order_number", "order number shown to the customer"),
    timestamp(
      "order_date",
      "order time in the API's format; for comparisons, use the UTC columns `day`, `month` and `order_date_utc`, as in `order_date_utc >= datetime('now', '-7 days')`",
    ),
    text("currency", "ISO 4217 code"),
    amount("total_amount", "order total"),
    amount("subtotal_amount", "total before tax and shipping"),
    amount(
      "refund_amount",
      "refunds so far, or null; to find orders without refunds, use `coalesce(refund_amount, 0) = 0`",
    ),
    text("financial_status", "payment state reported by the store"),
    text("fulfillment_status", "fulfillment state reported by the store"),
    boolean("is_cancelled"),
    boolean("is_refunded", "true if fully refunded"),
    number("commission_rate", "percentage"),
    amount("commission_amount", "host's commission"),
    text("attribution", "`tracked` or `manual`"),
    object("host", hostFields),
    object("product", [text("id"), text("title"), signedUrl("cover_photo")]),
    object("gear_list", [text("id"), text("title")]),
    list("line_items", {
      table: "order_line_items",
      about: "one row per item in an order",
      parentKey: [{ column: "order_id", mainColumn: "id" }],
      hasPosition: true,
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
