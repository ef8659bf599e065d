import { type DayFigures, type Figures, readDays, readFirstDay, readSums } from "../../query/index.js";
import { type Context, netByDay, of } from "../context.js";
import { addDays, dayName, lastDay, monthsBefore, shortMonth } from "../dates.js";
import type { Block, Cell, Column, Section } from "../document.js";
import { currencyName } from "../numbers.js";
import { choosePeriod, type Period } from "../period.js";
import { noOrders } from "./sales.js";

/** More days than that are too many for a chart. */
const mostDays = 93;

/** Net by day, as a chart and as a table that opens. */
export function daysSection(context: Context): Section {
  const { currencies, days, period } = context;
  const isLong = (Date.parse(days.until) - Date.parse(days.since)) / 86_400_000 >= mostDays;
  const text = isLong ? "These are too many days to show; `sales_by_day` has them." : noOrders(context);
  const blocks = currencies.flatMap((currency): Block[] => {
    const now = netByDay(context, days, currency);
    const before = period.before ? netByDay(context, period.before, currency) : [];
    const length = Math.max(now.length, before.length);
    return [
      {
        kind: "chart",
        title: `Net by day, ${currencyName(currency)}`,
        shape: "lines",
        labels: Array.from({ length }, (_, nth) =>
          dayName(
            nth < now.length ? addDays(days.since, nth) : addDays(period.before?.since ?? days.since, nth),
          ).slice(0, -5),
        ),
        series: [
          { title: period.name, values: now },
          ...(period.before ? [{ title: period.before.name, values: before }] : []),
        ],
        axis: context.numbers.short,
      },
      dayTable(context, currency),
    ];
  });
  return {
    id: "days",
    title: "By day",
    lead: "",
    blocks: isLong || blocks.length === 0 ? [{ kind: "text", text }] : blocks,
  };
}

function dayTable({ mirror, days, numbers }: Context, currency: string | null): Block {
  const rows = of(readDays(mirror, days), currency).map((row: DayFigures): Cell[] => [
    { value: row.day, text: dayName(row.day) },
    ...figureCells(row, numbers),
  ]);
  const columns: Column[] = [{ key: "day", title: "Day", kind: "name" }, ...figureColumns(currency)];
  return {
    kind: "table",
    title: `Day by day, ${currencyName(currency)}`,
    columns,
    rows,
    source: "sales_by_day",
    is_folded: true,
  };
}

const monthsShown = 13;

/** The last thirteen months, each beside the month before and the same month a year ago. */
export function monthsSection(context: Context): Section {
  const { mirror, period, reached, proof, currencies, numbers } = context;
  const first = readFirstDay(mirror)?.slice(0, 7) ?? "";
  const months = Array.from({ length: monthsShown }, (_, nth) =>
    monthsBefore(`${period.until.slice(0, 7)}-01`, nth).slice(0, 7),
  )
    .filter((month) => month >= first)
    .map((month) => {
      const asked = { since: Date.parse(`${month}-01`), until: Date.parse(lastDay(month)) };
      const one = choosePeriod(asked, reached, proof.covered);
      return { one, sums: sumsOf(context, one) };
    });
  const blocks = currencies.flatMap((currency): Block[] => {
    const rows = months.flatMap(({ one, sums }) => {
      const [now] = of(sums.now, currency);
      if (now === undefined) return [];
      const change = (before: Figures[]) =>
        numbers.change(now.net_amount, of(before, currency)[0]?.net_amount ?? null);
      const month = { value: one.slug, text: `${shortMonth(one.since)}${noteOf(one)}` };
      return [[month, ...figureCells(now, numbers), change(sums.before), change(sums.year_ago)]];
    });
    const values = (value: (figures: Figures) => number) =>
      months.map(({ sums }) => of(sums.now, currency).map(value)[0] ?? null).toReversed();
    return rows.length === 0
      ? []
      : [
          {
            kind: "chart",
            title: `Net and refunds by month, ${currencyName(currency)}`,
            shape: "bars",
            labels: months.map(({ one }) => shortMonth(one.since).replace(" 20", " ’")).toReversed(),
            series: [
              { title: "net", values: values(({ net_amount }) => net_amount) },
              { title: "refunds", values: values(({ refunded_amount }) => refunded_amount) },
            ],
            axis: numbers.short,
          },
          {
            kind: "table",
            title: `Month by month, ${currencyName(currency)}`,
            columns: [
              { key: "month", title: "Month", kind: "name" },
              ...figureColumns(currency),
              { key: "change", title: "vs month before", kind: "number" },
              { key: "change_in_year", title: "vs year ago", kind: "number", is_spare: true },
            ],
            rows,
            source: "sales_by_month",
          },
        ];
  });
  const isPartial = months.some(({ one }) => one.is_partial);
  return {
    id: "months",
    title: "By month",
    lead: isPartial ? "A month that is not over is compared through the same day." : "",
    blocks: blocks.length === 0 ? [{ kind: "text", text: noOrders(context) }] : blocks,
  };
}

function sumsOf({ mirror }: Context, one: Period) {
  return {
    now: readSums(mirror, { since: one.since, until: one.through }),
    before: one.before ? readSums(mirror, one.before) : [],
    year_ago: one.year_ago ? readSums(mirror, one.year_ago) : [],
  };
}

function noteOf({ is_read, is_partial, through, until }: Period): string {
  if (!is_read) return ", read in part";
  return is_partial && through !== until ? `, to the ${Number(through.slice(8))}` : "";
}

function figureColumns(currency: string | null): Column[] {
  const code = currency === null ? "" : `, ${currencyName(currency)}`;
  return [
    { key: "orders", title: "Orders", kind: "number", is_spare: true },
    { key: "gross_amount", title: `Gross${code}`, kind: "number", is_spare: true },
    { key: "refunded_amount", title: `Refunds${code}`, kind: "number", is_spare: true },
    { key: "net_amount", title: `Net${code}`, kind: "number" },
  ];
}

function figureCells(row: Figures, numbers: Context["numbers"]): Cell[] {
  return [
    numbers.count(row.orders),
    numbers.amount(row.gross_amount, row.currency),
    numbers.amount(row.refunded_amount, row.currency),
    numbers.amount(row.net_amount, row.currency),
  ];
}
