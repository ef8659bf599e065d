import { escapeText, pad, type Style, wrap } from "../util/terminal.js";
import { renderTable } from "../util/terminal-table.js";
import {
  type Block,
  type Chart,
  type KeyFigures,
  keyFiguresLine,
  type ReportDocument,
  type ReportTable,
} from "./document.js";
import { formatCompact, formatTime } from "./formatting.js";

interface TextOptions {
  style: Style;
  width: number;
  /** Completes the commands that a sentence suggests. */
  completeCommands: (text: string) => string;
}

export function renderText(document: ReportDocument, options: TextOptions): string {
  const { brand, period, summary, proof, sections, made_at } = document;
  const title = options.style.bold(escapeText(`${brand}, ${period.name}`));
  const head = `${title}\n${wrapText(`${summary} ${proof}`.trim(), options)}`;
  const body = sections.map(({ title: heading, lead, blocks }) => {
    const rendered = blocks.flatMap((block) => renderBlock(block, options));
    return [options.style.bold(heading), ...(lead === "" ? [] : [wrapText(lead, options)]), ...rendered].join(
      "\n",
    );
  });
  return `${[head, ...body, `Created ${formatTime(made_at)}`].join("\n\n")}\n`;
}

function renderBlock(block: Block, options: TextOptions): string[] {
  if (block.kind === "figures") return renderKeyFigures(block, options);
  if (block.kind === "table") return [renderReportTable(block, options)];
  return [block.kind === "chart" ? renderChart(block, options) : wrapText(block.text, options)];
}

function wrapText(text: string, { width, completeCommands }: TextOptions): string {
  return wrap(completeCommands(escapeText(text)), width);
}

function renderKeyFigures(block: KeyFigures, options: TextOptions): string[] {
  const { title, figures } = block;
  if (block.is_minor) return [wrapText(keyFiguresLine(block), options)];
  const labelWidth = Math.max(...figures.map((one) => one.title.length));
  const valueWidth = Math.max(...figures.map(({ value }) => value.text.length));
  const lines = figures.map(({ title: term, value, comparisons }) => {
    const compared = comparisons.filter(({ change }) => change.text !== "");
    const changes = compared.map(({ name, change }) => `${change.text} vs ${name}`).join(", ");
    return `  ${pad(term, labelWidth)}  ${pad(value.text, valueWidth, "right")}  ${changes}`.trimEnd();
  });
  return [title, ...lines];
}

function renderReportTable({ title, columns, rows }: ReportTable, { style, width }: TextOptions): string {
  const titles = columns.map((column) => column.title);
  const cells = rows.map((row) => columns.map(({ key }) => row[key]?.text ?? ""));
  const titlesOf = (some: ReportTable["columns"]) => some.map((column) => column.title);
  const alignRight = titlesOf(columns.filter(({ kind }) => kind === "number"));
  const spare = titlesOf(columns.filter(({ is_spare }) => is_spare));
  return `\n${title}:\n${renderTable(titles, cells, { style, width, rightAligned: alignRight, optionalColumns: spare })}\n`;
}

/** Renders the first series of a chart as a line of block characters. */
function renderChart({ title, series }: Chart, { style }: TextOptions): string {
  const values = (series[0]?.values ?? []).map((value) => Math.max(0, value ?? 0));
  const highest = Math.max(...values);
  const blocks = values.map((value) => "▁▂▃▄▅▆▇█".charAt(Math.round((value / (highest || 1)) * 7)));
  return `${title}: ${style.cyan(blocks.join(""))} up to ${formatCompact(highest)}`;
}
