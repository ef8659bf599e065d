import { createHash } from "node:crypto";
import { counted } from "../lib/counted.js";
import { dayName, timeName } from "./dates.js";
import type { Block, Cell, Chart, Column, Document, Figures, List, Section, Table } from "./document.js";
import { drawChart } from "./draw.js";
import { Html, html, name, type Piece, sentence } from "./html.js";
import { look } from "./look.js";

/** Returns the report as a page of its own: it asks for nothing and runs nothing, and its policy says so. */
export function writeHtml({ brand, period, summary, proof, sections, made_at, reached }: Document): string {
  const policy = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(look).digest("base64")}'; base-uri 'none'; form-action 'none'`;
  const isProven = !proof.startsWith("Not proven");
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
<p><a href="#proof">${isProven ? "Proven" : "Not proven"}; read up to ${dayName(reached)}</a></p>
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
  if (block.kind === "list") return writeList(block);
  return html`<p${block.is_note ? html` class="note"` : ""}>${sentence(block.text)}</p>\n`;
}

function writeFigures({ title, figures }: Figures): Html {
  const compared = (one: Figures["figures"][number]) =>
    one.comparisons.map(
      ({ title: days, change, before }) =>
        html`<span><em>${change.text}</em> vs ${days} (${before.text})</span>\n`,
    );
  return html`${title === "" ? "" : html`<h3>${title}</h3>\n`}<dl class="figures">
${figures.map((one) => html`<div><dt>${one.title}</dt><dd><b>${one.value.text}</b>\n${compared(one)}${one.note ? html`<span>${one.note}</span>` : ""}</dd></div>\n`)}</dl>
`;
}

function writeTable({ title, columns, rows, source, more = 0, is_folded }: Table): Html {
  const caption = html`<caption${is_folded ? html` class="unseen"` : ""}>${title}</caption>`;
  const from = html`<p class="note">from <code>${source}</code>${more > 0 ? `, which has ${more} more` : ""}</p>`;
  const table = html`<table>
${caption}
<thead><tr>${columns.map((column) => html`<th scope="col"${classOf(column)}>${column.title}</th>`)}</tr></thead>
<tbody>
${rows.map((row) => html`<tr>${columns.map((column, nth) => writeCell(column, row[nth], nth === 0))}</tr>\n`)}</tbody>
</table>
${from}
`;
  if (is_folded) return html`<details><summary>${title}</summary>\n${table}</details>\n`;
  return html`<div class="${columns.length > 4 ? "whole" : "half"}">${table}</div>\n`;
}

function writeCell(column: Column, cell: Cell | undefined, isFirst: boolean): Html {
  const text: Piece = column.kind === "number" ? (cell?.text ?? "") : name(cell?.text ?? "");
  return isFirst
    ? html`<th scope="row"${classOf(column)}>${text}</th>`
    : html`<td${classOf(column)}>${text}</td>`;
}

function classOf({ kind, is_spare }: Column): Html {
  const names = [...(kind === "name" ? [] : [kind]), ...(is_spare ? ["spare"] : [])];
  return names.length === 0 ? html`` : html` class="${names.join(" ")}"`;
}

function writeChart(chart: Chart): Html {
  const mark = chart.shape === "lines" ? html`<path d="M0 5h18"/>` : html`<rect width="10" height="10"/>`;
  const key = chart.series.map(
    (one, nth) =>
      html`<span><svg class="${chart.shape === "lines" ? "line" : "bar"}${nth}" width="18" height="10" aria-hidden="true">${mark}</svg> ${one.title}</span>`,
  );
  return html`<figure>
<figcaption>${chart.title}</figcaption>
<p class="key">${key}</p>
${drawChart(chart)}</figure>
`;
}

function writeList({ title, items, more = 0 }: List): Html {
  const list =
    items.length === 0
      ? html`<p>None.</p>`
      : html`<ul>${items.map(({ text }) => html`<li>${name(text)}</li>`)}</ul>`;
  return html`<div class="half"><h3>${title}</h3>\n${list}${more > 0 ? html`<p class="note">${counted(more, "more")}</p>` : ""}</div>\n`;
}
