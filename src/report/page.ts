import { createHash } from "node:crypto";
import { drawChart } from "./charts.js";
import type { Block, Chart, KeyFigures, ReportDocument, ReportTable, Section } from "./document.js";
import { Html, html, renderName, renderSentence } from "./html-template.js";
import { formatDay, formatTime } from "./text-format.js";

/** The two shades of the accent colour can be told apart by colour-blind readers. */
const stylesheet = `
:root{color-scheme:light dark;--paper:#fff;--ink:#16191d;--soft:#59636e;--line:#e3e6ea;--accent:#0a5ea8;--tint:#9cc4e8}
@media (prefers-color-scheme:dark){@media not print{:root{--paper:#121518;--ink:#e9ecef;--soft:#a2acb7;--line:#2b3138;--accent:#74b6f3;--tint:#2f5f8c}}}
*{box-sizing:border-box}
html{background:var(--paper);-webkit-text-size-adjust:100%}
body{margin:0 auto;max-width:68rem;padding:clamp(1rem,4vw,3.5rem);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",Arial,sans-serif;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
h1,h2,h3,p,dl,dd,figure{margin:0;padding:0}
h1{font-size:40px;line-height:1.15}
h2{font-size:26px;line-height:1.2}
h3,caption,figcaption{font-size:16px;line-height:1.35;font-weight:600;text-align:left}
a{color:var(--accent)}
:focus-visible{outline:2px solid var(--accent);outline-offset:3px}
code{font:inherit;color:var(--ink)}
bdi{display:-webkit-inline-box;-webkit-box-orient:vertical;-webkit-line-clamp:2;overflow:hidden;vertical-align:top}
.brand,.lead,.note,.key,dt,thead th,dd span{color:var(--soft)}
.brand,.summary{font-size:20px}
.note,.key,dt,thead th,dd span{font-size:13px}
.summary,.lead,.note,section>p{max-width:46rem}
.summary{margin:.75rem 0}
section{margin-top:4rem;display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,26rem),1fr));gap:0 3rem}
section>*{grid-column:1/-1;min-width:0}
section>.half{grid-column:auto}
.lead{margin-top:.5rem}
section>h3,section>p,section>div,section>dl,figure{margin-top:1.75rem}
section>.lead,section>h3+dl,.note,section>p+p,dl+p{margin-top:.5rem}
dl{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,13.5rem),1fr));gap:1rem 1.5rem;border-top:1px solid var(--line);padding-top:.75rem}
dd b{display:block;font-size:24px;line-height:1.25;font-weight:600}
dd>span{display:block}
em{font-style:normal;color:var(--ink);font-weight:600}
.key{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem}
.chart{display:block;width:100%;max-width:45rem;height:auto;margin-top:.5rem}
.chart text{fill:var(--soft);font-size:13px}
.grid{stroke:var(--line)}
.bar0{fill:var(--accent)}
.bar1{fill:var(--tint)}
table{width:100%;border-collapse:collapse;font-size:14px;line-height:1.35}
caption{padding-bottom:.5rem}
th,td{padding:.45rem 0 .45rem 1rem;border-bottom:1px solid var(--line);text-align:left;vertical-align:top;font-weight:400}
th:first-child{padding-left:0}
thead th{vertical-align:bottom;overflow-wrap:normal}
tbody th{min-width:5rem}
.number{text-align:right}
tbody .number,.nowrap{white-space:nowrap}
.short{overflow-wrap:normal}
footer{margin-top:4rem;padding-top:1rem;border-top:1px solid var(--line);color:var(--soft);font-size:13px}
@media screen and (max-width:640px){h1{font-size:28px}h2{font-size:20px}.brand,.summary{font-size:16px}section{margin-top:3rem}.spare{display:none}.chart text{font-size:24px}table{font-size:13px}th,td{padding-left:.5rem}tbody th{min-width:2.5rem}}
@page{margin:15mm}
@media print{body{padding:0;max-width:none;font-size:10pt}h1{font-size:22pt}h2{font-size:14pt}dd b{font-size:13pt}section{margin-top:8mm}h2,h3,.lead,.key,caption,thead,figcaption{break-after:avoid}figure,tr,dl{break-inside:avoid}table{font-size:8pt}th,td{padding:.3rem 0 .3rem .6rem}a{color:inherit;text-decoration:none}.chart{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
`;

/** Renders the report as one HTML file without scripts or external resources; its Content-Security-Policy forbids them. */
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
<title>${brand}: ${period.name}</title>
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
${lead === "" ? "" : html`<p class="lead">${renderSentence(lead)}</p>\n`}${blocks.map(renderBlock)}</section>
`;
}

function renderBlock(block: Block): Html {
  if (block.kind === "figures") return renderKeyFigures(block);
  if (block.kind === "table") return renderTable(block);
  if (block.kind === "chart") return renderChart(block);
  return html`<p>${renderSentence(block.text)}</p>\n`;
}

function renderKeyFigures({ title, figures }: KeyFigures): Html {
  const terms = figures.map(({ title: term, value, comparisons }) => {
    const compared = comparisons.map(
      (one) =>
        html`<span><em>${one.change.text}</em> vs ${one.name} <span class="nowrap">(${one.before.text})</span></span>\n`,
    );
    return html`<div><dt>${term}</dt><dd><b>${value.text}</b>\n${compared}</dd></div>\n`;
  });
  return html`<h3>${title}</h3>
<dl>\n${terms}</dl>\n`;
}

function renderTable({ title, columns, rows, source }: ReportTable): Html {
  const head = columns.map(
    (column) => html`<th scope="col" class="${columnClass(column)}">${column.title}</th>`,
  );
  const body = rows.map((row) => {
    const cells = columns.map((column, nth) => {
      const text = row[column.key]?.text ?? "";
      const shown = column.kind === "number" ? text : renderName(text);
      const kind = columnClass(column);
      return nth === 0
        ? html`<th scope="row" class="${kind}">${shown}</th>`
        : html`<td class="${kind}">${shown}</td>`;
    });
    return html`<tr>${cells}</tr>\n`;
  });
  return html`<div class="${columns.length > 4 ? "all" : "half"}"><table>
<caption>${title}</caption>
<thead><tr>${head}</tr></thead>
<tbody>
${body}</tbody>
</table>
<p class="note">from <code>${source}</code></p></div>
`;
}

function columnClass({ kind, is_spare }: ReportTable["columns"][number]): string {
  return is_spare ? `${kind} spare` : kind;
}

function renderChart(chart: Chart): Html {
  const key = chart.series.map(
    ({ title }, nth) =>
      html`<span><svg class="bar${nth}" width="10" height="10" aria-hidden="true"><rect width="10" height="10"/></svg> ${title}</span>`,
  );
  return html`<figure>
<figcaption>${chart.title}</figcaption>
<p class="key">${key}</p>
${drawChart(chart)}</figure>
`;
}
