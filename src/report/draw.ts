import { BarChart, CustomChart, LineChart } from "echarts/charts";
import { GridComponent } from "echarts/components";
import { init, use } from "echarts/core";
import { SVGRenderer } from "echarts/renderers";
import { type Html, html, trusted } from "./html.js";
import type { Chart } from "./section.js";

use([BarChart, CustomChart, LineChart, GridComponent, SVGRenderer]);

/** Pixels; the letters keep their size, so a phone gets a drawing of its own. */
const shortEnough = 320;
const widths = { wide: 960, half: 480, narrow: 343 };

/** A chart as SVG, once for a screen and once for a phone. */
export function drawChart(chart: Chart): Html {
  return html`${drawAt(chart, widths[chart.room], "wide")}${drawAt(chart, widths.narrow, "narrow")}`;
}

function drawAt(chart: Chart, width: number, size: "wide" | "narrow"): Html {
  const height = size === "narrow" ? Math.min(chart.height, shortEnough) : chart.height;
  const canvas = init(null, null, { renderer: "svg", ssr: true, width, height });
  try {
    canvas.setOption({ animation: false, ...chart.option(width) });
    const drawing = plain(canvas.renderToSVGString({ useViewBox: true }));
    return html`<svg class="chart ${size}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${chart.about}">
${trusted(drawing)}</svg>
`;
  } finally {
    canvas.dispose();
  }
}

/**
 * Shapes and letters alone: the page's policy allows no style of a chart's own, and the same chart must be the same text,
 * while ECharts numbers what it clips by. Nothing needs clipping: the axes go as far as the figures.
 */
function plain(svg: string): string {
  return svg
    .replace(/^<svg[^>]*>\n?/, "")
    .replace(/<\/svg>\s*$/, "")
    .replace(/<style[\s\S]*?<\/style>\s*/g, "")
    .replace(/<defs[\s\S]*?<\/defs>\s*/g, "")
    .replace(/<rect [^>]*fill="none"><\/rect>\n?/, "")
    .replace(/style="font-size:([\d.]+)px;[^"]*"/g, 'font-size="$1"')
    .replace(/ (?:class|clip-path|pointer-events|xml:space|ecmeta_\w+)="[^"]*"/g, "");
}
