import { type Block, type Chart, createTable, type Section } from "./document.js";
import {
  FormattedValue,
  formatAmount,
  formatChange,
  formatCount,
  formatCurrency,
  formatShortMonth,
} from "./formatting.js";
import { monthsBefore } from "./period.js";
import { inCurrency, type ReportData } from "./report-data.js";
import { type MonthFigures, readMonths, type SalesFigures } from "./report-figures.js";

/** The maximum number of months in a table. Charts show every month, even if the period is longer. */
const maxRows = 13;

/** Creates a chart and a table of the last thirteen months for each currency. */
export function monthsSection({ mirror, period, currencies }: ReportData): Section {
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
      ? "An unfinished month is compared through its last complete day."
      : "",
    blocks: currencies.flatMap((currency) => monthBlocks(months, inCurrency(rows, currency), currency)),
  };
}

/** @param month a month such as `2026-10` */
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
  const values = (value: (figures: SalesFigures) => number) =>
    months.map((month) => byMonth.get(month)).map((row) => (row ? value(row) : null));
  const chart: Chart = {
    kind: "chart",
    title: `Net and refunds by month, ${code}`,
    labels: months.map((month) => formatShortMonth(month).replace(" 20", " ’")),
    series: [
      { title: "net", values: values(({ net_amount }) => net_amount) },
      { title: "refunds", values: values(({ refunded_amount }) => refunded_amount) },
    ],
  };
  const oldest = months.at(-maxRows) ?? months[0] ?? "";
  const latest = rows.filter(({ month }) => month >= oldest);
  const table = createTable(`Month by month, ${code}`, "sales_by_month", latest, [
    ["month", "Month", "name", (row) => new FormattedValue(row.month, monthText(row))],
    ["orders", "Orders", "number", (row) => formatCount(row.orders), "spare"],
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
