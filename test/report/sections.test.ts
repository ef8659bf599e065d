import { expect, test } from "vitest";
import type { Chart, KeyFigures, ReportDocument, ReportTable } from "../../src/report/document.js";
import { createReport } from "../../src/report/sales-report.js";
import { saveCoverage } from "../../src/store/coverage.js";
import type { Mirror } from "../../src/store/database.js";
import { makeMirror, writeRead } from "../support/mirror.js";
import { orderAt } from "../support/records.js";

type Kinds = { chart: Chart; figures: KeyFigures; table: ReportTable; text: { kind: "text"; text: string } };

/** Creates a report on a period. `since` and `until` are days such as `2026-10-31`. */
function reportOf(mirror: Mirror, since?: string, until?: string): ReportDocument {
  const requested = {
    since: since === undefined ? undefined : Date.parse(since),
    until: until === undefined ? undefined : Date.parse(until),
  };
  for (const { name } of mirror.selectRows<{ name: string }>("SELECT name FROM temp.sqlite_schema"))
    mirror.db.exec(`DROP TABLE temp."${name}"`);
  return createReport(mirror, requested, { now: Date.parse("2026-12-24"), runningCommand: null });
}

function blocksOf<Kind extends keyof Kinds>(report: ReportDocument, id: string, kind: Kind): Kinds[Kind][] {
  const blocks = report.sections.find((section) => section.id === id)?.blocks ?? [];
  return blocks.filter((block) => block.kind === kind) as unknown as Kinds[Kind][];
}

const leadOf = (report: ReportDocument, id: string) => report.sections.find((one) => one.id === id)?.lead;

/** Creates an order in EUR, with `name` as the ID of both the order and its host. */
function order(name: string, day: string, total: number, fields: Record<string, unknown> = {}) {
  const host = { id: name, username: name, first_name: null, last_name: null };
  return orderAt(name, Date.parse(`${day}T12:00:00.000Z`), { total_amount: total, host, ...fields });
}

const read = (mirror: Mirror, at: string, orders: object[]) =>
  writeRead(mirror, "orders", orders, { at, whole: true });

const texts = ({ rows }: ReportTable, ...keys: string[]) =>
  rows.map((row) => keys.map((key) => row[key]?.text ?? ""));

test("the report compares each key figure with last month and last year, but states no percentage for zero refunds or cancellations", async () => {
  const mirror = await makeMirror();
  read(mirror, "2026-12-15T00:00:00.000Z", [
    order("a", "2026-11-02", 120, { refund_amount: 0 }),
    order("b", "2026-11-03", 30),
    order("c", "2026-10-02", 100, { refund_amount: 20 }),
    order("d", "2026-10-03", 20, { is_cancelled: true }),
    order("e", "2025-11-02", 50, { refund_amount: 10 }),
    order("f", "2025-10-02", 10),
  ]);
  const report = reportOf(mirror, "2026-11-01", "2026-11-30");
  const [eur] = blocksOf(report, "sales", "figures");
  const rows = eur?.figures.map(({ title, value, comparisons }) => [
    title,
    value.text,
    ...comparisons.map(({ name, change, before }) => `${change.text} from ${before.text} in ${name}`),
  ]);
  expect(rows).toEqual([
    ["Net", "150.00", "+87.5% from 80.00 in Oct 2026", "+275.0% from 40.00 in Nov 2025"],
    ["Gross", "150.00", "+50.0% from 100.00 in Oct 2026", "+200.0% from 50.00 in Nov 2025"],
    ["Refunds", "0.00", " from 20.00 in Oct 2026", " from 10.00 in Nov 2025"],
    ["Orders", "2", "+100.0% from 1 in Oct 2026", "+100.0% from 1 in Nov 2025"],
    ["Cancelled", "0", " from 1 in Oct 2026", " from 0 in Nov 2025"],
  ]);
  expect(report.summary).toBe("Net is up 87.5% in EUR vs Oct 2026.");
  expect(leadOf(report, "restated")).toBe("");
  expect(blocksOf(report, "restated", "text")).toMatchObject([{ text: "No reported month has changed." }]);
  expect(leadOf(report, "sales")).toBe(
    "Compared with Oct 2026, whose orders have had more time to be refunded.",
  );
});

test("the report's summary states whether each currency's net amount changed, except for currencies that are new in the period", async () => {
  const mirror = await makeMirror();
  const both = (currency: string, before: number, now: number) =>
    [1, 2].flatMap((n) => [
      order(`${currency}${n}`, "2026-10-02", before, { currency }),
      order(`${currency}${n + 2}`, "2026-11-02", now, { currency }),
    ]);
  read(mirror, "2026-12-15T00:00:00.000Z", [
    ...both("EUR", 200, 100),
    ...both("GBP", 90, 90),
    ...both("USD", 40, 50),
    ...both("SEK", 0, 10),
  ]);
  expect(reportOf(mirror, "2026-11-01", "2026-11-30").summary).toBe(
    "Net is down 50.0% in EUR, the same in GBP and up 25.0% in USD vs Oct 2026.",
  );
});

test("the report sorts currencies by gross amount, and uses a single line for a currency with only one order", async () => {
  const mirror = await makeMirror();
  const orders = (currency: string | null, day: string, totals: number[], fields = {}) =>
    totals.map((total, n) => order(`${currency} ${day} ${n}`, day, total, { currency, ...fields }));
  read(mirror, "2026-12-15T00:00:00.000Z", [
    ...orders("AUD", "2026-11-02", [10, 10]),
    ...orders("EUR", "2026-11-02", [300, 300]),
    ...orders("GBP", "2026-10-02", [40, 40]),
    ...orders("JPY", "2026-10-02", [90, 90]),
    ...orders("SEK", "2026-11-02", [900]),
    ...orders("NOK", "2026-10-02", [900]),
    ...orders("CHF", "2026-11-02", [5], { is_cancelled: true }),
    ...orders(null, "2026-11-02", [7, 7]),
  ]);
  const report = reportOf(mirror, "2026-11-01", "2026-11-30");
  expect(report.summary).toBe("Net is down 100.0% in JPY and down 100.0% in GBP vs Oct 2026.");
  const figures = blocksOf(report, "sales", "figures");
  expect(figures.map(({ title, is_minor }) => `${title}${is_minor ? " (minor)" : ""}`)).toEqual([
    ...["EUR", "AUD", "JPY", "GBP"],
    ...["SEK (minor)", "No currency (minor)", "CHF (minor)"],
  ]);
  const [net] = figures.find(({ title }) => title === "JPY")?.figures ?? [];
  expect(net?.comparisons[0]?.change.text).toBe("\u2212100.0%");
  expect(blocksOf(report, "days", "chart").map(({ title }) => title.slice(-3))).toEqual(["EUR", "AUD"]);
});

test("if every currency has only one order, the report shows key figures for the currency with the largest amount", async () => {
  const mirror = await makeMirror();
  read(mirror, "2026-12-15T00:00:00.000Z", [
    order("a", "2026-11-02", 50, { currency: "SEK" }),
    order("b", "2026-11-02", 60, { currency: "NOK" }),
  ]);
  const figures = blocksOf(reportOf(mirror, "2026-11-01", "2026-11-30"), "sales", "figures");
  expect(figures.map(({ title, is_minor }) => [title, is_minor])).toEqual([
    ["NOK", false],
    ["SEK", true],
  ]);
});

test("every section of the report omits decimal places for currencies without a minor unit", async () => {
  const mirror = await makeMirror();
  const orders = ["2026-09-01", "2026-10-01", "2026-11-01", "2026-11-02"].map((day, n) =>
    order(`o${n}`, day, 500, { currency: "JPY" }),
  );
  read(mirror, "2026-11-15T00:00:00.000Z", orders);
  read(
    mirror,
    "2026-12-15T00:00:00.000Z",
    orders.map((one) => ({ ...one, refund_amount: 20 })),
  );
  const report = reportOf(mirror, "2026-11-01", "2026-11-30");
  const tables = ["months", "restated", "hosts"].flatMap((id) => blocksOf(report, id, "table"));
  const amounts = [
    ...blocksOf(report, "sales", "figures").flatMap(({ figures }) =>
      figures.flatMap(({ value, comparisons }) => [value, ...comparisons.map(({ before }) => before)]),
    ),
    ...tables.flatMap(({ columns, rows }) =>
      columns.flatMap(({ key, kind }) => rows.flatMap((row) => (kind === "number" ? (row[key] ?? []) : []))),
    ),
  ].filter(({ text }) => !text.endsWith("%"));
  expect(tables).toHaveLength(4);
  for (const { text } of amounts) expect(text).toMatch(/^[\d,\u2212+]*$/);
  expect(amounts.map(({ text }) => text)).toContain("\u221220");
});

test("the report's daily charts contain a zero for each day without orders, and its host table has at most eight rows, sorted by net amount", async () => {
  const mirror = await makeMirror();
  const hosts = Array.from({ length: 9 }, (_, n) => order(`h${n}`, "2026-11-02", 10 + n));
  read(mirror, "2026-12-15T00:00:00.000Z", [
    ...hosts,
    order("cancelled", "2026-11-02", 500, { is_cancelled: true }),
    order("x", "2026-11-04", 100, { refund_amount: 30, host: null }),
    order("earlier", "2026-10-31", 100),
    order("later", "2026-11-05", 100),
    order("also cancelled", "2026-11-05", 100, { is_cancelled: true }),
  ]);
  const report = reportOf(mirror, "2026-11-01", "2026-11-04");
  const [chart] = blocksOf(report, "days", "chart");
  expect(chart).toMatchObject({
    title: "Net and refunds by day, EUR",
    labels: ["1 Nov", "2 Nov", "3 Nov", "4 Nov"],
    series: [
      { title: "net", values: [0, 126, 0, 70] },
      { title: "refunds", values: [0, 0, 0, 30] },
    ],
  });
  const [table] = blocksOf(report, "hosts", "table");
  expect(table && texts(table, "host", "orders", "net_amount")).toEqual([
    ["no host", "1", "70.00"],
    ...[8, 7, 6, 5, 4, 3, 2].map((n) => [`h${n}`, "1", `${10 + n}.00`]),
  ]);
  const [lastDay] = blocksOf(reportOf(mirror, "2026-11-05", "2026-11-05"), "hosts", "table");
  expect(lastDay && texts(lastDay, "host")).toEqual([["later"]]);
  const twoDays = reportOf(mirror, "2026-11-02", "2026-11-03");
  expect(blocksOf(twoDays, "days", "chart")).toHaveLength(1);
  const oneDay = reportOf(mirror, "2026-11-02", "2026-11-02");
  expect(oneDay.sections.map(({ id }) => id)).toEqual(["sales", "months", "restated", "hosts", "proof"]);
});

test("the report's monthly table has at most 13 months, and compares each complete month with the previous month and with the same month a year earlier", async () => {
  const mirror = await makeMirror();
  const months = Array.from({ length: 16 }, (_, n) =>
    new Date(Date.UTC(2025, 8 + n)).toISOString().slice(0, 7),
  );
  read(
    mirror,
    "2026-12-15T00:00:00.000Z",
    months
      .map((month, n) => order(month, `${month}-05`, 100 + 10 * n))
      .concat(order("today", "2026-12-15", 7)),
  );
  const report = reportOf(mirror);
  const [table] = blocksOf(report, "months", "table");
  const rows = (table && texts(table, "month", "net_amount", "change", "change_in_year")) ?? [];
  expect(rows).toHaveLength(13);
  expect(rows.slice(0, 2)).toEqual([
    ["Dec 2026 (partial)", "257.00", "+4.2%", ""],
    ["Nov 2026", "240.00", "+4.3%", "+100.0%"],
  ]);
  expect(rows.at(-1)).toEqual(["Dec 2025", "130.00", "+8.3%", ""]);
  expect(leadOf(report, "months")).toContain("For an unfinished month");
  expect(blocksOf(report, "months", "chart")[0]?.labels).toHaveLength(13);
  const long = reportOf(mirror, "2025-09-01", "2026-11-30");
  expect(leadOf(long, "months")).toBe("");
  const [chart] = blocksOf(long, "months", "chart");
  expect([chart?.labels.length, chart?.labels[0], chart?.series[0]?.values.at(-1)]).toEqual([
    15,
    "Sep ’25",
    240,
  ]);
  expect(blocksOf(long, "months", "table")[0]?.rows).toHaveLength(13);
});

test("the report does not compare a month with the same month of the previous year if the earlier month was only partially read", async () => {
  const mirror = await makeMirror();
  const range = { from: Date.parse("2025-11-02"), to: Date.parse("2026-12-15"), requestedAt: 0, runId: 1 };
  mirror.transaction(() => saveCoverage(mirror, "orders", [range]));
  const orders = [order("a", "2025-11-05", 100), order("b", "2026-11-05", 100)];
  writeRead(mirror, "orders", orders, { at: "2026-12-15T00:00:00.000Z" });
  const [table] = blocksOf(reportOf(mirror, "2026-11-01", "2026-11-30"), "months", "table");
  expect(table && texts(table, "month", "change_in_year")[0]).toEqual(["Nov 2026", ""]);
});

test("the report's monthly chart leaves a gap for a month without orders, and is omitted if the report covers a single month", async () => {
  const mirror = await makeMirror();
  read(mirror, "2026-12-15T00:00:00.000Z", [order("a", "2026-09-05", 100), order("b", "2026-11-05", 100)]);
  const [chart] = blocksOf(reportOf(mirror, "2026-11-01", "2026-11-30"), "months", "chart");
  expect(chart?.series[0]?.values).toEqual([100, null, 100]);
  const first = reportOf(mirror, "2026-09-01", "2026-09-30");
  expect([blocksOf(first, "months", "chart").length, blocksOf(first, "months", "table").length]).toEqual([
    0, 1,
  ]);
});

test("the report lists the months and orders from the last 12 months that changed after they had been reported", async () => {
  const mirror = await makeMirror();
  const orders = [
    order("old", "2025-10-05", 100),
    order("edge", "2025-11-05", 100),
    order("a", "2026-09-05", 100, { order_number: "#1" }),
    order("b", "2026-10-05", 100, { host: null }),
    order("usd1", "2026-10-05", 10, { currency: "USD" }),
    order("usd2", "2026-11-05", 10, { currency: "USD" }),
    order("usd3", "2026-11-05", 10, { currency: "USD" }),
  ];
  read(mirror, "2026-11-01T06:00:00.000Z", orders);
  const refund = (names: Record<string, number>) =>
    orders
      .filter(({ id }) => id in names)
      .map((one) => ({ ...one, refund_amount: names[one.id], is_refunded: true }));
  read(mirror, "2026-11-20T06:00:00.000Z", refund({ old: 5, edge: 4, a: 3, b: 7, usd1: 1 }));
  const report = reportOf(mirror, "2026-10-01", "2026-11-19");
  const [months, changed] = blocksOf(report, "restated", "table");
  const shared = ["month", "currency", "difference"];
  expect(months && texts(months, ...shared, "reported_at", "net_reported", "net_now", "orders")).toEqual([
    ["Oct 2026", "USD", "\u22121.00", "1 Nov 2026", "10.00", "9.00", "1"],
    ["Oct 2026", "EUR", "\u22127.00", "1 Nov 2026", "100.00", "93.00", "1"],
    ["Sep 2026", "EUR", "\u22123.00", "1 Nov 2026", "100.00", "97.00", "1"],
    ["Nov 2025", "EUR", "\u22124.00", "1 Nov 2026", "100.00", "96.00", "1"],
  ]);
  expect(changed?.title).toBe("Changed orders");
  expect(changed && texts(changed, "order", ...shared, "change", "seen_at", "host")).toEqual([
    ["usd1", "Oct 2026", "USD", "\u22121.00", "refunded", "20 Nov 2026", "usd1"],
    ["b", "Oct 2026", "EUR", "\u22127.00", "refunded", "20 Nov 2026", "no host"],
    ["edge", "Nov 2025", "EUR", "\u22124.00", "refunded", "20 Nov 2026", "edge"],
    ["#1", "Sep 2026", "EUR", "\u22123.00", "refunded", "20 Nov 2026", "a"],
  ]);
});

test("the report states refund losses per currency, based on months that were first read within a month of their end", async () => {
  const mirror = await makeMirror();
  const pair = (currency: string, day: string) =>
    [1, 2].map((n) => order(`${currency} ${day} ${n}`, day, 50, { currency }));
  const orders = [
    ...pair("EUR", "2026-08-05"),
    ...pair("EUR", "2026-09-05"),
    ...pair("EUR", "2026-10-05"),
    ...pair("GBP", "2026-10-05"),
    ...pair("EUR", "2026-11-05"),
    ...pair("GBP", "2026-11-05"),
    order("sek", "2026-10-05", 100, { currency: "SEK" }),
    order("larger", "2026-09-05", 100),
    order("free of charge", "2026-09-05", 0, { currency: "GBP" }),
  ];
  read(
    mirror,
    "2026-10-31T23:59:59.000Z",
    orders.filter(({ order_date }) => order_date < "2026-10"),
  );
  read(mirror, "2026-11-01T06:00:00.000Z", orders);
  const change = (name: string, fields: object) => ({ ...orders.find(({ id }) => id === name), ...fields });
  read(mirror, "2026-11-20T06:00:00.000Z", [
    change("EUR 2026-08-05 1", { refund_amount: 50 }),
    change("EUR 2026-09-05 1", { refund_amount: 4 }),
    change("EUR 2026-10-05 1", { refund_amount: 6 }),
    change("EUR 2026-10-05 2", { is_cancelled: true }),
    change("GBP 2026-10-05 1", { refund_amount: 2 }),
    change("sek", { refund_amount: 9 }),
  ]);
  const lost = (report: ReportDocument) => blocksOf(report, "restated", "text").map(({ text }) => text);
  expect(lost(reportOf(mirror, "2026-11-01", "2026-11-19"))).toEqual([
    "EUR: Reported months have so far lost 3.3% to later refunds (2 months, 2.0% to 6.0%).",
    "GBP: Reported months have so far lost 2.0% to later refunds (1 month).",
  ]);
  read(mirror, "2026-11-20T07:00:00.000Z", [change("GBP 2026-10-05 1", { refund_amount: 0 })]);
  expect(lost(reportOf(mirror, "2026-11-01", "2026-11-19"))).toEqual([
    expect.stringMatching(/^EUR: .* 3\.3%/),
  ]);
});

test("the report lists the largest changes in each currency, with fewer changes per currency if there are many currencies", async () => {
  const mirror = await makeMirror();
  const currencies = ["AUD", "EUR", "GBP", "USD"];
  const orders = currencies.flatMap((currency) =>
    Array.from({ length: 7 }, (_, n) => order(`${currency}${n}`, "2026-10-05", 100, { currency })),
  );
  read(mirror, "2026-11-01T06:00:00.000Z", orders);
  read(
    mirror,
    "2026-11-20T06:00:00.000Z",
    orders.map((one, n) => ({ ...one, refund_amount: 1 + (n % 7) })),
  );
  const [, changed] = blocksOf(reportOf(mirror, "2026-10-01", "2026-10-31"), "restated", "table");
  expect(changed?.title).toBe("The 24 largest of 28 changed orders");
  const amounts = changed?.rows.map(({ difference }) => difference?.value).slice(0, 6);
  expect(amounts).toEqual([-7, -6, -5, -4, -3, -2]);
});

test.each([
  ["succeeds if it starts on the day of the last read", "2026-11-21", "2026-11-21", null],
  [
    "fails if it starts on the day after the last read",
    "2026-11-22",
    "2026-11-22",
    "starts after 2026-11-21",
  ],
  ["succeeds if it ends on the day of the first order", "2026-10-01", "2026-10-05", null],
  [
    "fails if it ends on the day before the first order",
    "2026-10-01",
    "2026-10-04",
    "ends before 2026-10-05",
  ],
])("a report %s", async (_, since, until, error) => {
  const mirror = await makeMirror();
  read(mirror, "2026-11-21T06:00:00.000Z", [order("a", "2026-10-05", 100)]);
  const create = () => reportOf(mirror, since, until).period.since;
  if (error === null) expect(create()).toBe(since);
  else expect(create).toThrow(error);
});

test("if no date range has been fully read, the report covers the time up to the newest order", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [order("a", "2026-10-05", 100), order("b", "2026-11-05", 100)]);
  const report = reportOf(mirror);
  expect([report.reached, report.is_proven]).toEqual(["2026-11-05T00:00:00.000Z", false]);
  expect(leadOf(report, "sales")).toContain("No day in this period has been fully read.");
});
