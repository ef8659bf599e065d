import type { Chart } from "./document.js";
import { type Html, html } from "./html-template.js";
import { formatCompact } from "./text-format.js";

/** Pixels on a wide screen. On a phone the chart is half as wide, with text twice as large. */
const [width, height] = [720, 300];
const edge = { left: 80, right: 12, top: 16, bottom: 36 };
const labelWidth = 104;

/** Draws a chart as SVG. */
export function drawChart(chart: Chart): Html {
  const { labels, series, title } = chart;
  const ticks = chooseTicks(chart);
  const [lowest = 0, highest = 1] = [ticks[0], ticks.at(-1)];
  const plot = { width: width - edge.left - edge.right, height: height - edge.top - edge.bottom };
  const y = (value: number) =>
    pixel(edge.top + plot.height * (1 - (value - lowest) / (highest - lowest || 1)));
  const step = plot.width / labels.length;
  const x = (nth: number) => pixel(edge.left + step * (nth + 0.5));
  const labelInterval = Math.ceil(labels.length / Math.floor(plot.width / labelWidth));
  const grid = ticks.map(
    (tick) =>
      html`<path class="grid" d="M${edge.left} ${y(tick)}H${width - edge.right}"/><text x="${edge.left - 8}" y="${y(tick) + 4}" text-anchor="end">${formatCompact(tick)}</text>\n`,
  );
  const names = labels.map((label, nth) =>
    nth % labelInterval === 0
      ? html`<text x="${x(nth)}" y="${height - 10}" text-anchor="middle">${label}</text>\n`
      : "",
  );
  const bars = labels.map((_, nth) =>
    drawStack(series, nth, { x: x(nth) - step * 0.35, width: step * 0.7, y }),
  );
  return html`<svg class="chart" viewBox="0 0 ${width} ${height}" role="img" aria-label="${title}">
${grid}${names}${bars}</svg>
`;
}

function drawStack(
  series: Chart["series"],
  nth: number,
  bar: { x: number; width: number; y: (value: number) => number },
): Html {
  let below = 0;
  const boxes = series.map(({ values }, row) => {
    const value = values[nth] ?? 0;
    const [from, to] = [bar.y(below), bar.y(below + value)];
    below += value;
    return html`<rect class="bar${row}" x="${pixel(bar.x)}" y="${Math.min(from, to)}" width="${pixel(bar.width)}" height="${pixel(Math.abs(to - from))}"/>`;
  });
  return html`${boxes}\n`;
}

/** Returns about five round numbers that span all values and zero. */
function chooseTicks({ series, labels }: Chart): number[] {
  const sums = labels.map((_, nth) => series.reduce((sum, { values }) => sum + (values[nth] ?? 0), 0));
  const values = [0, ...sums, ...series.flatMap((one) => one.values.map((value) => value ?? 0))];
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const rough = (most - least || 1) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10);
  const first = Math.floor(least / step);
  const count = Math.ceil(most / step) - first;
  return Array.from({ length: Math.max(1, count) + 1 }, (_, nth) => (first + nth) * step);
}

function pixel(value: number): number {
  return Math.round(value * 10) / 10;
}
