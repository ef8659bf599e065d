import { type Figures, readFirstDay } from "../../query/index.js";
import { type Context, netByDay, of, readPeriodSums } from "../context.js";
import { addDays, dayName, lastDay, monthsBefore, shortMonth } from "../dates.js";
import { type Block, Cell, type ColumnOf, type Section, sentence, tableOf } from "../document.js";
import { currencyName, type Numbers } from "../numbers.js";
import { choosePeriod, type Period } from "../period.js";
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

const monthsShown = 13;
interface Month {
  one: Period;
  sums: Record<"now" | "before" | "year_ago", Figures[]>;
}

/** The last thirteen months, each beside the month before and the same month a year ago. */
export function monthsSection(context: Context): Section {
  const { mirror, period, reached, proof, currencies } = context;
  const first = readFirstDay(mirror);
  const months = Array.from({ length: monthsShown }, (_, nth) =>
    monthsBefore(`${period.until.slice(0, 7)}-01`, nth).slice(0, 7),
  )
    .filter((month) => month >= (first?.slice(0, 7) ?? month))
    .map((month) => {
      const asked = { since: Date.parse(`${month}-01`), until: Date.parse(lastDay(month)) };
      const one = choosePeriod(asked, reached, proof.covered, first);
      return { one, sums: readPeriodSums(mirror, one) };
    });
  const blocks = currencies.flatMap((currency) => monthBlocks(months, currency, context.numbers));
  return {
    id: "months",
    title: "By month",
    lead: months.some(({ one }) => one.is_partial)
      ? "A month that is not over is compared through the same day."
      : "",
    blocks: blocks.length === 0 ? [sentence(noOrders(context))] : blocks,
  };
}

function monthBlocks(months: readonly Month[], currency: string | null, numbers: Numbers): Block[] {
  const rows = months.flatMap(({ one, sums }) => of(sums.now, currency).map((now) => ({ one, sums, now })));
  if (rows.length === 0) return [];
  const code = currencyName(currency);
  const { amount } = numbers;
  const values = (value: (figures: Figures) => number) =>
    months.map(({ sums }) => of(sums.now, currency).map(value)[0] ?? null).toReversed();
  const change = (now: Figures, other: Figures[]) =>
    numbers.change(now.net_amount, of(other, currency)[0]?.net_amount ?? null);
  const columns: ColumnOf<(typeof rows)[number]>[] = [
    ["month", "Month", "name", ({ one }) => new Cell(one.slug, shortMonth(one.since) + noteOf(one))],
    ["orders", "Orders", "number", ({ now }) => numbers.count(now.orders), "spare"],
    ["gross_amount", `Gross, ${code}`, "number", ({ now }) => amount(now.gross_amount, currency), "spare"],
    [
      "refunded_amount",
      `Refunds, ${code}`,
      "number",
      ({ now }) => amount(now.refunded_amount, currency),
      "spare",
    ],
    ["net_amount", `Net, ${code}`, "number", ({ now }) => amount(now.net_amount, currency)],
    ["change", "vs month before", "number", ({ now, sums }) => change(now, sums.before)],
    ["change_in_year", "vs year ago", "number", ({ now, sums }) => change(now, sums.year_ago), "spare"],
  ];
  return [
    {
      kind: "chart",
      title: `Net and refunds by month, ${code}`,
      shape: "bars",
      labels: months.map(({ one }) => shortMonth(one.since).replace(" 20", " ’")).toReversed(),
      series: [
        { title: "net", values: values(({ net_amount }) => net_amount) },
        { title: "refunds", values: values(({ refunded_amount }) => refunded_amount) },
      ],
      axis: numbers.short,
    },
    tableOf(`Month by month, ${code}`, "sales_by_month", rows, columns),
  ];
}

function noteOf({ is_read, is_partial, through, until }: Period): string {
  if (!is_read) return ", read in part";
  return is_partial && through !== until ? `, to the ${Number(through.slice(8))}` : "";
}
