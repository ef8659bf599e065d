import { expect, test } from "vitest";
import {
  type Block,
  type Chart,
  type ColumnSpec,
  createTable,
  type KeyFigures,
  paragraph,
  type ReportDocument,
} from "../../src/report/document.js";
import { FormattedValue, formatAmount, formatChange } from "../../src/report/formatting.js";
import { renderPage } from "../../src/report/page.js";
import { choosePeriod } from "../../src/report/period.js";
import { renderText } from "../../src/report/plain-text.js";
import { createStyle } from "../../src/util/terminal.js";
import { testDeps } from "../support/program.js";
import { rowsOf, sectionOf, textOf } from "./page-reader.js";

function documentOf(blocks: Block[], fields: Partial<ReportDocument> = {}): ReportDocument {
  const reached = "2026-11-22T17:00:00.000Z";
  return {
    brand: "Fjell & Fern",
    period: choosePeriod({ since: undefined, until: undefined }, Date.parse(reached), []),
    summary: "Net is up.",
    is_proven: true,
    proof: "Orders are proven.",
    sections: [{ id: "one", title: "Section one", lead: "Run `brandapi status` first.", blocks }],
    made_at: "2026-11-23T04:57:00.000Z",
    reached,
    ...fields,
  };
}

const plain = createStyle(testDeps().stdout, {}, {});
const textReport = (document: ReportDocument, width = 80) =>
  renderText(document, { style: plain, width, completeCommands: (text) => text });
const blocksAsText = (blocks: Block[]) => textReport(documentOf(blocks)).split("first.\n")[1];
const pageSection = (...blocks: Block[]) => sectionOf(renderPage(documentOf(blocks)), "one");

const figures: KeyFigures = {
  kind: "figures",
  title: "EUR",
  is_minor: false,
  figures: [
    {
      title: "Net",
      value: formatAmount(1_200, "EUR"),
      comparisons: [
        { name: "Oct 2026", change: formatChange(1_200, 1_000), before: formatAmount(1_000, "EUR") },
        { name: "Nov 2025", change: formatChange(1_200, 0), before: formatAmount(0, "EUR") },
        { name: "Nov 2024", change: formatChange(1_200, 2_400), before: formatAmount(2_400, "EUR") },
      ],
    },
    { title: "Cancelled", value: new FormattedValue(3), comparisons: [] },
  ],
};

/** Creates a table with a second column that is hidden on narrow screens. */
function tableOf(rows: number, columns: number): Block {
  const names = Array.from({ length: columns }, (_, n) => `c${n}`);
  return createTable(
    "Orders",
    "orders",
    Array.from({ length: rows }, (_, n) => n),
    names.map((name, n): ColumnSpec<number> => {
      const kind = n === 0 ? "name" : "number";
      const value = (row: number) => new FormattedValue(row * 10 + n);
      const column = [name, name.toUpperCase(), kind, value] as const;
      return n === 1 ? [...column, "spare"] : [...column];
    }),
  );
}

const chartOf = (net: (number | null)[], refunds: (number | null)[] = net.map(() => 0)): Chart => ({
  kind: "chart",
  title: "Net by day",
  labels: net.map((_, n) => `${n + 1} Nov`),
  series: [
    { title: "net", values: net },
    { title: "refunds", values: refunds },
  ],
});

test("the text report contains the title, the summary, each section and the creation time", () => {
  const document = documentOf([paragraph("A paragraph.")]);
  document.sections.push({ id: "two", title: "Section two", lead: "", blocks: [paragraph("The end.")] });
  expect(textReport(document)).toBe(
    "Fjell & Fern, November 2026\nNet is up. Orders are proven.\n\n" +
      "Section one\nRun `brandapi status` first.\nA paragraph.\n\n" +
      "Section two\nThe end.\n\nCreated 23 Nov 2026, 04:57 UTC\n",
  );
  expect(textReport(documentOf([], { summary: "" }))).toContain("2026\nOrders are proven.\n");
  expect(textReport(documentOf([paragraph("one two three four five six seven")]), 24)).toContain(
    "\none two three four five\nsix seven\n",
  );
});

test("the text report aligns key figures in columns, and omits comparisons without a value", () => {
  expect(blocksAsText([figures])).toMatch(
    /^EUR\n {2}Net {8}1,200\.00 {2}\+20\.0% vs Oct 2026, \u221250\.0% vs Nov 2024\n {2}Cancelled {9}3\n/,
  );
  expect(blocksAsText([{ ...figures, is_minor: true }])).toMatch(/^EUR: net 1,200\.00, cancelled 3\.\n/);
});

test("the text report right-aligns numbers, and omits less important columns if a table is too wide", () => {
  expect(blocksAsText([tableOf(2, 3)])).toMatch(
    /^\nOrders:\nC0 {2}C1 {2}C2\n0 {4}1 {3}2\n10 {2}11 {2}12\n\n/,
  );
  expect(textReport(documentOf([tableOf(2, 3)]), 8)).toContain("\nC0  C2\n0    2\n10  12\n");
});

test("the text report draws net amounts as bars from zero to the maximum", () => {
  const text = blocksAsText([chartOf([0, 1_000, 6_500, 7_000, null, -3_000])]);
  expect(text).toContain("Net by day: ▁▂█" + "█▁▁ up to 7K");
  expect(blocksAsText([chartOf([0, 0])])).toContain("Net by day: ▁▁ up to 0\n");
});

test("the report page contains the title, the summary, the link to the proof and the creation time", () => {
  const page = renderPage(documentOf([paragraph("See `brandapi status`, <b> and 'c'.")]));
  expect(page).toContain("<title>Fjell &#38; Fern: November 2026</title>");
  expect(page).toContain('<p class="brand"><bdi>Fjell &#38; Fern</bdi></p>');
  expect(page).toContain('<a href="#proof">Proven; as of 22 Nov 2026</a>');
  expect(page).toContain('<p class="summary">Net is up.</p>');
  expect(page).toContain("Created 23 Nov 2026, 04:57 UTC by brandapi");
  expect(page).toContain('<p class="lead">Run <code>brandapi status</code> first.</p>');
  expect(page).toContain("<p>See <code>brandapi status</code>, &#60;b&#62; and &#39;c&#39;.</p>");
  expect(renderPage(documentOf([], { is_proven: false }))).toContain(">Not proven; as of");
  const [section] = documentOf([]).sections;
  const noLead = renderPage(documentOf([], { sections: section ? [{ ...section, lead: "" }] : [] }));
  expect(sectionOf(noLead, "one")).not.toContain("<p");
});

test("the report page lists each key figure with its comparisons, and summarizes a minor currency in one sentence", () => {
  const section = pageSection(figures);
  expect(textOf(section)).toContain(
    "EUR Net 1,200.00 +20.0% from 1,000.00 in Oct 2026 from 0.00 in Nov 2025 \u221250.0% from 2,400.00 in Nov 2024 Cancelled 3",
  );
  expect(pageSection({ ...figures, is_minor: true })).toContain("<p>EUR: net 1,200.00, cancelled 3.</p>");
});

test("the report page marks the first cell of each row as its header, and hides less important columns on phones", () => {
  const section = pageSection(tableOf(2, 3));
  expect(rowsOf(section)).toEqual([
    ["C0", "C1", "C2"],
    ["0", "1", "2"],
    ["10", "11", "12"],
  ]);
  expect(section).toContain(
    '<th scope="row" class="name"><bdi>10</bdi></th><td class="number spare">11</td>',
  );
  expect(section).toContain('<th scope="col" class="number">C2</th>');
  expect(section).toContain("from <code>orders</code>");
});

test.each([
  [4, 14, "half of the width and cannot be split across printed pages", "half keep"],
  [5, 14, "the full width and cannot be split across printed pages", "full keep"],
  [4, 15, "half of the width and can be split across printed pages", "half"],
])("on the report page, a table with %i columns and %i rows takes up %s", (columns, rows, _, classes) => {
  expect(pageSection(tableOf(rows, columns))).toContain(`<div class="${classes}">`);
});

const axisOf = (chart: Chart) =>
  [...pageSection(chart).matchAll(/<text x="-8"[^>]*>([^<]*)</g)].map(([, label]) => label);

test.each([
  [[25], [0], ["0", "10", "20", "30"]],
  [[20], [0], ["0", "5", "10", "15", "20"]],
  [[8_000], [0], ["0", "2K", "4K", "6K", "8K"]],
  [[4], [0], ["0", "1", "2", "3", "4"]],
  [
    [30, 20],
    [30, 20],
    ["0", "20", "40", "60"],
  ],
  [
    [-30, 10],
    [0, 0],
    ["\u221230", "\u221220", "\u221210", "0", "10"],
  ],
  [[-30], [50], ["\u221240", "\u221220", "0", "20", "40", "60"]],
  [[0], [0], ["0", "0.5"]],
  [
    [null, 4],
    [null, 0],
    ["0", "1", "2", "3", "4"],
  ],
])(
  "the axis of a chart with the net amounts %j and the refunds %j has the labels %j",
  (net, refunds, labels) => {
    expect(axisOf(chartOf(net, refunds))).toEqual(labels);
  },
);

/** Returns the values of the attributes in `names` for each matching element in a chart. */
const shapesOf = (chart: Chart, element: RegExp, names: readonly string[]) =>
  [...pageSection(chart).matchAll(element)].map(([tag]) =>
    names.map((name) => new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1]),
  );

test("a chart stacks refunds on top of net amounts, with bars that are at most 10% as wide as the chart", () => {
  const bars = /<rect class="bar\d" .*?>/g;
  expect(
    shapesOf(chartOf([20, null, -10], [10, 5, 0]), bars, ["class", "x", "y", "width", "height"]),
  ).toEqual([
    ["bar0", "2.14%", "25%", "10%", "50%"],
    ["bar1", "2.14%", "0%", "10%", "25%"],
    ["bar0", "16.43%", "75%", "10%", "0%"],
    ["bar1", "16.43%", "62.5%", "10%", "12.5%"],
    ["bar0", "30.71%", "75%", "10%", "25%"],
    ["bar1", "30.71%", "100%", "10%", "0%"],
  ]);
  expect(shapesOf(chartOf(Array(14).fill(1)), bars, ["width"])[0]).toEqual(["5%"]);
});

test("a chart's legend has the same colors as the bars", () => {
  expect(shapesOf(chartOf([20]), /<svg class="bar.*?>/g, ["class"])).toEqual([["bar0"], ["bar1"]]);
});

test("a chart on the report page has at most seven labels, and every second label is hidden on a phone", () => {
  const labels = /<text [^>]*dy="1.7em".*?>/g;
  const labelsOf = (count: number) =>
    shapesOf(chartOf(Array(count).fill(1)), labels, ["class", "x", "text-anchor"]);
  expect(labelsOf(1)).toEqual([[undefined, "2.14%", "start"]]);
  expect(labelsOf(7).map(([spare]) => spare === "spare")).toEqual([
    false,
    true,
    false,
    true,
    false,
    true,
    false,
  ]);
  expect(labelsOf(7).slice(-2)).toEqual([
    ["spare", "78.57%", "middle"],
    [undefined, "97.86%", "end"],
  ]);
  expect(labelsOf(8).map(([spare]) => spare === "spare")).toEqual([false, true, false, true]);
  expect(labelsOf(15)).toHaveLength(5);
});
