import type { Outlook } from "../outlook.js";
import type { Chart, Telling } from "../section.js";
import { currencyName } from "../words.js";
import { accent, amounts, category, monthLabel, room, soft, tint } from "./axes.js";

/** Refunded, on it what is still to come, and how far that can be off. */
export function outlookChart({ numbers }: Telling, { currency, months }: Outlook): Chart {
  const bar = { type: "bar", stack: "refunds", silent: true, barCategoryGap: "45%", barMaxWidth: 56 };
  return {
    about: `Refunded and still to come by month of order in ${currencyName(currency)}; the figures are in the table beside it.`,
    room: "half",
    height: 260,
    option: (width) => ({
      grid: { ...room, top: 14, bottom: 28 },
      xAxis: category(
        months.map(({ month }) => monthLabel(month)),
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
