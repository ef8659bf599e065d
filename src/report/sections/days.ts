import { dayOf } from "../../lib/ranges.js";
import { dayMs } from "../../lib/times.js";
import { type Days, readDays } from "../../query/index.js";
import { type Context, of } from "../context.js";
import { addDays, dayName } from "../dates.js";
import { type Block, type Section, sentence } from "../document.js";
import { currencyName } from "../numbers.js";
import { noOrders } from "./sales.js";

/** More days than that are too many for a chart. */
const mostDays = 93;

/** Net by day; the figures are in `sales_by_day`. */
export function daysSection(context: Context): Section {
  const { currencies, days, period, numbers } = context;
  const isLong = days.until > addDays(days.since, mostDays);
  const charts = currencies.map((currency): Block => {
    const now = netByDay(context, days, currency);
    const before = period.before ? netByDay(context, period.before, currency) : [];
    const others = period.before ? [{ title: period.before.name, values: before }] : [];
    const length = Math.max(now.length, before.length);
    return {
      kind: "chart",
      title: `Net by day, ${currencyName(currency)}`,
      shape: "lines",
      labels: Array.from({ length }, (_, nth) => dayName(addDays(days.since, nth)).slice(0, -5)),
      series: [{ title: period.name, values: now }, ...others],
      axis: numbers.short,
    };
  });
  const none = isLong ? "These are too many days to show; `sales_by_day` has them." : noOrders(context);
  const blocks = isLong || charts.length === 0 ? [sentence(none)] : charts;
  return { id: "days", title: "By day", lead: "", blocks };
}

/** Returns the net of each day; a day without an order is zero. */
function netByDay({ mirror }: Context, { since, until }: Days, currency: string | null): number[] {
  const rows = of(readDays(mirror, { since, until }), currency);
  const net = new Map(rows.map(({ day, net_amount }) => [day, net_amount]));
  const [from, to] = [Date.parse(since), Date.parse(until)];
  const count = (to - from) / dayMs + 1;
  return Array.from({ length: count }, (_, nth) => net.get(dayOf(from + nth * dayMs)) ?? 0);
}
