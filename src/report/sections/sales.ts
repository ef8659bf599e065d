import { counted } from "../../lib/counted.js";
import type { Figures } from "../../query/index.js";
import { type Context, of } from "../context.js";
import { dayName } from "../dates.js";
import type { Cell, Figure, Section, Sentences } from "../document.js";
import { currencyName } from "../numbers.js";

/** Net, gross, refunds and orders of each currency, beside the days before and the same days a year ago. */
export function salesSection(context: Context): Section {
  const { currencies, currencies_left_out: left } = context;
  const blocks = currencies.flatMap((currency) => [
    {
      kind: "figures" as const,
      title: currencyName(currency),
      figures: [
        figure(context, currency, "Net", ({ net_amount }) => net_amount),
        figure(context, currency, "Gross", ({ gross_amount }) => gross_amount),
        figure(context, currency, "Refunds", ({ refunded_amount }) => refunded_amount),
        figure(context, currency, "Orders", ({ orders }) => orders, true),
      ],
    },
    ...notes(context, currency),
  ]);
  const more: Sentences = { kind: "text", text: `${counted(left, "currency")} more in \`sales_by_day\`.` };
  return {
    id: "sales",
    title: "Sales",
    lead: lead(context),
    blocks:
      currencies.length === 0
        ? [{ kind: "text", text: noOrders(context) }]
        : [...blocks, ...(left > 0 ? [more] : [])],
  };
}

/** Returns why there is nothing to show. */
export function noOrders({ period }: Context): string {
  return period.is_read ? "No orders." : "No orders in what was read of these days.";
}

/** Returns the first sentence to know: `Net is down 19.3% in USD and up 0.5% in EUR vs 1–23 Oct 2026.` */
export function summaryOf({ currencies, sums, period, numbers }: Context): string {
  const moves = currencies.flatMap((currency) => {
    const [now] = of(sums.now, currency);
    const [before] = of(sums.before, currency);
    if (before === undefined || before.net_amount <= 0) return [];
    const ratio = ((now?.net_amount ?? 0) - before.net_amount) / before.net_amount;
    const share = numbers.percent(Math.abs(ratio));
    const way = share === numbers.percent(0) ? "the same" : `${ratio > 0 ? "up" : "down"} ${share}`;
    return [`${way} in ${currencyName(currency)}`];
  });
  const shown = moves.slice(0, 3);
  const last = shown.pop();
  if (last === undefined) return "";
  const all = shown.length === 0 ? last : `${shown.join(", ")} and ${last}`;
  return `Net is ${all} vs ${period.before?.name}.`;
}

function lead({ period, days }: Context): string {
  if (!period.is_read) return "Some of these days were never read, so nothing is compared with them.";
  const through =
    period.is_partial && days.until !== period.until
      ? `Whole days only, through ${dayName(days.until)}. `
      : "";
  if (period.before === null) return `${through}The days before were not read whole, so nothing is compared.`;
  return `${through}Compared with ${period.before.name}, whose refunds have had longer to come.`;
}

function figure(
  { sums, period, numbers }: Context,
  currency: string | null,
  title: string,
  value: (figures: Figures) => number,
  isCount = false,
): Figure {
  const write = (amount: number): Cell => (isCount ? numbers.count(amount) : numbers.money(amount, currency));
  const valueIn = (rows: Figures[]) => of(rows, currency).reduce((_, row) => value(row), 0);
  const now = valueIn(sums.now);
  const compared = [
    [period.before, valueIn(sums.before)],
    [period.year_ago, valueIn(sums.year_ago)],
  ] as const;
  const comparisons = compared.flatMap(([other, before]) =>
    other === null ? [] : [{ title: other.name, change: numbers.change(now, before), before: write(before) }],
  );
  return { title, value: write(now), comparisons };
}

function notes({ sums, numbers }: Context, currency: string | null): Sentences[] {
  const [now] = of(sums.now, currency);
  const count = (value: number) => numbers.count(value).text;
  const { cancelled_orders: cancelled = 0, orders_without_total: without = 0 } = now ?? {};
  const text = [
    ...(cancelled > 0 ? [`${counted(cancelled, "cancelled order", count)} not included.`] : []),
    ...(without > 0 ? [`${counted(without, "order", count)} without a total, which add nothing.`] : []),
  ].join(" ");
  return text === "" ? [] : [{ kind: "text", text, is_note: true }];
}
