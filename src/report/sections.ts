import { pluralize } from "../util/text.js";
import { dayMs, formatInstant } from "../util/times.js";
import {
  type Block,
  type Chart,
  type ColumnSpec,
  createTable,
  type KeyFigure,
  type KeyFigures,
  paragraph,
  type Section,
} from "./document.js";
import {
  FormattedValue,
  formatAmount,
  formatChange,
  formatCountValue,
  formatCurrency,
  formatCurrencyTitle,
  formatDay,
  formatDifference,
  formatPercent,
  formatShortMonth,
  formatTime,
} from "./formatting.js";
import { addDays, type Comparison, monthsBefore } from "./period.js";
import {
  inCurrency,
  type MonthFigures,
  type Proof,
  type ReportData,
  readDays,
  readHostShares,
  readMonths,
  readRefundLosses,
  readRestatedOrders,
  readRestatements,
  type SalesFigures,
  sortByCurrency,
} from "./report-figures.js";

/** Returns the report's non-empty sections in order. */
export function createSections(data: ReportData): Section[] {
  const sections = [
    salesSection(data),
    daysSection(data),
    monthsSection(data),
    restatedSection(data),
    hostsSection(data),
    proofSection(data),
  ];
  return sections.filter(({ blocks }) => blocks.length > 0);
}

function salesSection(data: ReportData): Section {
  const blocks = [
    ...data.currencies.map((currency) => keyFigures(data, currency)),
    ...data.minorCurrencies.map((currency) => ({ ...keyFigures(data, currency), is_minor: true })),
  ];
  return {
    id: "sales",
    title: "Sales",
    lead: describeComparison(data),
    blocks: blocks.length === 0 ? [paragraph("The mirror has no orders for these days.")] : blocks,
  };
}

/**
 * Returns a sentence such as `Net is down 19.3% in USD and up 0.5% in EUR vs 1–23 Oct 2026.`, or an empty string if
 * there is no comparison.
 */
export function summarizeNet({ currencies, sums, period }: ReportData): string {
  const changes = currencies.flatMap((currency) => {
    const now = inCurrency(sums.now, currency)[0]?.net_amount ?? 0;
    const before = inCurrency(sums.before, currency)[0]?.net_amount ?? 0;
    if (before <= 0) return [];
    const share = formatPercent(Math.abs(now - before) / before);
    const change = share === formatPercent(0) ? "the same" : `${now > before ? "up" : "down"} ${share}`;
    return [`${change} in ${formatCurrency(currency)}`];
  });
  const list = new Intl.ListFormat("en-GB").format(changes);
  return changes.length === 0 ? "" : `Net is ${list} vs ${period.before?.name}.`;
}

function describeComparison({ period, days }: ReportData): string {
  const isCut = period.is_partial && days.until !== period.until;
  const through = isCut ? `Complete days only, through ${formatDay(days.until)}. ` : "";
  if (period.before === null)
    return `${through}There is no comparison, because these days or the preceding ones may be incomplete.`;
  return `${through}Compared with ${period.before.name}, whose orders have had more time to be refunded.`;
}

function keyFigures({ sums, period }: ReportData, currency: string | null): KeyFigures {
  const figure = (
    title: string,
    key: keyof SalesFigures,
    format: typeof formatAmount,
    { isLate = false } = {},
  ): KeyFigure => {
    const sum = (rows: SalesFigures[]) => Number(inCurrency(rows, currency)[0]?.[key] ?? 0);
    const now = sum(sums.now);
    // Refunds and cancellations arrive late. A period without any is therefore not reported as a decrease of 100%.
    const isComparable = !isLate || now !== 0;
    const compare = (days: Comparison | null, before: number) =>
      days
        ? [
            {
              name: days.name,
              change: formatChange(isComparable ? now : null, before),
              before: format(before, currency),
            },
          ]
        : [];
    const comparisons = [
      ...compare(period.before, sum(sums.before)),
      ...compare(period.year_ago, sum(sums.year_ago)),
    ];
    return { title, value: format(now, currency), comparisons };
  };
  return {
    kind: "figures",
    title: formatCurrencyTitle(currency),
    is_minor: false,
    figures: [
      figure("Net", "net_amount", formatAmount),
      figure("Gross", "gross_amount", formatAmount),
      figure("Refunds", "refunded_amount", formatAmount, { isLate: true }),
      figure("Orders", "orders", formatCountValue),
      figure("Cancelled", "cancelled_orders", formatCountValue, { isLate: true }),
    ],
  };
}

const maxDays = 93;

/** Creates a chart for each currency. A single day or a long period has no charts. */
function daysSection({ mirror, currencies, days }: ReportData): Section {
  const all: string[] = [];
  for (let day = days.since; day <= days.until; day = addDays(day, 1)) all.push(day);
  const rows = readDays(mirror, days);
  const labels = all.map((day) => formatDay(day).slice(0, -5));
  const charts = currencies.flatMap((currency) => {
    const byDay = new Map(inCurrency(rows, currency).map((row) => [row.day, row]));
    const title = `Net and refunds by day, ${formatCurrency(currency)}`;
    const daily = all.map((day) => byDay.get(day));
    return byDay.size > 0 ? [netChart(title, labels, daily, 0)] : [];
  });
  const hasCharts = all.length > 1 && all.length <= maxDays;
  return { id: "days", title: "By day", lead: "", blocks: hasCharts ? charts : [] };
}

/**
 * Creates a chart of net sales and refunds.
 * @param absent the value for a day or month without a row; null leaves a gap
 */
function netChart(
  title: string,
  labels: string[],
  rows: readonly (SalesFigures | undefined)[],
  absent: 0 | null,
): Chart {
  const net = rows.map((row) => row?.net_amount ?? absent);
  const refunds = rows.map((row) => row?.refunded_amount ?? absent);
  const series = [
    { title: "net", values: net },
    { title: "refunds", values: refunds },
  ];
  return { kind: "chart", title, labels, series };
}

/** The maximum number of months in a table. Charts contain all months in the period. */
const maxRows = 13;

function monthsSection({ mirror, period, currencies }: ReportData): Section {
  const until = period.until.slice(0, 7);
  const since = [period.since.slice(0, 7), monthBefore(until, maxRows - 1)].sort()[0] ?? until;
  const rows = readMonths(mirror, { since, until });
  const months: string[] = [];
  for (let month = until; month >= (rows.at(-1)?.month ?? until); month = monthBefore(month, 1))
    months.unshift(month);
  return {
    id: "months",
    title: "By month",
    lead: rows.some(({ is_partial }) => is_partial)
      ? "For an unfinished month, the comparison ends with its last complete day."
      : "",
    blocks: currencies.flatMap((currency) => monthBlocks(months, inCurrency(rows, currency), currency)),
  };
}

function monthBefore(month: string, count: number): string {
  return monthsBefore(`${month}-01`, count).slice(0, 7);
}

function monthBlocks(
  months: readonly string[],
  rows: readonly MonthFigures[],
  currency: string | null,
): Block[] {
  if (rows.length === 0) return [];
  const code = formatCurrency(currency);
  const byMonth = new Map(rows.map((row) => [row.month, row]));
  const chart = netChart(
    `Net and refunds by month, ${code}`,
    months.map((month) => formatShortMonth(month).replace(" 20", " ’")),
    months.map((month) => byMonth.get(month)),
    null,
  );
  const oldest = months.at(-maxRows) ?? months[0] ?? "";
  const latest = rows.filter(({ month }) => month >= oldest);
  const table = createTable(`Month by month, ${code}`, "sales_by_month", latest, [
    ["month", "Month", "name", (row) => new FormattedValue(row.month, monthText(row))],
    ["orders", "Orders", "number", (row) => formatCountValue(row.orders), "spare"],
    ["gross_amount", `Gross, ${code}`, "number", (row) => formatAmount(row.gross_amount, currency), "spare"],
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
  ]);
  return months.length > 1 ? [chart, table] : [table];
}

function monthText({ month, is_partial }: MonthFigures): string {
  return `${formatShortMonth(month)}${is_partial ? " (partial)" : ""}`;
}

const monthsBack = 12;
/** The maximum number of orders in the list, in total and per currency. */
const [maxOrders, maxOrdersOfCurrency] = [24, 8];

function restatedSection(data: ReportData): Section {
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
      monthColumn,
      currencyColumn,
      ["reported_at", "Reported", "short", (row) => dayCell(row.reported_at), "spare"],
      ["net_reported", "Net then", "number", (row) => formatAmount(row.net_reported, row.currency), "spare"],
      ["net_now", "Net now", "number", (row) => formatAmount(row.net_now, row.currency), "spare"],
      ["difference", "Difference", "number", (row) => formatDifference(row.difference, row.currency)],
      ["orders", "Orders", "number", (row) => formatCountValue(row.orders), "spare"],
    ]),
    createTable(title, "restated_orders", orders, [
      ["order", "Order", "name", (row) => new FormattedValue(row.order_number ?? row.order_id)],
      [...monthColumn, "spare"],
      ["change", "Change", "short", ({ what }) => new FormattedValue(what)],
      ["seen_at", "Seen", "short", (row) => dayCell(row.seen_at), "spare"],
      [
        "host",
        "Host",
        "name",
        (row) => new FormattedValue(row.host_label, row.host_label ?? "no host"),
        "spare",
      ],
      currencyColumn,
      ["difference", "Difference", "number", (row) => formatDifference(row.difference, row.currency)],
    ]),
  ];
}

const monthColumn = [
  "month",
  "Month",
  "short",
  (row: { month: string }) => new FormattedValue(row.month, formatShortMonth(row.month)),
] satisfies ColumnSpec<never>;
const currencyColumn = [
  "currency",
  "Currency",
  "short",
  (row: { currency: string | null }) => new FormattedValue(row.currency, formatCurrency(row.currency)),
] satisfies ColumnSpec<never>;

/** Returns a sentence for each currency with the share of net that reported months have lost to later refunds. */
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

const maxHosts = 8;

function hostsSection({ mirror, days, currencies }: ReportData): Section {
  const shares = readHostShares(mirror, days, maxHosts);
  const tables = currencies.map((currency) => {
    const code = formatCurrency(currency);
    return createTable(`Highest net, ${code}`, "order_figures", inCurrency(shares, currency), [
      ["host", "Host", "name", ({ host_label }) => new FormattedValue(host_label, host_label ?? "no host")],
      ["orders", "Orders", "number", (row) => formatCountValue(row.orders), "spare"],
      ["net_amount", `Net, ${code}`, "number", (row) => formatAmount(row.net_amount, currency)],
    ]);
  });
  return { id: "hosts", title: "Hosts", lead: "", blocks: tables.filter(({ rows }) => rows.length > 0) };
}

function proofSection(data: ReportData): Section {
  const { proof } = data;
  const blocks = [ageLine(data), ...limits].map(paragraph);
  return { id: "proof", title: "What is proven", lead: proofLine(proof), blocks };
}

/** True if a run has verified the orders in some date range and no run has failed since then. */
export function isProven({ against, proven }: Proof): boolean {
  return against === null && proven !== null;
}

export function proofLine({ against, proven }: Proof): string {
  if (against !== null) return `Not proven: ${against}`;
  if (proven === null) return "Not proven: the orders have never been compared with the API's counts.";
  const { at, by, through, from } = proven;
  const since = from === null ? "" : ` from ${formatDay(from)}`;
  const how = by === "verify" ? "`verify`" : "the sync";
  return `Orders${since} through ${formatDay(through)} are proven: their counts matched the API in ${how} of ${formatTime(at)}.`;
}

function ageLine({ isReadUntilKnown, proof, reached }: ReportData): string {
  const { oldest_read_at: oldest, gaps } = proof;
  if (!isReadUntilKnown)
    return `No date range has been read completely. The newest order is from ${formatDay(formatInstant(reached))}. See \`brandapi status\`.`;
  const days = oldest === null ? 0 : Math.floor(Math.max(0, reached - Date.parse(oldest)) / dayMs);
  const age = days === 0 ? "" : ` The oldest check is ${pluralize(days, "day")} older.`;
  const never = gaps.length === 0 ? "" : " Some days in between were never read: see `brandapi status`.";
  return `Orders have been read up to ${formatTime(formatInstant(reached))}.${age}${never}`;
}

const limits: readonly string[] = [
  "Removed and cancelled orders do not count. Net is gross minus refunds. Days and months are in UTC. Amounts in different currencies are never added together.",
  "The API does not provide refund dates, so a refund counts from the sync that first found it. Nor does the API report which commissions have been paid.",
  "A change to an old order that affects no count and no daily total, such as a new commission rate, is found only when the order is re-read.",
];
