import type { Chart } from "./document.js";
import { formatCompact } from "./formatting.js";
import { type Html, html } from "./html-template.js";

/** The maximum number of labels. On narrow screens, every second label is hidden. */
const maxLabels = 7;
/** The minimum number of bar positions. Without a minimum, a single bar would fill the chart. */
const minSlots = 7;

/**
 * Draws a stacked bar chart. Positions are percentages, so that the stylesheet can resize the chart without scaling its
 * text.
 */
export function drawChart(chart: Chart): Html {
  const { labels, series, title } = chart;
  const ticks = chooseTicks(chart);
  const [lowest = 0, highest = 1] = [ticks[0], ticks.at(-1)];
  const y = (value: number) => 100 * (1 - (value - lowest) / (highest - lowest || 1));
  const step = 100 / Math.max(labels.length, minSlots);
  const grid = ticks.map(
    (tick) =>
      html`<line class="grid" x1="0" x2="100%" y1="${percent(y(tick))}" y2="${percent(y(tick))}"/><text x="-8" y="${percent(y(tick))}" dy=".32em" text-anchor="end">${formatCompact(tick)}</text>\n`,
  );
  const bars = labels.map((_, index) =>
    drawStack(series, index, { x: step * (index + 0.15), width: step * 0.7, y }),
  );
  return html`<svg class="chart" role="img" aria-label="${title}">
${grid}${drawLabels(labels, step)}${bars}</svg>
`;
}

/** Aligns the first and last labels with the outer edges of their bars. Centered labels could be cut off. */
function drawLabels(labels: readonly string[], step: number): Html {
  const interval = Math.ceil(labels.length / maxLabels);
  const texts = labels.map((label, index) => {
    if (index % interval !== 0) return "";
    const isLast = index === labels.length - 1 && index > 0;
    const [anchor, offset] = index === 0 ? ["start", 0.15] : isLast ? ["end", 0.85] : ["middle", 0.5];
    const spare = index % (2 * interval) === 0 ? "" : html` class="spare"`;
    return html`<text${spare} x="${percent(step * (index + Number(offset)))}" y="100%" dy="1.7em" text-anchor="${anchor}">${label}</text>\n`;
  });
  return html`${texts}`;
}

function drawStack(
  series: Chart["series"],
  index: number,
  bar: { x: number; width: number; y: (value: number) => number },
): Html {
  let below = 0;
  const boxes = series.map(({ values }, row) => {
    const value = values[index] ?? 0;
    const [from, to] = [bar.y(below), bar.y(below + value)];
    below += value;
    return html`<rect class="bar${row}" x="${percent(bar.x)}" y="${percent(Math.min(from, to))}" width="${percent(bar.width)}" height="${percent(Math.abs(to - from))}"/>`;
  });
  return html`${boxes}\n`;
}

/** Returns about five round numbers whose range includes zero and all values. */
function chooseTicks({ series, labels }: Chart): number[] {
  const sums = labels.map((_, index) => series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0));
  const values = [0, ...sums, ...series.flatMap((one) => one.values.map((value) => value ?? 0))];
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const rough = (most - least || 1) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10);
  const first = Math.floor(least / step);
  const count = Math.ceil(most / step) - first;
  return Array.from({ length: Math.max(1, count) + 1 }, (_, index) => (first + index) * step);
}

function percent(value: number): string {
  return `${Math.round(value * 100) / 100}%`;
}
