import { monthsBefore, monthsTold, of } from "../figures.js";
import type { Chart, Telling } from "../section.js";
import { currencyName } from "../words.js";
import { accent, amounts, category, monthLabel, room, tint } from "./axes.js";

/** Net and what was refunded make the gross: one on the other. */
export function byMonthChart({ report, numbers }: Telling, currency: string | null): Chart {
  const own = new Map(of(report.months, currency).map((row) => [row.month, row]));
  const [first = ""] = [...own.keys()].sort();
  // A month without an order has its place: what stands apart in time does so on the page.
  const months = Array.from({ length: monthsTold }, (_, nth) => monthsBefore(report.period.until, nth))
    .filter((month) => month >= first)
    .toReversed();
  const bar = { type: "bar", stack: "gross", silent: true, barCategoryGap: "35%", barMaxWidth: 56 };
  const isWhole = (month: string) => own.get(month)?.is_read === true && !own.get(month)?.is_partial;
  const faded = (color: string | undefined, whole: boolean) => ({ color, opacity: whole ? 1 : 0.55 });
  return {
    about: `Net and refunds by month in ${currencyName(currency)}; the figures are in the table beside it.`,
    room: "half",
    height: 340,
    option: (width) => ({
      grid: { ...room, top: 14, bottom: 28 },
      xAxis: category(months.map(monthLabel), width),
      yAxis: amounts(numbers, 4),
      series: [
        {
          ...bar,
          data: months.map((month) => ({
            value: own.get(month)?.net_amount ?? null,
            itemStyle: faded(accent, isWhole(month)),
          })),
        },
        {
          ...bar,
          data: months.map((month) => ({
            value: own.get(month)?.refunded_amount ?? null,
            itemStyle: faded(tint, isWhole(month)),
          })),
        },
      ],
    }),
  };
}
