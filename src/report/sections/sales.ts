import type { Figures } from "../../query/index.js";
import { type Context, of } from "../context.js";
import { dayName } from "../dates.js";
import { type Block, type Figure, type Section, sentence } from "../document.js";
import { amount, change, count, currencyName, money, percent } from "../numbers.js";
import type { Comparison } from "../period.js";

/** Net, gross, refunds and orders of each currency, beside the days before and the same days a year ago. */
export function salesSection(context: Context): Section {
  const blocks = context.currencies.map(
    (currency): Block => ({
      kind: "figures",
      title: currencyName(currency),
      figures: [
        figure(context, currency, "Net", ({ net_amount }) => net_amount),
        figure(context, currency, "Gross", ({ gross_amount }) => gross_amount),
        figure(context, currency, "Refunds", ({ refunded_amount }) => refunded_amount),
        figure(context, currency, "Orders", ({ orders }) => orders, true),
        figure(context, currency, "Cancelled", ({ cancelled_orders }) => cancelled_orders, true),
      ],
    }),
  );
  const all = blocks.length === 0 ? [sentence(noOrders)] : blocks;
  return { id: "sales", title: "Sales", lead: lead(context), blocks: all };
}

/** Says that there is nothing to show. */
export const noOrders = "No orders in what was read of these days.";

/** Returns the first sentence to know: `Net is down 19.3% in USD, up 0.5% in EUR vs 1–23 Oct 2026.` */
export function summaryOf({ currencies, sums, period }: Context): string {
  const moves = currencies.flatMap((currency) => {
    const now = of(sums.now, currency)[0]?.net_amount ?? 0;
    const before = of(sums.before, currency)[0]?.net_amount ?? 0;
    if (before <= 0) return [];
    const share = percent(Math.abs(now - before) / before);
    const way = share === percent(0) ? "the same" : `${now > before ? "up" : "down"} ${share}`;
    return [`${way} in ${currencyName(currency)}`];
  });
  return moves.length === 0 ? "" : `Net is ${moves.join(", ")} vs ${period.before?.name}.`;
}

function lead({ period, days }: Context): string {
  const isCut = period.is_partial && days.until !== period.until;
  const through = isCut ? `Whole days only, through ${dayName(days.until)}. ` : "";
  if (period.before === null)
    return `${through}The mirror does not have all of these days and those before, so nothing is compared.`;
  return `${through}Compared with ${period.before.name}, whose refunds have had longer to come.`;
}

function figure(
  { sums, period }: Context,
  currency: string | null,
  title: string,
  read: (figures: Figures) => number,
  isCount = false,
): Figure {
  const sum = (rows: Figures[]) => of(rows, currency).map(read)[0] ?? 0;
  const write = (value: number) => (isCount ? count(value) : amount(value, currency));
  const now = sum(sums.now);
  const value = isCount ? write(now) : money(now, currency);
  const beside = (days: Comparison | null, before: number) =>
    days ? [{ name: days.name, change: change(now, before), before: write(before) }] : [];
  const comparisons = [
    ...beside(period.before, sum(sums.before)),
    ...beside(period.year_ago, sum(sums.year_ago)),
  ];
  return { title, value, comparisons };
}
