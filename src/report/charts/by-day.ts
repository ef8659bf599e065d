import { dayOf, dayRange } from "../../lib/ranges.js";
import { dayMs } from "../../lib/times.js";
import type { DayFigures } from "../../query/index.js";
import { of } from "../figures.js";
import { dayName } from "../period.js";
import type { Chart, Telling } from "../section.js";
import { currencyName } from "../words.js";
import { accent, amounts, before, category, room, tint } from "./axes.js";

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
    const day = dayOf(at);
    const { net_amount = 0, refunded_amount = 0 } = byDay.get(day) ?? {};
    days.push({ day, net_amount, refunded_amount });
  }
  return days;
}
