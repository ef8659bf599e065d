import type { Style } from "../ui/style.js";
import { renderTable } from "../ui/table.js";
import { escapeText } from "../ui/text.js";
import { pad, shorten, wrap } from "../ui/width.js";
import { timeName } from "./dates.js";
import type { Block, Chart, Document, Figures, List, Table } from "./document.js";

/** How a terminal shows the report. */
export interface TextLook {
  style: Style;
  /** True if the terminal draws block characters. */
  unicode: boolean;
  width: number;
}

/** Returns the report for a terminal, without its folded tables. */
export function writeText(document: Document, look: TextLook): string {
  const { brand, period, summary, proof, sections, made_at } = document;
  const { style, width } = look;
  const head = [
    style.bold(`${escapeText(shorten(brand))}, ${period.name}`),
    ...wrapped(`${summary} ${proof}`.trim(), width),
  ];
  const body = sections.map(({ title, lead, blocks }) =>
    [
      style.bold(title),
      ...(lead === "" ? [] : wrapped(lead, width)),
      ...blocks.flatMap((block) => writeBlock(block, look)),
    ].join("\n"),
  );
  return `${[head.join("\n"), ...body, `Made ${timeName(made_at)}`].join("\n\n")}\n`;
}

function writeBlock(block: Block, look: TextLook): string[] {
  if (block.kind === "text") return wrapped(block.text, look.width);
  if (block.kind === "figures") return writeFigures(block, look);
  if (block.kind === "chart") return writeChart(block, look);
  if (block.kind === "list") return writeList(block, look);
  return block.is_folded || block.rows.length === 0 ? [] : writeTable(block, look);
}

function writeFigures({ title, figures }: Figures, { width }: TextLook): string[] {
  const label = Math.max(...figures.map((one) => one.title.length));
  const value = Math.max(...figures.map((one) => one.value.text.length));
  return [
    ...(title === "" ? [] : [title]),
    ...figures.flatMap((one) => {
      const changes = one.comparisons.map(({ title: days, change }) =>
        change.text === "" ? "" : `${change.text} vs ${days}`,
      );
      const rest = [...changes, one.note ?? ""].filter((text) => text !== "").join(", ");
      const line = `  ${pad(one.title, label)}  ${pad(one.value.text, value, "right")}`;
      return hanging(`${line}  `, rest, width);
    }),
  ];
}

function writeTable({ title, columns, rows, more = 0, source }: Table, { style, width }: TextLook): string[] {
  const table = renderTable(
    columns.map((column) => column.title),
    rows.map((row) => row.map(({ text }) => text)),
    {
      style,
      width,
      alignRight: columns.filter(({ kind }) => kind === "number").map((column) => column.title),
      spare: columns.filter((column) => column.is_spare).map((column) => column.title),
    },
  );
  return ["", `${title}:`, table, ...(more > 0 ? [`and ${more} more in \`${source}\``] : [])];
}

/** Returns the first series as a line of blocks. */
function writeChart({ title, series, axis }: Chart, { style, unicode }: TextLook): string[] {
  const marks = unicode ? [..."▁▂▃▄▅▆▇█"] : [..." .:-=+*#"];
  const values = (series[0]?.values ?? []).map((value) => Math.max(0, value ?? 0));
  const most = Math.max(...values);
  const columns = Math.min(values.length, 40);
  const line = Array.from({ length: columns }, (_, nth) => {
    const some = values.slice(...[nth, nth + 1].map((one) => Math.floor((one * values.length) / columns)));
    const mean = some.reduce((sum, value) => sum + value, 0) / some.length;
    return marks[most === 0 ? 0 : Math.round((mean / most) * (marks.length - 1))];
  });
  return [`${title}: ${style.cyan(line.join(""))} up to ${axis(most)}`];
}

function writeList({ title, items, more = 0 }: List, { width }: TextLook): string[] {
  const lines = items.flatMap(({ text }) => hanging("- ", text, width));
  return [
    "",
    `${title}:`,
    ...(lines.length === 0 ? ["none"] : lines),
    ...(more > 0 ? [`and ${more} more`] : []),
  ];
}

/** Wraps a text behind a beginning; its other lines are indented as far. */
function hanging(begin: string, text: string, width: number): string[] {
  const lines = wrapped(text, width - begin.length);
  return lines.map((line, nth) => `${nth === 0 ? begin : " ".repeat(begin.length)}${line}`.trimEnd());
}

function wrapped(text: string, width: number): string[] {
  return wrap(escapeText(shorten(text)), width);
}
