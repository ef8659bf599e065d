import type { Mirror } from "../store/database.js";
import { amountSumSql, hostLabelSql, orderFigureNamesSql, orderFigureSumsSql } from "../views/view.js";
import {
  type Block,
  type Chart,
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
  formatPercent,
  formatShortMonth,
} from "./formatting.js";
import { addDays, type DayRange, formatDays, monthsBefore, type Period } from "./period.js";

/** Total sales in one currency over several days. Amounts are rounded to six decimal places. */
interface Sales {
  currency: string | null;
  orders: number;
  cancelled_orders: number;
  orders_without_total: number;
  gross_amount: number;
  refunded_amount: number;
  net_amount: number;
  commission_amount: number;
}

type DaySales = Sales & { day: string };

interface MonthSales extends Sales {
  month: string;
  is_partial: 0 | 1;
  net_through: number | null;
  net_before: number | null;
  /** The net of the same month a year earlier. Null if either month has not been fully read. */
  net_year_ago: number | null;
}

interface HostShare {
  host_id: string | null;
  host_label: string | null;
  currency: string | null;
  orders: number;
  net_amount: number;
}

/** The data that several sections of the report need. */
export interface ReportData {
  mirror: Mirror;
  period: Period;
  /** The date before which orders have never been read (ISO 8601), or null if there is no such date. */
  mirrorStart: string | null;
  /** The days that are included in the amounts. */
  days: DayRange;
  sales: Record<"now" | "before" | "year_ago", Sales[]>;
  /**
   * The currencies that appear in every section, sorted by gross amount: those with more than one order in the period
   * or in the days before it. If there is no such currency, the list contains only the currency with the largest gross
   * amount.
   */
  currencies: (string | null)[];
  /** The currencies that get only a single line in the report. Null stands for orders without a currency. */
  minorCurrencies: (string | null)[];
}

export function loadReportData(mirror: Mirror, period: Period, mirrorStart: string | null): ReportData {
  const days = { since: period.from, until: period.through };
  const sales = {
    now: loadSales(mirror, days),
    before: period.before ? loadSales(mirror, period.before) : [],
    year_ago: period.year_ago ? loadSales(mirror, period.year_ago) : [],
  };
  return { mirror, period, mirrorStart, days, sales, ...chooseCurrencies(sales) };
}

function chooseCurrencies({
  now,
  before,
}: ReportData["sales"]): Pick<ReportData, "currencies" | "minorCurrencies"> {
  const codes = [...new Set([...now, ...before].map(({ currency }) => currency))];
  const all = codes
    .map((currency) => ({
      currency,
      now: inCurrency(now, currency)[0],
      before: inCurrency(before, currency)[0],
    }))
    .sort((a, b) => gross(b.now) - gross(a.now) || gross(b.before) - gross(a.before));
  const major = all.filter(
    (one) => one.currency !== null && Math.max(one.now?.orders ?? 0, one.before?.orders ?? 0) > 1,
  );
  const main = major.length > 0 ? major : all.slice(0, 1);
  const minor = all.filter(
    (one) => !main.includes(one) && one.now && one.now.orders + one.now.cancelled_orders > 0,
  );
  return {
    currencies: main.map(({ currency }) => currency),
    minorCurrencies: minor.map(({ currency }) => currency),
  };
}

function gross(sales: Sales | undefined): number {
  return sales?.gross_amount ?? 0;
}

function inCurrency<Row extends { currency: string | null }>(
  rows: readonly Row[],
  currency: string | null,
): Row[] {
  return rows.filter((row) => row.currency === currency);
}

/** Sorts rows by their currency's position in the report. Rows in other currencies come last. */
export function sortByCurrency<Row extends { currency: string | null }>(
  rows: readonly Row[],
  { currencies, minorCurrencies }: ReportData,
): Row[] {
  const order = [...currencies, ...minorCurrencies];
  const rank = ({ currency }: Row) => (order.includes(currency) ? order.indexOf(currency) : order.length);
  return rows.toSorted((a, b) => rank(a) - rank(b));
}

export function createSalesSection(data: ReportData): Section {
  const blocks = [
    ...data.currencies.map((currency) => createKeyFigures(data, currency)),
    ...data.minorCurrencies.map((currency) => ({ ...createKeyFigures(data, currency), is_minor: true })),
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
export function summarizeNet({ currencies, sales, period }: ReportData): string {
  const changes = currencies.flatMap((currency) => {
    const now = inCurrency(sales.now, currency)[0]?.net_amount ?? 0;
    const before = inCurrency(sales.before, currency)[0]?.net_amount ?? 0;
    if (before <= 0) return [];
    const share = formatPercent(Math.abs(now - before) / before);
    const change = share === formatPercent(0) ? "the same" : `${now > before ? "up" : "down"} ${share}`;
    return [`${change} in ${formatCurrency(currency)}`];
  });
  const list = new Intl.ListFormat("en-GB").format(changes);
  return changes.length === 0 ? "" : `Net is ${list} vs ${period.before?.name}.`;
}

function describeComparison(data: ReportData): string {
  const { period } = data;
  const included = describeIncludedDays(data);
  if (period.before === null)
    return `${included}There is no comparison, because these days or the preceding ones may be incomplete.`;
  return `${included}Compared with ${period.before.name}, whose orders have had more time to be refunded.`;
}

function describeIncludedDays({ period, mirrorStart, days }: ReportData): string {
  if (!period.has_complete_days)
    return `No day in this period has been fully read. The amounts include only the orders from ${formatDays(days)} that have been read. `;
  if (period.unread.length > 0) {
    const unread = new Intl.ListFormat("en-GB").format(period.unread.map((range) => formatDays(range)));
    const isOlder = mirrorStart !== null && `${period.since}T00:00:00.000Z` < mirrorStart;
    const command = `brandapi sync orders${isOlder ? " --full" : ""}`;
    return `${formatDays(days)} only: not all orders from ${unread} have been read (\`${command}\` reads them). `;
  }
  return days.until === period.until ? "" : `Complete days only, through ${formatDay(days.until)}. `;
}

const keyFigures = [
  ["Net", "net_amount", formatAmount],
  ["Gross", "gross_amount", formatAmount],
  ["Refunds", "refunded_amount", formatAmount],
  ["Orders", "orders", formatCountValue],
  ["Cancelled", "cancelled_orders", formatCountValue],
] as const;

/** Refunds and cancellations arrive late, so if there are none yet, the change is not reported as -100%. */
const lateColumns: readonly (keyof Sales)[] = ["refunded_amount", "cancelled_orders"];

function createKeyFigures({ sales, period }: ReportData, currency: string | null): KeyFigures {
  const figures = keyFigures.map(([title, column, format]): KeyFigure => {
    const amountOf = (rows: readonly Sales[]) => inCurrency(rows, currency)[0]?.[column] ?? 0;
    const now = amountOf(sales.now);
    const isComparable = now !== 0 || !lateColumns.includes(column);
    const comparisons = (["before", "year_ago"] as const).flatMap((name) => {
      const days = period[name];
      if (days === null) return [];
      const before = amountOf(sales[name]);
      const change = formatChange(isComparable ? now : null, before);
      return { name: days.name, change, before: format(before, currency) };
    });
    return { title, value: format(now, currency), comparisons };
  });
  return { kind: "figures", title: formatCurrencyTitle(currency), is_minor: false, figures };
}

const maxDays = 93;

/** Creates a chart for each currency. There are no charts for a single day or a long period. */
export function createDaysSection({ mirror, currencies, days }: ReportData): Section {
  const all: string[] = [];
  for (let day = days.since; day <= days.until; day = addDays(day, 1)) all.push(day);
  const rows = loadSalesByDay(mirror, days);
  const labels = all.map((day) => formatDay(day).slice(0, -5));
  const charts = currencies.flatMap((currency) => {
    const byDay = new Map(inCurrency(rows, currency).map((row) => [row.day, row]));
    const title = `Net and refunds by day, ${formatCurrency(currency)}`;
    const daily = all.map((day) => byDay.get(day));
    return byDay.size > 0 ? [createNetChart(title, labels, daily, 0)] : [];
  });
  const hasCharts = all.length > 1 && all.length <= maxDays;
  return { id: "days", title: "By day", lead: "", blocks: hasCharts ? charts : [] };
}

/**
 * Creates a chart of net sales and refunds.
 * @param absent the value for a day or month without sales; null leaves a gap
 */
function createNetChart(
  title: string,
  labels: string[],
  rows: readonly (Sales | undefined)[],
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

/** The maximum number of months in a table. Charts are not limited. */
const maxRows = 13;

export function createMonthsSection({ mirror, period, currencies }: ReportData): Section {
  const until = period.until.slice(0, 7);
  const since = [period.since.slice(0, 7), earlierMonth(until, maxRows - 1)].sort()[0] ?? until;
  const rows = loadSalesByMonth(mirror, { since, until });
  const months: string[] = [];
  for (let month = until; month >= (rows.at(-1)?.month ?? until); month = earlierMonth(month, 1))
    months.unshift(month);
  return {
    id: "months",
    title: "By month",
    lead: rows.some(({ is_partial }) => is_partial)
      ? "For an unfinished month, the comparison ends with its last complete day."
      : "",
    blocks: currencies.flatMap((currency) => createMonthBlocks(months, inCurrency(rows, currency), currency)),
  };
}

function earlierMonth(month: string, count: number): string {
  return monthsBefore(`${month}-01`, count).slice(0, 7);
}

function createMonthBlocks(
  months: readonly string[],
  rows: readonly MonthSales[],
  currency: string | null,
): Block[] {
  if (rows.length === 0) return [];
  const code = formatCurrency(currency);
  const byMonth = new Map(rows.map((row) => [row.month, row]));
  const chart = createNetChart(
    `Net and refunds by month, ${code}`,
    months.map((month) => formatShortMonth(month).replace(" 20", " ’")),
    months.map((month) => byMonth.get(month)),
    null,
  );
  const oldest = months.at(-maxRows) ?? months[0] ?? "";
  const latest = rows.filter(({ month }) => month >= oldest);
  const table = createTable(`Month by month, ${code}`, "sales_by_month", latest, [
    ["month", "Month", "name", (row) => new FormattedValue(row.month, formatMonthLabel(row))],
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

function formatMonthLabel({ month, is_partial }: MonthSales): string {
  return `${formatShortMonth(month)}${is_partial ? " (partial)" : ""}`;
}

const maxHosts = 8;

export function createHostsSection({ mirror, days, currencies }: ReportData): Section {
  const shares = loadHostShares(mirror, days, maxHosts);
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

function loadSales(mirror: Mirror, days: DayRange): Sales[] {
  return mirror.selectRows<Sales>(
    `SELECT currency, ${orderFigureSumsSql} FROM sales_by_day WHERE day BETWEEN @since AND @until GROUP BY currency`,
    days,
  );
}

function loadSalesByDay(mirror: Mirror, days: DayRange): DaySales[] {
  return mirror.selectRows<DaySales>(
    `SELECT day, currency, ${orderFigureNamesSql} FROM sales_by_day WHERE day BETWEEN @since AND @until`,
    days,
  );
}

function loadHostShares(mirror: Mirror, days: DayRange, maxPerCurrency: number): HostShare[] {
  return mirror.selectRows<HostShare>(
    `WITH sums AS (SELECT host_id, currency, sum(orders) AS orders, ${amountSumSql("net_amount")} AS net_amount
           FROM order_figures WHERE day BETWEEN @since AND @until AND orders = 1 GROUP BY host_id, currency)
       SELECT s.host_id, ${hostLabelSql("s.host_id")} AS host_label, s.currency, s.orders, s.net_amount
       FROM (SELECT *, row_number() OVER (PARTITION BY currency ORDER BY net_amount DESC, host_id) AS nth FROM sums) AS s
       WHERE nth <= @maxPerCurrency ORDER BY currency, nth`,
    { ...days, maxPerCurrency },
  );
}

function loadSalesByMonth(mirror: Mirror, months: { since: string; until: string }): MonthSales[] {
  return mirror.selectRows<MonthSales>(
    `SELECT m.*, CASE WHEN NOT m.is_partial AND NOT y.is_partial THEN y.net_amount END AS net_year_ago
       FROM sales_by_month AS m LEFT JOIN sales_by_month AS y
         ON y.month = strftime('%Y-%m', m.month || '-01', '-1 year') AND y.currency IS m.currency
       WHERE m.month BETWEEN @since AND @until ORDER BY m.month DESC`,
    months,
  );
}
