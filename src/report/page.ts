import { createHash } from "node:crypto";
import { escapeText } from "../util/terminal.js";
import {
  type Block,
  type Chart,
  type KeyFigures,
  keyFiguresLine,
  type ReportDocument,
  type ReportTable,
  type Section,
} from "./document.js";
import { formatCompact, formatDay, formatTime } from "./formatting.js";
import { stylesheet } from "./stylesheet.js";

/** A table with at most this many rows is kept on one printed page. */
const maxRowsKept = 14;

/** Renders the report as a single HTML file. Its Content-Security-Policy forbids scripts and external resources. */
export function renderPage({
  brand,
  period,
  summary,
  is_proven: isProven,
  sections,
  made_at,
  reached,
}: ReportDocument): string {
  const policy = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(stylesheet).digest("base64")}'; base-uri 'none'; form-action 'none'`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${new Html(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${escapeText(brand)}: ${period.name}</title>
<style>${new Html(stylesheet)}</style>
</head>
<body>
<header>
<p class="brand">${renderName(brand)}</p>
<h1>${period.name}</h1>
<p class="summary">${summary}</p>
<p><a href="#proof">${isProven ? "Proven" : "Not proven"}; as of ${formatDay(reached)}</a></p>
</header>
<main>
${sections.map(renderSection)}</main>
<footer><p>Created ${formatTime(made_at)} by brandapi from this brand's mirror.</p></footer>
</body>
</html>
`.text;
}

function renderSection({ id, title, lead, blocks }: Section): Html {
  return html`<section id="${id}" aria-labelledby="${id}-title">
<h2 id="${id}-title">${title}</h2>
${lead === "" ? "" : html`<p class="lead">${renderSentence(lead)}</p>\n`}${blocks.map(renderHtmlBlock)}</section>
`;
}

function renderHtmlBlock(block: Block): Html {
  if (block.kind === "figures") return renderHtmlKeyFigures(block);
  if (block.kind === "table") return renderHtmlTable(block);
  if (block.kind === "chart") return renderHtmlChart(block);
  return html`<p>${renderSentence(block.text)}</p>\n`;
}

function renderHtmlKeyFigures(block: KeyFigures): Html {
  if (block.is_minor) return html`<p>${keyFiguresLine(block)}</p>\n`;
  const terms = block.figures.map(({ title, value, comparisons }) => {
    const compared = comparisons.map(
      ({ name, change, before }) =>
        html`<span><em>${change.text}</em> from ${before.text}<br>in ${name}</span>\n`,
    );
    return html`<div><dt>${title}</dt><dd><b>${value.text}</b>\n${compared}</dd></div>\n`;
  });
  return html`<h3>${block.title}</h3>
<dl>\n${terms}</dl>\n`;
}

function renderHtmlTable({ title, columns, rows, source }: ReportTable): Html {
  const head = columns.map(
    (column) => html`<th scope="col" class="${columnClass(column)}">${column.title}</th>`,
  );
  const body = rows.map((row) => {
    const cells = columns.map((column, index) => {
      const text = row[column.key]?.text ?? "";
      const content = column.kind === "number" ? text : renderName(text);
      const name = columnClass(column);
      return index === 0
        ? html`<th scope="row" class="${name}">${content}</th>`
        : html`<td class="${name}">${content}</td>`;
    });
    return html`<tr>${cells}</tr>\n`;
  });
  const classes = [columns.length > 4 ? "full" : "half", ...(rows.length > maxRowsKept ? [] : ["keep"])];
  return html`<div class="${classes.join(" ")}"><table>
<caption>${title} <span class="note">from <code>${source}</code></span></caption>
<thead><tr>${head}</tr></thead>
<tbody>
${body}</tbody>
</table></div>
`;
}

function columnClass({ kind, is_spare }: ReportTable["columns"][number]): string {
  return is_spare ? `${kind} spare` : kind;
}

function renderHtmlChart(chart: Chart): Html {
  const key = chart.series.map(
    ({ title }, index) =>
      html`<span><svg class="bar${index}" width="10" height="10" aria-hidden="true"><rect width="10" height="10"/></svg> ${title}</span>`,
  );
  return html`<figure>
<figcaption>${chart.title}</figcaption>
<p class="key">${key}</p>
${drawChart(chart)}</figure>
`;
}

/** A piece of HTML that needs no escaping. */
export class Html {
  constructor(readonly text: string) {}
}

export type HtmlPart = Html | string | number | readonly HtmlPart[];

/** A template tag that builds HTML, as in html`<td>${name}</td>`. Values other than `Html` are escaped. */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlPart[]): Html {
  return new Html(strings.reduce((text, string, index) => text + textOf(values[index - 1] ?? "") + string));
}

/** Renders text from the API, and isolates it so that its writing direction does not affect the rest of the page. */
export function renderName(text: string): Html {
  return html`<bdi>${escapeText(text)}</bdi>`;
}

/** Renders a sentence. Text in backticks is rendered as `<code>`. */
export function renderSentence(text: string): Html {
  const parts = escapeText(text).split("`");
  return html`${parts.map((part, nth) => (nth % 2 === 1 ? html`<code>${part}</code>` : part))}`;
}

function textOf(value: HtmlPart): string {
  if (value instanceof Html) return value.text;
  if (typeof value === "object") return value.map(textOf).join("");
  return String(value).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

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
