import {
  type MonthFigures,
  readDays,
  readHostShares,
  readMonths,
  type SalesFigures,
} from "../query/report-figures.js";
import { type Block, createTable, type KeyFigure, paragraph, type Section } from "./document.js";
import { addDays, type Comparison, monthsBefore } from "./period.js";
import { inCurrency, type ReportData } from "./report-data.js";
import {
  FormattedValue,
  formatAmount,
  formatChange,
  formatCount,
  formatCurrency,
  formatDay,
  formatMoney,
  formatPercent,
  formatShortMonth,
} from "./text-format.js";

/** Net, gross, refunds and orders of each currency, compared with the days before and the same days a year ago. */
export function salesSection(data: ReportData): Section {
  const blocks = data.currencies.map(
    (currency): Block => ({
      kind: "figures",
      title: formatCurrency(currency),
      figures: [
        figure(data, currency, "Net", ({ net_amount }) => net_amount),
        figure(data, currency, "Gross", ({ gross_amount }) => gross_amount),
        figure(data, currency, "Refunds", ({ refunded_amount }) => refunded_amount),
        figure(data, currency, "Orders", ({ orders }) => orders, true),
        figure(data, currency, "Cancelled", ({ cancelled_orders }) => cancelled_orders, true),
      ],
    }),
  );
  const all = blocks.length === 0 ? [paragraph(noOrders)] : blocks;
  return { id: "sales", title: "Sales", lead: lead(data), blocks: all };
}

const noOrders = "The mirror has no orders of these days.";

/** Returns for example `Net is down 19.3% in USD, up 0.5% in EUR vs 1–23 Oct 2026.`; empty if nothing can be compared. */
export function summarize({ currencies, sums, period }: ReportData): string {
  const moves = currencies.flatMap((currency) => {
    const now = inCurrency(sums.now, currency)[0]?.net_amount ?? 0;
    const before = inCurrency(sums.before, currency)[0]?.net_amount ?? 0;
    if (before <= 0) return [];
    const share = formatPercent(Math.abs(now - before) / before);
    const way = share === formatPercent(0) ? "the same" : `${now > before ? "up" : "down"} ${share}`;
    return [`${way} in ${formatCurrency(currency)}`];
  });
  return moves.length === 0 ? "" : `Net is ${moves.join(", ")} vs ${period.before?.name}.`;
}

function lead({ period, days }: ReportData): string {
  const isCut = period.is_partial && days.until !== period.until;
  const through = isCut ? `Complete days only, through ${formatDay(days.until)}. ` : "";
  if (period.before === null)
    return `${through}These days or the preceding ones may be incomplete, so nothing is compared.`;
  return `${through}Compared with ${period.before.name}, which had more time for refunds.`;
}

function figure(
  { sums, period }: ReportData,
  currency: string | null,
  title: string,
  read: (figures: SalesFigures) => number,
  isCount = false,
): KeyFigure {
  const sum = (rows: SalesFigures[]) => inCurrency(rows, currency).map(read)[0] ?? 0;
  const write = (value: number) => (isCount ? formatCount(value) : formatAmount(value, currency));
  const now = sum(sums.now);
  const value = isCount ? write(now) : formatMoney(now, currency);
  const compare = (days: Comparison | null, before: number) =>
    days ? [{ name: days.name, change: formatChange(now, before), before: write(before) }] : [];
  const comparisons = [
    ...compare(period.before, sum(sums.before)),
    ...compare(period.year_ago, sum(sums.year_ago)),
  ];
  return { title, value, comparisons };
}

/** Longer periods have no chart by day. */
const mostDays = 93;

/** Charts of net and refunds by day, from `sales_by_day`. */
export function daysSection(data: ReportData): Section {
  const { mirror, currencies, days } = data;
  const all: string[] = [];
  for (let day = days.since; day <= days.until; day = addDays(day, 1)) all.push(day);
  const rows = readDays(mirror, days);
  const charts = currencies.map((currency): Block => {
    const byDay = new Map(inCurrency(rows, currency).map((row) => [row.day, row]));
    const values = (value: (figures: SalesFigures) => number) =>
      all.map((day) => byDay.get(day)).map((row) => (row ? value(row) : 0));
    return {
      kind: "chart",
      title: `Net and refunds by day, ${formatCurrency(currency)}`,
      labels: all.map((day) => formatDay(day).slice(0, -5)),
      series: [
        { title: "net", values: values(({ net_amount }) => net_amount) },
        { title: "refunds", values: values(({ refunded_amount }) => refunded_amount) },
      ],
    };
  });
  const isLong = all.length > mostDays;
  const none = isLong ? "Too many days to show: query `sales_by_day` instead." : noOrders;
  const blocks = isLong || charts.length === 0 ? [paragraph(none)] : charts;
  return { id: "days", title: "By day", lead: "", blocks };
}

const monthsShown = 13;

/** The last thirteen months, each compared with the month before and the same month a year ago. */
export function monthsSection(data: ReportData): Section {
  const { mirror, period, currencies } = data;
  const shown = Array.from({ length: monthsShown }, (_, nth) =>
    monthsBefore(`${period.until.slice(0, 7)}-01`, nth).slice(0, 7),
  );
  const [until = "", since = until] = [shown[0], shown.at(-1)];
  const rows = readMonths(mirror, { since, until });
  const months = shown.filter((month) => month >= (rows.at(-1)?.month ?? month));
  const blocks = currencies.flatMap((currency) => monthBlocks(months, inCurrency(rows, currency), currency));
  return {
    id: "months",
    title: "By month",
    lead: rows.some(({ is_partial }) => is_partial)
      ? "A month that is not over is compared through its last complete day."
      : "",
    blocks: blocks.length === 0 ? [paragraph(noOrders)] : blocks,
  };
}

function monthBlocks(
  months: readonly string[],
  rows: readonly MonthFigures[],
  currency: string | null,
): Block[] {
  if (rows.length === 0) return [];
  const code = formatCurrency(currency);
  const oldestFirst = months.toReversed();
  const values = (value: (figures: SalesFigures) => number) =>
    oldestFirst.map((month) => rows.filter((row) => row.month === month).map(value)[0] ?? null);
  return [
    {
      kind: "chart",
      title: `Net and refunds by month, ${code}`,
      labels: oldestFirst.map((month) => formatShortMonth(month).replace(" 20", " ’")),
      series: [
        { title: "net", values: values(({ net_amount }) => net_amount) },
        { title: "refunds", values: values(({ refunded_amount }) => refunded_amount) },
      ],
    },
    createTable(`Month by month, ${code}`, "sales_by_month", rows, [
      ["month", "Month", "name", (row) => new FormattedValue(row.month, monthText(row))],
      ["orders", "Orders", "number", (row) => formatCount(row.orders), "spare"],
      [
        "gross_amount",
        `Gross, ${code}`,
        "number",
        (row) => formatAmount(row.gross_amount, currency),
        "spare",
      ],
      ["refunded_amount", "Refunds", "number", (row) => formatAmount(row.refunded_amount, currency), "spare"],
      ["net_amount", `Net, ${code}`, "number", (row) => formatAmount(row.net_amount, currency)],
      ["change", "vs month before", "number", (row) => formatChange(row.net_through, row.net_before)],
      [
        "change_in_year",
        "vs year ago",
        "number",
        (row) => formatChange(row.net_amount, row.net_year_ago),
        "spare",
      ],
    ]),
  ];
}

function monthText({ month, is_partial }: MonthFigures): string {
  return `${formatShortMonth(month)}${is_partial ? ", in part" : ""}`;
}

const mostHosts = 8;

/** The hosts with the highest net amount in each currency. */
export function hostsSection(data: ReportData): Section {
  const { mirror, days, currencies } = data;
  const shares = readHostShares(mirror, days, mostHosts);
  const tables = currencies.flatMap((currency) => {
    const best = inCurrency(shares, currency);
    const code = formatCurrency(currency);
    const table = createTable(`Highest net, ${code}`, "order_figures", best, [
      ["host", "Host", "name", ({ host_label }) => new FormattedValue(host_label, host_label ?? "no host")],
      ["orders", "Orders", "number", (row) => formatCount(row.orders), "spare"],
      ["net_amount", `Net, ${code}`, "number", (row) => formatAmount(row.net_amount, currency)],
    ]);
    return best.length > 0 ? [table] : [];
  });
  const blocks = tables.length === 0 ? [paragraph(noOrders)] : tables;
  return { id: "hosts", title: "Hosts", lead: "", blocks };
}
