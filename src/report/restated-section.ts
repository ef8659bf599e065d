import type { Mirror } from "../store/database.js";
import { type Block, type ColumnSpec, createTable, paragraph, type Section } from "./document.js";
import {
  FormattedValue,
  formatAmount,
  formatCountValue,
  formatCurrency,
  formatDay,
  formatDifference,
  formatPercent,
  formatShortMonth,
} from "./formatting.js";
import { monthsBefore } from "./period.js";
import { type ReportData, sortByCurrency } from "./sales-sections.js";

const monthsBack = 12;
/** The maximum number of changed orders in the report, in total and per currency. */
const [maxOrders, maxOrdersOfCurrency] = [24, 8];

export function createRestatedSection(data: ReportData): Section {
  const since = monthsBefore(data.period.until, monthsBack).slice(0, 7);
  const tables = createRestatedTables(data, since);
  const none = paragraph("No reported month has changed.");
  return {
    id: "restated",
    title: "Months that changed since you reported them",
    lead: tables.length === 0 ? "" : "Since then, orders have been attributed late, refunded or cancelled.",
    blocks: [...(tables.length === 0 ? [none] : tables), ...createRefundLossBlocks(data)],
  };
}

function createRestatedTables(data: ReportData, since: string): Block[] {
  const months = sortByCurrency(loadRestatements(data.mirror, since), data).sort((a, b) =>
    a.month < b.month ? 1 : a.month > b.month ? -1 : 0,
  );
  if (months.length === 0) return [];
  const all = months.reduce((sum, row) => sum + row.orders, 0);
  const currencyCount = new Set(months.map((row) => row.currency)).size;
  const maxPerCurrency = Math.min(maxOrdersOfCurrency, Math.ceil(maxOrders / currencyCount));
  const orders = sortByCurrency(loadRestatedOrders(data.mirror, since, maxPerCurrency), data);
  const title =
    orders.length < all ? `The ${orders.length} largest of ${all} changed orders` : "Changed orders";
  const dayValue = (at: string) => new FormattedValue(at, formatDay(at));
  return [
    createTable("Months", "restatements", months, [
      reportMonthColumn,
      reportCurrencyColumn,
      ["reported_at", "Reported", "short", (row) => dayValue(row.reported_at), "spare"],
      ["net_reported", "Net then", "number", (row) => formatAmount(row.net_reported, row.currency), "spare"],
      ["net_now", "Net now", "number", (row) => formatAmount(row.net_now, row.currency), "spare"],
      ["difference", "Difference", "number", (row) => formatDifference(row.difference, row.currency)],
      ["orders", "Orders", "number", (row) => formatCountValue(row.orders), "spare"],
    ]),
    createTable(title, "restated_orders", orders, [
      ["order", "Order", "name", (row) => new FormattedValue(row.order_number ?? row.order_id)],
      [...reportMonthColumn, "spare"],
      ["change", "Change", "short", ({ what }) => new FormattedValue(what)],
      ["seen_at", "Seen", "short", (row) => dayValue(row.seen_at), "spare"],
      [
        "host",
        "Host",
        "name",
        (row) => new FormattedValue(row.host_label, row.host_label ?? "no host"),
        "spare",
      ],
      reportCurrencyColumn,
      ["difference", "Difference", "number", (row) => formatDifference(row.difference, row.currency)],
    ]),
  ];
}

const reportMonthColumn = [
  "month",
  "Month",
  "short",
  (row: { month: string }) => new FormattedValue(row.month, formatShortMonth(row.month)),
] satisfies ColumnSpec<never>;
const reportCurrencyColumn = [
  "currency",
  "Currency",
  "short",
  (row: { currency: string | null }) => new FormattedValue(row.currency, formatCurrency(row.currency)),
] satisfies ColumnSpec<never>;

/** Returns one sentence per currency, with the share of the reported months' net that was lost to later refunds. */
function createRefundLossBlocks(data: ReportData): Block[] {
  const losses = sortByCurrency(loadRefundLosses(data.mirror), data).filter(({ currency }) =>
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

interface Restatement {
  month: string;
  currency: string | null;
  reported_at: string;
  net_reported: number;
  net_now: number;
  difference: number;
  orders: number;
}

interface RestatedOrder extends Pick<Restatement, "month" | "currency" | "difference"> {
  order_id: string;
  order_number: string | null;
  what: string;
  seen_at: string;
  host_label: string | null;
}

/**
 * For one currency, the share of the reported net that was lost to later refunds: in all months together, and as a
 * range across the months.
 */
interface RefundLoss {
  currency: string | null;
  months: number;
  share: number;
  least: number;
  most: number;
}

/** Returns the months whose net has changed since they were reported. */
function loadRestatements(mirror: Mirror, sinceMonth: string): Restatement[] {
  return mirror.selectRows<Restatement>(
    "SELECT * FROM restatements WHERE difference <> 0 AND month >= ? ORDER BY currency",
    sinceMonth,
  );
}

/**
 * Returns the orders whose changes have altered the net sales of months already reported.
 * @param maxPerCurrency the maximum number of orders per currency
 */
function loadRestatedOrders(mirror: Mirror, sinceMonth: string, maxPerCurrency: number): RestatedOrder[] {
  return mirror.selectRows<RestatedOrder>(
    `SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY currency ORDER BY abs(difference) DESC, order_id) AS nth
         FROM restated_orders WHERE month >= ?) WHERE nth <= ? ORDER BY currency, nth`,
    sinceMonth,
    maxPerCurrency,
  );
}

/**
 * Returns the refund losses for each currency. Months that were first read more than a month after their end are
 * excluded, because most of their refunds had already been made by then.
 */
function loadRefundLosses(mirror: Mirror): RefundLoss[] {
  return mirror.selectRows<RefundLoss>(`WITH lost AS (SELECT month, currency, -total(difference) AS amount FROM restated_orders
         WHERE what = 'refunded' GROUP BY month, currency),
       months AS (SELECT r.currency, r.net_reported, coalesce(l.amount, 0) AS amount FROM restatements AS r
         LEFT JOIN lost AS l ON l.month = r.month AND l.currency IS r.currency
         WHERE r.net_reported > 0 AND r.reported_at < date(r.month || '-01', '+2 months'))
       SELECT currency, count(*) AS months, sum(amount) / sum(net_reported) AS share,
         min(amount / net_reported) AS least, max(amount / net_reported) AS most FROM months GROUP BY currency`);
}
