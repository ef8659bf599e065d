import { readRefundLosses, readRestatedOrders, readRestatements } from "../query/report-figures.js";
import { type Block, type ColumnSpec, createTable, paragraph, type Section } from "./document.js";
import { monthsBefore } from "./period.js";
import type { ReportData } from "./report-data.js";
import {
  FormattedValue,
  formatAmount,
  formatCount,
  formatCurrency,
  formatDay,
  formatDifference,
  formatPercent,
  formatShortMonth,
} from "./text-format.js";

const monthsBack = 12;
const mostOrders = 8;

/** Months whose figures changed after they were reported, and the orders that changed them. */
export function restatedSection(data: ReportData): Section {
  const since = monthsBefore(data.period.until, monthsBack).slice(0, 7);
  const tables = restatedTables(data, since);
  const none = paragraph("No reported month has changed.");
  return {
    id: "restated",
    title: "Months that changed since you reported them",
    lead: tables.length === 0 ? "" : "Orders were attributed late, refunded or cancelled since then.",
    blocks: [...(tables.length === 0 ? [none] : tables), ...lossLines(data)],
  };
}

function restatedTables({ mirror }: ReportData, since: string): Block[] {
  const months = readRestatements(mirror, since);
  if (months.length === 0) return [];
  const all = months.reduce((sum, row) => sum + row.orders, 0);
  const orders = readRestatedOrders(mirror, since, mostOrders);
  const title =
    orders.length < all ? `The ${orders.length} largest of ${all} changed orders` : "Changed orders";
  const dayCell = (at: string) => new FormattedValue(at, formatDay(at));
  return [
    createTable("Months", "restatements", months, [
      month,
      currency,
      ["reported_at", "Reported", "short", (row) => dayCell(row.reported_at), "spare"],
      ["net_reported", "Net then", "number", (row) => formatAmount(row.net_reported, row.currency), "spare"],
      ["net_now", "Net now", "number", (row) => formatAmount(row.net_now, row.currency)],
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

/** Returns a sentence for each currency about how much reported months usually lose to later refunds. */
function lossLines({ mirror, currencies }: ReportData): Block[] {
  const losses = readRefundLosses(mirror).filter(({ currency }) => currencies.includes(currency));
  return losses.map(({ currency, months, share, least, most }) => {
    const prefix = losses.length > 1 ? `${formatCurrency(currency)}: ` : "";
    const range =
      months === 1 ? "1 month" : `${months} months, ${formatPercent(least)} to ${formatPercent(most)}`;
    return paragraph(
      `${prefix}Reported months have so far lost ${formatPercent(share)} to later refunds (${range}).`,
    );
  });
}
