import { of } from "../figures.js";
import type { Chart, Telling } from "../section.js";
import { currencyName } from "../words.js";
import { accent, amounts, category, monthLabel, room, tint } from "./axes.js";

/** Net and what was refunded make the gross: one on the other. */
export function byMonthChart({ report, numbers }: Telling, currency: string | null): Chart {
  const rows = of(report.months, currency);
  const bar = { type: "bar", stack: "gross", silent: true, barCategoryGap: "35%", barMaxWidth: 56 };
  const faded = (color: string | undefined, isPartial: number) => ({ color, opacity: isPartial ? 0.55 : 1 });
  return {
    about: `Net and refunds by month in ${currencyName(currency)}; the figures are in the table beside it.`,
    room: "half",
    height: 340,
    option: (width) => ({
      grid: { ...room, top: 14, bottom: 28 },
      xAxis: category(
        rows.map(({ month }) => monthLabel(month)),
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
