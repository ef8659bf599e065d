import type { Style } from "../ui/style.js";
import { renderTable } from "../ui/table.js";
import { escapeText } from "../ui/text.js";
import { pad, shorten, wrap } from "../ui/width.js";
import { timeName } from "./dates.js";
import type { Block, Chart, Document, Figures, Table } from "./document.js";

/** How a terminal shows the report. */
export interface TextLook {
  style: Style;
  /** True if the terminal draws block characters. */
  unicode: boolean;
  width: number;
}

/** Returns the report for a terminal. */
export function writeText(document: Document, look: TextLook): string {
  const { brand, period, summary, proof, sections, made_at } = document;
  const { style, width } = look;
  const title = style.bold(`${escapeText(shorten(brand))}, ${period.name}`);
  const head = [title, ...wrapped(`${summary} ${proof}`.trim(), width)].join("\n");
  const body = sections.map((section) => {
    const lead = section.lead === "" ? [] : wrapped(section.lead, width);
    return [
      style.bold(section.title),
      ...lead,
      ...section.blocks.flatMap((one) => writeBlock(one, look)),
    ].join("\n");
  });
  return `${[head, ...body, `Made ${timeName(made_at)}`].join("\n\n")}\n`;
}

function writeBlock(block: Block, look: TextLook): string[] {
  if (block.kind === "figures") return writeFigures(block, look);
  if (block.kind === "table") return writeTable(block, look);
  if (block.kind === "chart") return writeChart(block, look);
  return wrapped(block.text, look.width);
}

function writeFigures({ title, figures }: Figures, { width }: TextLook): string[] {
  const label = Math.max(...figures.map((one) => one.title.length));
  const room = Math.max(...figures.map(({ value }) => value.text.length));
  const lines = figures.flatMap(({ title: term, value, comparisons }) => {
    const begin = `  ${pad(term, label)}  ${pad(value.text, room, "right")}  `;
    const changes = comparisons.flatMap(({ name, change }) =>
      change.text === "" ? [] : [`${change.text} vs ${name}`],
    );
    return wrapped(changes.join(", "), width - begin.length).map((line, nth) =>
      `${nth === 0 ? begin : " ".repeat(begin.length)}${line}`.trimEnd(),
    );
  });
  return [title, ...lines];
}

function writeTable({ title, columns, rows }: Table, { style, width }: TextLook): string[] {
  const titles = columns.map((column) => column.title);
  const cells = rows.map((row) => columns.map(({ key }) => row[key]?.text ?? ""));
  const titlesOf = (some: Table["columns"]) => some.map((column) => column.title);
  const alignRight = titlesOf(columns.filter(({ kind }) => kind === "number"));
  const spare = titlesOf(columns.filter(({ is_spare }) => is_spare));
  return ["", `${title}:`, renderTable(titles, cells, { style, width, alignRight, spare }), ""];
}

/** Returns the first series as a line of blocks. */
function writeChart({ title, series, axis }: Chart, { style, unicode }: TextLook): string[] {
  const marks = unicode ? [..."▁▂▃▄▅▆▇█"] : [..." .:-=+*#"];
  const values = (series[0]?.values ?? []).map((value) => Math.max(0, value ?? 0));
  const most = Math.max(...values);
  const columns = Math.min(values.length, 40);
  const line = Array.from({ length: columns }, (_, nth) => {
    const [from = 0, to] = [nth, nth + 1].map((one) => Math.floor((one * values.length) / columns));
    const some = values.slice(from, to);
    const mean = some.reduce((sum, value) => sum + value, 0) / some.length;
    return marks[most === 0 ? 0 : Math.round((mean / most) * (marks.length - 1))];
  });
  return [`${title}: ${style.cyan(line.join(""))} up to ${axis(most)}`];
}

function wrapped(text: string, width: number): string[] {
  return wrap(escapeText(shorten(text)), width);
}
