import { type Block, type ColumnSpec, createTable, paragraph, type Section } from "./document.js";
import {
  FormattedValue,
  formatAmount,
  formatCount,
  formatCurrency,
  formatDay,
  formatDifference,
  formatPercent,
  formatShortMonth,
} from "./formatting.js";
import { monthsBefore } from "./period.js";
import { type ReportData, sortByCurrency } from "./report-data.js";
import { readRefundLosses, readRestatedOrders, readRestatements } from "./report-figures.js";

const monthsBack = 12;
/** The maximum number of orders that are listed: in total, and for each currency. */
const [maxOrders, maxOrdersOfCurrency] = [24, 8];

/** Creates tables of the months that changed after they were reported, and of the orders that changed them. */
export function restatedSection(data: ReportData): Section {
  const since = monthsBefore(data.period.until, monthsBack).slice(0, 7);
  const tables = restatedTables(data, since);
  const none = paragraph("No reported month has changed.");
  return {
    id: "restated",
    title: "Months that changed since you reported them",
    lead: tables.length === 0 ? "" : "Since then, orders have been attributed late, refunded or cancelled.",
    blocks: [...(tables.length === 0 ? [none] : tables), ...lossLines(data)],
  };
}

function restatedTables(data: ReportData, since: string): Block[] {
  const months = sortByCurrency(readRestatements(data.mirror, since), data).sort((a, b) =>
    a.month < b.month ? 1 : a.month > b.month ? -1 : 0,
  );
  if (months.length === 0) return [];
  const all = months.reduce((sum, row) => sum + row.orders, 0);
  const currencyCount = new Set(months.map((row) => row.currency)).size;
  const most = Math.min(maxOrdersOfCurrency, Math.ceil(maxOrders / currencyCount));
  const orders = sortByCurrency(readRestatedOrders(data.mirror, since, most), data);
  const title =
    orders.length < all ? `The ${orders.length} largest of ${all} changed orders` : "Changed orders";
  const dayCell = (at: string) => new FormattedValue(at, formatDay(at));
  return [
    createTable("Months", "restatements", months, [
      month,
      currency,
      ["reported_at", "Reported", "short", (row) => dayCell(row.reported_at), "spare"],
      ["net_reported", "Net then", "number", (row) => formatAmount(row.net_reported, row.currency), "spare"],
      ["net_now", "Net now", "number", (row) => formatAmount(row.net_now, row.currency), "spare"],
      ["difference", "Difference", "number", (row) => formatDifference(row.difference, row.currency)],
      ["orders", "Orders", "number", (row) => formatCount(row.orders), "spare"],
    ]),
    createTable(title, "restated_orders", orders, [
      ["order", "Order", "name", (row) => new FormattedValue(row.order_number ?? row.order_id)],
      [...month, "spare"],
      ["change", "Change", "short", ({ what }) => new FormattedValue(what)],
      ["seen_at", "Seen", "short", (row) => dayCell(row.seen_at), "spare"],
      [
        "host",
        "Host",
        "name",
        (row) => new FormattedValue(row.host_label, row.host_label ?? "no host"),
        "spare",
      ],
      currency,
      ["difference", "Difference", "number", (row) => formatDifference(row.difference, row.currency)],
    ]),
  ];
}

const month = [
  "month",
  "Month",
  "short",
  (row: { month: string }) => new FormattedValue(row.month, formatShortMonth(row.month)),
] satisfies ColumnSpec<never>;
const currency = [
  "currency",
  "Currency",
  "short",
  (row: { currency: string | null }) => new FormattedValue(row.currency, formatCurrency(row.currency)),
] satisfies ColumnSpec<never>;

/**
 * For each currency, returns a sentence that states the share of the net amount that reported months have lost to later
 * refunds. Omits currencies without such a loss.
 */
function lossLines(data: ReportData): Block[] {
  const losses = sortByCurrency(readRefundLosses(data.mirror), data).filter(({ currency }) =>
    data.currencies.includes(currency),
  );
  const visible = losses.filter(({ share }) => formatPercent(share) !== formatPercent(0));
  return visible.map(({ currency, months, share, least, most }) => {
    const prefix = losses.length > 1 ? `${formatCurrency(currency)}: ` : "";
    const range =
      months === 1 ? "1 month" : `${months} months, ${formatPercent(least)} to ${formatPercent(most)}`;
    return paragraph(
      `${prefix}Reported months have so far lost ${formatPercent(share)} to later refunds (${range}).`,
    );
  });
}
