import { type Figures, readDays } from "../../query/index.js";
import { type Context, of } from "../context.js";
import { addDays, dayName } from "../dates.js";
import { type Block, type Section, sentence } from "../document.js";
import { currencyName } from "../numbers.js";
import { noOrders } from "./sales.js";

/** More days than that are too many for a chart. */
const mostDays = 93;

/** Net and refunds by day; the figures are in `sales_by_day`. */
export function daysSection(context: Context): Section {
  const { mirror, currencies, days } = context;
  const all: string[] = [];
  for (let day = days.since; day <= days.until; day = addDays(day, 1)) all.push(day);
  const rows = readDays(mirror, days);
  const charts = currencies.map((currency): Block => {
    const byDay = new Map(of(rows, currency).map((row) => [row.day, row]));
    const values = (value: (figures: Figures) => number) =>
      all.map((day) => byDay.get(day)).map((row) => (row ? value(row) : 0));
    return {
      kind: "chart",
      title: `Net and refunds by day, ${currencyName(currency)}`,
      labels: all.map((day) => dayName(day).slice(0, -5)),
      series: [
        { title: "net", values: values(({ net_amount }) => net_amount) },
        { title: "refunds", values: values(({ refunded_amount }) => refunded_amount) },
      ],
    };
  });
  const isLong = all.length > mostDays;
  const none = isLong ? "These are too many days to show; `sales_by_day` has them." : noOrders;
  const blocks = isLong || charts.length === 0 ? [sentence(none)] : charts;
  return { id: "days", title: "By day", lead: "", blocks };
}
