import { createHash } from "node:crypto";
import { dayName, timeName } from "./dates.js";
import type { Block, Chart, Document, Figures, Section, Table } from "./document.js";
import { drawChart } from "./draw.js";
import { Html, html, name, sentence } from "./html.js";
import { look } from "./look.js";

/** Returns the report as a page of its own: it asks for nothing and runs nothing, and its policy says so. */
export function writeHtml({ brand, period, summary, proof, sections, made_at, reached }: Document): string {
  const policy = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(look).digest("base64")}'; base-uri 'none'; form-action 'none'`;
  const proven = proof.startsWith("Not proven") ? "Not proven" : "Proven";
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${new Html(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${brand}: ${period.name}</title>
<style>${new Html(look)}</style>
</head>
<body>
<header>
<p class="brand">${name(brand)}</p>
<h1>${period.name}</h1>
<p class="summary">${summary}</p>
<p><a href="#proof">${proven}; read up to ${dayName(reached)}</a></p>
</header>
<main>
${sections.map(writeSection)}</main>
<footer><p>Made ${timeName(made_at)} by brandapi, from this brand's mirror alone.</p></footer>
</body>
</html>
`.text;
}

function writeSection({ id, title, lead, blocks }: Section): Html {
  return html`<section id="${id}" aria-labelledby="${id}-title">
<h2 id="${id}-title">${title}</h2>
${lead === "" ? "" : html`<p class="lead">${sentence(lead)}</p>\n`}${blocks.map(writeBlock)}</section>
`;
}

function writeBlock(block: Block): Html {
  if (block.kind === "figures") return writeFigures(block);
  if (block.kind === "table") return writeTable(block);
  if (block.kind === "chart") return writeChart(block);
  return html`<p>${sentence(block.text)}</p>\n`;
}

function writeFigures({ title, figures }: Figures): Html {
  const terms = figures.map(({ title: term, value, comparisons }) => {
    const compared = comparisons.map(
      (one) =>
        html`<span><em>${one.change.text}</em> vs ${one.name} <span class="whole">(${one.before.text})</span></span>\n`,
    );
    return html`<div><dt>${term}</dt><dd><b>${value.text}</b>\n${compared}</dd></div>\n`;
  });
  return html`<h3>${title}</h3>
<dl>\n${terms}</dl>\n`;
}

function writeTable({ title, columns, rows, source }: Table): Html {
  const head = columns.map((column) => html`<th scope="col" class="${classOf(column)}">${column.title}</th>`);
  const body = rows.map((row) => {
    const cells = columns.map((column, nth) => {
      const text = row[column.key]?.text ?? "";
      const shown = column.kind === "number" ? text : name(text);
      const kind = classOf(column);
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

function classOf({ kind, is_spare }: Table["columns"][number]): string {
  return is_spare ? `${kind} spare` : kind;
}

function writeChart(chart: Chart): Html {
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
