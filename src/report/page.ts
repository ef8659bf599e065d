import { createHash } from "node:crypto";
import { escapeText } from "../util/terminal-text.js";
import { drawChart } from "./charts.js";
import {
  type Block,
  type Chart,
  type KeyFigures,
  keyFiguresLine,
  type ReportDocument,
  type ReportTable,
  type Section,
} from "./document.js";
import { formatDay, formatTime } from "./formatting.js";
import { Html, html, renderName, renderSentence } from "./html-template.js";
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
