import type { DayFigures } from "../query/index.js";
import { dayRange } from "../ranges.js";
import { dayMs } from "../times.js";
import { of } from "./figures.js";
import type { Numbers } from "./numbers.js";
import type { Outlook } from "./outlook.js";
import { dayName, shortMonth } from "./period.js";
import type { Chart, Telling } from "./section.js";
import { currencyName } from "./words.js";

/** Colours are the page's own, so that a chart is dark where the page is. */
const [accent, tint, before, line, soft] = ["accent", "tint", "before", "line", "soft"].map(
  (name) => `var(--${name})`,
);
const letters = { color: soft, fontSize: 13 };

function category(data: readonly string[], width: number, isShown = true) {
  const most = Math.max(2, Math.floor(width / 62));
  return {
    type: "category",
    data,
    axisTick: { show: false },
    axisLine: { lineStyle: { color: line } },
    axisLabel: { ...letters, show: isShown, interval: Math.max(0, Math.ceil(data.length / most) - 1) },
  };
}

function amounts(numbers: Numbers, splits: number) {
  return {
    type: "value",
    splitNumber: splits,
    splitLine: { lineStyle: { color: line } },
    axisLabel: { ...letters, formatter: (value: number) => numbers.short(value) },
  };
}

const room = { left: 52, right: 12 };

/** Net above, refunds under it, day beside the same day of the time before. */
export function byDayChart({ report, numbers }: Telling, currency: string | null): Chart {
  const { period } = report;
  const now = daily(of(report.days.now, currency), period.since, period.through);
  const then = daily(of(report.days.before, currency), period.before.since, period.before.until);
  const count = Math.max(now.length, then.length);
  const days = Array.from({ length: count }, (_, nth) => {
    const day = dayName(now[nth]?.day ?? then[nth]?.day ?? "");
    return day.slice(0, -5);
  });
  const series = (rows: typeof now, value: "net_amount" | "refunded_amount") => rows.map((row) => row[value]);
  const common = { silent: true, symbol: "none" };
  return {
    about: `Net and refunds by day in ${currencyName(currency)}, ${period.name} against ${period.before.name}; the figures are in the table after it.`,
    room: "wide",
    height: 320,
    option: (width) => ({
      grid: [
        { ...room, top: 14, height: 176 },
        { ...room, top: 220, bottom: 28 },
      ],
      xAxis: [
        { ...category(days, width, false), gridIndex: 0 },
        { ...category(days, width), gridIndex: 1 },
      ],
      yAxis: [
        { ...amounts(numbers, 4), gridIndex: 0 },
        { ...amounts(numbers, 2), gridIndex: 1 },
      ],
      series: [
        {
          ...common,
          type: "line",
          data: series(then, "net_amount"),
          lineStyle: { color: before, width: 1.5, type: [4, 3] },
        },
        {
          ...common,
          type: "line",
          data: series(now, "net_amount"),
          lineStyle: { color: accent, width: 2.5 },
          areaStyle: { color: accent, opacity: 0.08 },
        },
        {
          ...common,
          type: "line",
          step: "middle",
          xAxisIndex: 1,
          yAxisIndex: 1,
          data: series(then, "refunded_amount"),
          lineStyle: { color: before, width: 1.5, type: [4, 3] },
        },
        {
          ...common,
          type: "bar",
          xAxisIndex: 1,
          yAxisIndex: 1,
          data: series(now, "refunded_amount"),
          itemStyle: { color: tint },
          barMaxWidth: 14,
        },
      ],
    }),
  };
}

/** Every day, also those without an order. */
function daily(rows: readonly DayFigures[], since: string, until: string) {
  const byDay = new Map(rows.map((row) => [row.day, row]));
  const days: { day: string; net_amount: number; refunded_amount: number }[] = [];
  for (let at = dayRange(since).from; at <= dayRange(until).from; at += dayMs) {
    const day = new Date(at).toISOString().slice(0, 10);
    const { net_amount = 0, refunded_amount = 0 } = byDay.get(day) ?? {};
    days.push({ day, net_amount, refunded_amount });
  }
  return days;
}

/** Net and what was refunded make the gross: one on the other. */
export function byMonthChart({ report, numbers }: Telling, currency: string | null): Chart {
  const rows = of(report.months, currency);
  const bar = { type: "bar", stack: "gross", silent: true, barCategoryGap: "35%" };
  const faded = (color: string | undefined, isPartial: number) => ({ color, opacity: isPartial ? 0.55 : 1 });
  return {
    about: `Net and refunds by month in ${currencyName(currency)}; the figures are in the table beside it.`,
    room: "half",
    height: 340,
    option: (width) => ({
      grid: { ...room, top: 14, bottom: 28 },
      xAxis: category(
        rows.map(({ month }) => shortMonth(month).replace(" 20", " ’")),
        width,
      ),
      yAxis: amounts(numbers, 4),
      series: [
        {
          ...bar,
          data: rows.map((row) => ({ value: row.net_amount, itemStyle: faded(accent, row.is_partial) })),
        },
        {
          ...bar,
          data: rows.map((row) => ({ value: row.refunded_amount, itemStyle: faded(tint, row.is_partial) })),
        },
      ],
    }),
  };
}

/** Refunded, on it what is still to come, and how far that can be off. */
export function outlookChart({ numbers }: Telling, { currency, months }: Outlook): Chart {
  const bar = { type: "bar", stack: "refunds", silent: true, barCategoryGap: "45%" };
  return {
    about: `Refunded and still to come by month of order in ${currencyName(currency)}; the figures are in the table beside it.`,
    room: "half",
    height: 260,
    option: (width) => ({
      grid: { ...room, top: 14, bottom: 28 },
      xAxis: category(
        months.map(({ month }) => shortMonth(month).replace(" 20", " ’")),
        width,
      ),
      yAxis: amounts(numbers, 4),
      series: [
        { ...bar, data: months.map(({ refunded }) => refunded), itemStyle: { color: accent } },
        { ...bar, data: months.map(({ to_come }) => to_come ?? 0), itemStyle: { color: tint } },
        {
          type: "custom",
          silent: true,
          data: months.map(({ refunded, to_come, standard_error }, nth) => {
            const [end, error] = [refunded + (to_come ?? 0), standard_error ?? 0];
            return [nth, end - error, end + error];
          }),
          renderItem: whisker,
        },
      ],
    }),
  };
}

interface ChartApi {
  value(dimension: number): number;
  coord(point: readonly [number, number]): [number, number];
}

function whisker(_: unknown, api: ChartApi) {
  const nth = api.value(0);
  const [x, low] = api.coord([nth, api.value(1)]);
  const [, high] = api.coord([nth, api.value(2)]);
  const stroke = (x1: number, y1: number, x2: number, y2: number) => ({
    type: "line",
    shape: { x1, y1, x2, y2 },
    style: { stroke: soft, lineWidth: 1.5 },
  });
  return {
    type: "group",
    children: [stroke(x, low, x, high), stroke(x - 5, low, x + 5, low), stroke(x - 5, high, x + 5, high)],
  };
}
