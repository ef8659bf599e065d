import type { Chart, Section } from "./document.js";
import { formatCurrency, formatDay } from "./formatting.js";
import { addDays } from "./period.js";
import { inCurrency, type ReportData } from "./report-data.js";
import { readDays, type SalesFigures } from "./report-figures.js";

/** The maximum number of days in a chart. */
const maxDays = 93;

/**
 * Creates charts of daily net amounts and refunds. There is no chart for a single day, a long period, or a currency
 * without orders.
 */
export function daysSection({ mirror, currencies, days }: ReportData): Section {
  const all: string[] = [];
  for (let day = days.since; day <= days.until; day = addDays(day, 1)) all.push(day);
  const rows = readDays(mirror, days);
  const inPeriod = currencies.filter((currency) => inCurrency(rows, currency).length > 0);
  const charts = inPeriod.map((currency): Chart => {
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
  const hasCharts = all.length > 1 && all.length <= maxDays;
  return { id: "days", title: "By day", lead: "", blocks: hasCharts ? charts : [] };
}
