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

/** The maximum number of rows in a table that is kept on one page when printed. */
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
class Html {
  constructor(readonly text: string) {}
}

type HtmlPart = Html | string | number | readonly HtmlPart[];

/** A template tag that builds HTML, as in html`<td>${name}</td>`. Values other than `Html` are escaped. */
function html(strings: TemplateStringsArray, ...values: readonly HtmlPart[]): Html {
  return new Html(strings.reduce((text, string, index) => text + textOf(values[index - 1] ?? "") + string));
}

/** Renders text from the API, isolated so that its writing direction does not affect the rest of the page. */
function renderName(text: string): Html {
  return html`<bdi>${escapeText(text)}</bdi>`;
}

/** Renders a sentence. Text in backticks is rendered as `<code>`. */
function renderSentence(text: string): Html {
  const parts = escapeText(text).split("`");
  return html`${parts.map((part, nth) => (nth % 2 === 1 ? html`<code>${part}</code>` : part))}`;
}

function textOf(value: HtmlPart): string {
  if (value instanceof Html) return value.text;
  if (typeof value === "object") return value.map(textOf).join("");
  return String(value).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** The maximum number of labels below a chart. On narrow screens, every second label is hidden. */
const maxLabels = 7;
/** The minimum number of bar positions in a chart. Without it, a single bar would fill the chart. */
const minSlots = 7;

/**
 * Draws a stacked bar chart. Positions are percentages, so that the stylesheet can resize the chart without scaling its
 * text.
 */
function drawChart(chart: Chart): Html {
  const { labels, series, title } = chart;
  const ticks = chooseTicks(chart);
  const [lowest = 0, highest = 1] = [ticks[0], ticks.at(-1)];
  const y = (value: number) => 100 * (1 - (value - lowest) / (highest - lowest));
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

/** Aligns the first and last labels with the outer edges of their bars, because centered labels could be cut off. */
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

/** Returns about five round numbers to label the axis. Their range includes zero and all values. */
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

/** Color-blind readers can distinguish the two shades of the accent color. */
const stylesheet = `
:root { color-scheme: light dark; --paper: #fff; --ink: #16191d; --soft: #59636e; --line: #e3e6ea; --accent: #0a5ea8; --tint: #9cc4e8 }
@media (prefers-color-scheme: dark) {
  @media not print { :root { --paper: #121518; --ink: #e9ecef; --soft: #a2acb7; --line: #2b3138; --accent: #74b6f3; --tint: #2f5f8c } }
}
* { box-sizing: border-box }
html { background: var(--paper); -webkit-text-size-adjust: 100% }
body {
  margin: 0 auto; max-width: 68rem; padding: clamp(1rem, 4vw, 3.5rem); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", Arial, sans-serif;
  font-variant-numeric: tabular-nums; overflow-wrap: anywhere;
}
h1, h2, h3, p, dl, dd, figure { margin: 0; padding: 0 }
h1 { font-size: 40px; line-height: 1.15 }
h2 { font-size: 26px; line-height: 1.2 }
h3, caption, figcaption { font-size: 16px; line-height: 1.35; font-weight: 600; text-align: left }
a { color: var(--accent) }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 3px }
code { font: inherit; color: var(--ink) }
bdi { display: -webkit-inline-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden; vertical-align: top }
.brand, .lead, .note, .key, dt, thead th, dd span { color: var(--soft) }
.brand, .summary { font-size: 20px }
.note, .key, dt, thead th, dd span { font-size: 13px; font-weight: 400 }
.summary, .lead, section > p { max-width: 46rem }
.summary { margin: .75rem 0; text-wrap: balance }

section { margin-top: 4rem; display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 0 3rem }
section > * { grid-column: 1 / -1; min-width: 0 }
section > .half { grid-column: auto }
.lead { margin-top: .5rem }
section > h3, section > p, section > div, figure { margin-top: 1.75rem }
section > .lead, section > h3 + dl, section > p + p { margin-top: .5rem }

dl { display: flex; flex-wrap: wrap; gap: 1rem 1.5rem; border-top: 1px solid var(--line); padding-top: .75rem }
dl > div { flex: 1 1 9.5rem }
dd b { font-size: 20px; line-height: 1.4; font-weight: 600; white-space: nowrap }
dd b, dd > span { display: block }
/* The text below a number does not widen its column. */
dd > span { width: 0; min-width: 100% }
em { font-style: normal; color: var(--ink); font-weight: 600 }

.key { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem }
.chart { display: block; width: calc(100% - 3.25rem); height: 14rem; margin: 1rem 0 0 3.25rem; overflow: visible }
figure { padding-bottom: 2rem }
.chart text { fill: var(--soft); font-size: 13px }
.grid { stroke: var(--line) }
.bar0 { fill: var(--accent) }
.bar1 { fill: var(--tint) }

table { width: 100%; border-collapse: collapse; font-size: 14px; line-height: 1.35 }
caption { padding-bottom: .5rem }
caption .note { margin-left: .75rem; white-space: nowrap }
th, td { padding: .45rem 0 .45rem 1rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; font-weight: 400 }
th:first-child { padding-left: 0 }
thead th { vertical-align: bottom; overflow-wrap: normal }
tbody th { min-width: 5rem }
.number { text-align: right }
tbody .number, .short { white-space: nowrap }
footer { margin-top: 4rem; padding-top: 1rem; border-top: 1px solid var(--line); color: var(--soft); font-size: 13px }

@media screen and (max-width: 900px) {
  dl > div { flex: 0 1 13rem }
  table { font-size: 13px }
  th, td { padding-left: .5rem }
}
@media screen and (max-width: 640px) {
  h1 { font-size: 28px }
  h2 { font-size: 20px }
  .brand, .summary { font-size: 16px }
  section { margin-top: 3rem }
  .spare { display: none }
  dl > div { flex-basis: calc(50% - .75rem) }
  .chart { height: 9rem }
  th, td { padding-left: .4rem }
  tbody th { min-width: 2.5rem }
}

@page { margin: 12mm 15mm }
@media print {
  body { padding: 0; max-width: none; font-size: 10pt }
  h1 { font-size: 20pt }
  h2 { font-size: 14pt }
  h3, caption, figcaption { font-size: 10.5pt }
  .brand, .summary { font-size: 12pt }
  .summary, .lead, section > p { max-width: none }
  .note, .key, dt, thead th, dd span, .chart text, footer { font-size: 7.5pt }
  section, footer { margin-top: 7mm }
  section { display: block; orphans: 1; widows: 1 }
  p { orphans: 2; widows: 2 }
  figure { padding-bottom: 6mm }
  section > h3, section > p, section > div, figure { margin-top: 6mm }
  section > .lead, section > h3 + dl, section > p + p { margin-top: 2mm }
  section > .half { display: inline-block; width: 48%; vertical-align: top }
  section > .half:nth-of-type(odd) { margin-right: 3% }
  dl { gap: 2mm 3mm; padding-top: 2mm }
  dl > div { flex-basis: 7rem }
  dd b { font-size: 12pt }
  .chart { height: 28mm; margin-top: 3mm; print-color-adjust: exact; -webkit-print-color-adjust: exact }
  .key svg { print-color-adjust: exact; -webkit-print-color-adjust: exact }
  table { font-size: 8pt }
  th, td { padding: .12rem 0 .12rem .6rem }
  a { color: inherit; text-decoration: none }
  h2, h3, .lead, .key, caption, thead, figcaption { break-after: avoid }
  figure, tr, dl, .keep, #proof { break-inside: avoid }
  footer { break-before: avoid }
  tbody tr:nth-child(-n+2):not(:last-child), tbody tr:nth-last-child(2), tbody tr:nth-last-child(3) { break-after: avoid }
}
`;
