import { beforeAll, expect, test } from "vitest";
import { makeBrand, type TestBrand } from "../support/brand.js";
import { day, hour, noon, orderAt } from "../support/records.js";
import { rowsOf, sectionOf, textOf } from "./page-reader.js";

type Row = Record<string, string | number | null>;
interface Block {
  kind: string;
  title?: string;
  text?: string;
  currency?: string | null;
  rows?: Row[];
  labels?: string[];
  series?: { values: number[] }[];
  is_minor?: boolean;
  figures?: { title: string; value: number; comparisons: { change: number | null; before: number }[] }[];
}
interface Report {
  period: { from: string; through: string; is_partial: boolean; before: { since: string; until: string } };
  summary: string;
  proof: string;
  is_proven: boolean;
  sections: { id: string; blocks: Block[] }[];
}

let brand: TestBrand;
let report: Report;
let page: string;

beforeAll(async () => {
  brand = makeBrand({ history: 2_000, listLimit: 60, now: noon });
  await brand.run("sync");
  for (const id of brand.mirrored("orders").slice(0, 40)) brand.refund(id);
  for (let nth = 0; nth < 60; nth += 1) {
    brand.pass(8 * hour);
    brand.order({ currency: nth % 2 ? "USD" : "EUR" });
  }
  brand.pass(day);
  expect((await brand.run("sync")).code).toBe(0);
  report = await reportOf(brand);
  page = (await brand.run("report -o -")).out;
});

async function reportOf(one: TestBrand, words = ""): Promise<Report> {
  const { code, out, err } = await one.run(`report --json ${words}`);
  expect([code, err]).toEqual([0, ""]);
  return JSON.parse(out);
}

const blocks = (one: Report, id: string, kind: string) =>
  one.sections.find((section) => section.id === id)?.blocks.filter((block) => block.kind === kind) ?? [];
const cents = (amount: unknown) => Math.round(Number(amount) * 100) / 100;
const sum = (one: TestBrand, currency: string, since: string, until: string) =>
  one.sql<Row>(
    `SELECT total(net_amount) AS net, total(gross_amount) AS gross, total(refunded_amount) AS refunds, total(orders) AS orders,
       total(cancelled_orders) AS cancelled
     FROM sales_by_day WHERE currency = ? AND day BETWEEN ? AND ?`,
    currency,
    since,
    until,
  )[0] as Row;

test("the report compares a month's complete days with the same days of the previous month", () => {
  const { through, before } = report.period;
  expect(through).toBe("2026-12-11");
  const sales = blocks(report, "sales", "figures");
  expect(sales.length).toBeGreaterThan(1);
  for (const { title = "", figures = [] } of sales) {
    const now = sum(brand, title, "2026-12-01", through);
    const then = sum(brand, title, before.since, before.until);
    expect(figures.map(({ value }) => cents(value))).toEqual(
      [now.net, now.gross, now.refunds, now.orders, now.cancelled].map(cents),
    );
    expect(figures.map(({ comparisons }) => cents(comparisons[0]?.before))).toEqual(
      [then.net, then.gross, then.refunds, then.orders, then.cancelled].map(cents),
    );
  }
});

test("the report's monthly table contains the amounts from sales_by_month and a comparison with the previous year", () => {
  for (const { title = "", rows = [] } of blocks(report, "months", "table")) {
    const currency = title.slice(-3);
    const view = brand.sql<Row>(
      "SELECT * FROM sales_by_month WHERE currency = ? AND month >= '2025-12' ORDER BY month DESC",
      currency,
    );
    expect(rows.map(({ month, net_amount }) => [month, cents(net_amount)])).toEqual(
      view.map(({ month, net_amount }) => [month, cents(net_amount)]),
    );
    expect(rows.map(({ change }) => change)).toEqual(
      view.map(({ net_through, net_before }) =>
        Number(net_before) > 0 ? (Number(net_through) - Number(net_before)) / Number(net_before) : null,
      ),
    );
    const november = rows.find(({ month }) => month === "2026-11");
    const ago = sum(brand, currency, "2025-11-01", "2025-11-30");
    const now = sum(brand, currency, "2026-11-01", "2026-11-30");
    if (november && Number(ago.net) > 0)
      expect(november.change_in_year).toBeCloseTo((Number(now.net) - Number(ago.net)) / Number(ago.net));
  }
});

test("the report lists the months from the `restatements` view and the orders from the `restated_orders` view", () => {
  const [months, orders] = blocks(report, "restated", "table");
  const view = brand.sql<Row>(
    "SELECT month, currency, difference FROM restatements WHERE difference <> 0 AND month >= '2025-12'",
  );
  const key = ({ month, currency, difference }: Row) => `${month} ${currency} ${difference}`;
  expect(view.length).toBeGreaterThan(0);
  expect(months?.rows?.map(key).sort()).toEqual(view.map(key).sort());
  const all = brand.sql<Row>(
    "SELECT coalesce(order_number, order_id) AS name, difference FROM restated_orders",
  );
  for (const { order, difference } of orders?.rows ?? [])
    expect(all).toContainEqual({ name: order, difference });
});

test("the report lists the hosts with the highest net amounts in the `order_figures` view", () => {
  for (const { title = "", rows = [] } of blocks(report, "hosts", "table")) {
    const view = brand.sql<Row>(
      `SELECT host_label, total(net_amount) AS net FROM order_figures WHERE currency = ? AND orders > 0
         AND day BETWEEN '2026-12-01' AND '2026-12-11' GROUP BY host_id ORDER BY net DESC, host_id LIMIT 8`,
      title.slice(13, 16),
    );
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.map(({ host, net_amount }) => [host, cents(net_amount)])).toEqual(
      view.map(({ host_label, net }) => [host_label, cents(net)]),
    );
  }
});

test("the HTML page and the text report have the same summary and tables", async () => {
  const text = (await brand.run("report --text")).out;
  expect(textOf(page)).toContain(report.summary);
  expect(text.replace(/\s+/g, " ")).toContain(report.summary);
  for (const { title } of blocks(report, "months", "table")) {
    expect(text).toContain(`${title}:`);
    expect(page).toContain(`<caption>${title} <span`);
  }
  const [first] = rowsOf(sectionOf(page, "months")).slice(1);
  expect(first?.[0]).toBe("Dec 2026 (partial)");
  expect(text).toContain("Complete days only, through 11 Dec 2026.");
});

test("on a phone, where the report hides some columns, every row with an amount still shows a currency", () => {
  const phone = page.replace(/<t[hd][^>]*spare[\s\S]*?<\/t[hd]>/g, "");
  for (const [table] of phone.matchAll(/<table>[\s\S]*?<\/table>/g)) {
    const [head = [], ...rows] = rowsOf(table);
    for (const row of rows)
      if (row.some((cell) => /^[+−]?[\d,]+\.\d\d$/.test(cell)))
        expect([...head, ...row].join(" ")).toMatch(/\b(EUR|USD|GBP)\b/);
  }
});

/** Orders in AUD, GBP and USD with increasing gross amounts, one order in SEK, and one order without a currency. */
const orders = Array.from({ length: 200 }, (_, nth) =>
  orderAt(`o${nth}`, noon - hour - nth * 6 * hour, {
    currency: nth === 20 ? null : nth === 21 ? "SEK" : ["AUD", "GBP", "USD"][nth % 3],
    total_amount: 100 * (1 + (nth % 3)),
  }),
);
let one: TestBrand;
let months: Report;

beforeAll(async () => {
  one = makeBrand({ orders });
  await one.run("sync orders");
  for (const { id } of orders.slice(90, 150)) one.refund(id, 10);
  one.pass(day);
  await one.run("sync orders");
  months = await reportOf(one, "--month 2026-11");
});

test("every section of a report sorts currencies by gross amount, largest first", () => {
  const ordered = (titles: (string | undefined)[]) => titles.map((title) => title?.slice(-3));
  const titles = (id: string, kind: string) => ordered(blocks(months, id, kind).map(({ title }) => title));
  const expected = ["USD", "GBP", "AUD"];
  expect(titles("sales", "figures").slice(0, 3)).toEqual(expected);
  expect(titles("days", "chart")).toEqual(expected);
  expect(titles("months", "chart")).toEqual(expected);
  expect(titles("months", "table")).toEqual(expected);
  expect(titles("hosts", "table")).toEqual(expected);
  const losses = blocks(months, "restated", "text").map(({ text }) => text?.slice(0, 3));
  expect(losses).toEqual(expected);
  const [, changed] = blocks(months, "restated", "table");
  expect([...new Set(changed?.rows?.map(({ currency }) => currency))]).toEqual(expected);
  expect(months.summary.match(/[A-Z]{3}/g)).toEqual(expected);
});

test("a report uses a single line for a currency with only one order, and for orders without a currency", async () => {
  const minor = blocks(months, "sales", "figures").filter(({ is_minor }) => is_minor);
  expect(minor.map(({ title }) => title)).toEqual(["No currency", "SEK"]);
  const line = "SEK: net 100.00, gross 100.00, refunds 0.00, orders 1, cancelled 0.";
  const html = (await one.run("report --month 2026-11 -o -")).out;
  expect(html).toContain(`<p>${line}</p>`);
  expect(html.match(/<dl>/g)).toHaveLength(3);
  expect((await one.run("report --month 2026-11 --text")).out).toContain(`\n${line}\n`);
});

test("a report on a single currency has all sections, even if the orders have no currency code", async () => {
  const uncoded = makeBrand({ orders: orders.map((order) => ({ ...order, currency: null }) as never) });
  await uncoded.run("sync orders");
  const only = await reportOf(uncoded, "--month 2026-11");
  expect(blocks(only, "sales", "figures").map(({ is_minor }) => is_minor)).toEqual([false]);
  expect(only.sections.map(({ id }) => id)).toEqual([
    "sales",
    "days",
    "months",
    "restated",
    "hosts",
    "proof",
  ]);
});

const labelsOf = async (id: string, words: string) =>
  blocks(await reportOf(brand, words), id, "chart").map(({ labels }) => labels);

test("a report has no daily charts if it covers either a single day or more than 93 days", async () => {
  expect(await labelsOf("days", "--since 2026-11-03 --until 2026-11-03")).toEqual([]);
  expect((await labelsOf("days", "--since 2026-08-01 --until 2026-11-01"))[0]).toHaveLength(93);
  expect(await labelsOf("days", "--since 2026-08-01 --until 2026-11-02")).toEqual([]);
});

test("monthly charts show all months of a long period, and at least 13 months", async () => {
  const [short] = await labelsOf("months", "--month 2026-11");
  expect([short?.length, short?.at(0), short?.at(-1)]).toEqual([13, "Nov ’25", "Nov ’26"]);
  const [long] = await labelsOf("months", "--since 2025-01-01 --until 2026-11-30");
  expect([long?.length, long?.at(0), long?.at(-1)]).toEqual([23, "Jan ’25", "Nov ’26"]);
});

const slow = () => {
  const orders = Array.from({ length: 61 }, (_, nth) =>
    orderAt(`o${nth}`, Date.UTC(2026, 9, 1, 9) + nth * day),
  );
  return makeBrand({ orders, now: Date.UTC(2026, 10, 24, 8) });
};

test("the report excludes the current, unfinished day from amounts, charts and comparisons", async () => {
  const one = slow();
  one.data.orders = one.data.orders.filter(({ order_date }) => order_date < "2026-11-24");
  await one.run("sync orders");
  const report = await reportOf(one);
  const [sales] = blocks(report, "sales", "figures");
  expect(sales?.figures?.map(({ comparisons }) => comparisons[0]?.change)).toEqual([0, 0, null, 0, null]);
  const [chart] = blocks(report, "days", "chart");
  expect(chart?.labels?.at(-1)).toBe("23 Nov");
  expect(chart?.series?.map(({ values }) => values.length)).toEqual([23, 23]);
  expect(report.summary).toMatch(/the same in EUR .*1–23 Oct 2026/);
  expect((await one.run("report --text")).out).toContain("Complete days only, through 23 Nov 2026.");
});

test.each([
  [
    "2026-10-15",
    "2026-10-15",
    "15–31 Oct 2026 only: not all orders from 1–14 Oct 2026 have been read",
    "Not proven: in this period, only the orders from 15 Oct 2026 through 31 Oct 2026 were verified",
  ],
  [
    "2026-10-15T23:25",
    "2026-10-16",
    "16–31 Oct 2026 only: not all orders from 1–15 Oct 2026 have been read",
    "Not proven: in this period, only the orders from 15 Oct 2026, 23:25 UTC through 31 Oct 2026, 23:59 UTC were verified",
  ],
])(
  "after `sync orders --since %s`, the report on October is partial, not proven, and includes only days from %s onward",
  async (since, from, included, proof) => {
    const one = slow();
    await one.run(`sync orders --since ${since}`);
    const october = await reportOf(one, "--month 2026-10");
    expect(october.period).toMatchObject({ is_partial: true, from, through: "2026-10-31", before: null });
    const [sales] = blocks(october, "sales", "figures");
    expect(sales?.figures?.[0]?.value).toBe(sum(one, "EUR", from, "2026-10-31").net);
    expect([october.is_proven, october.proof]).toEqual([false, expect.stringContaining(proof)]);
    const text = (await one.run("report --month 2026-10 --text")).out.replace(/\s+/g, " ");
    expect(text).toContain(`${included} (\`brandapi sync orders --full\` reads them).`);
    expect(await reportOf(one, "--month 2026-11")).toMatchObject({ is_proven: true });
  },
);

test("if some days in a report's period were never read, the report includes only earlier days, and is partial and not proven", async () => {
  const one = slow();
  await one.run("sync orders --until 2026-10-10");
  await one.run("sync orders --since 2026-10-21");
  const october = await reportOf(one, "--month 2026-10");
  expect(october).toMatchObject({
    is_proven: false,
    summary: "",
    period: { from: "2026-10-01", through: "2026-10-10", is_partial: true, before: null },
  });
  expect(october.proof).toMatch(
    /^Not proven: .* from 1 Oct 2026 through 10 Oct 2026 and from 21 Oct 2026 through 31 Oct 2026 were verified/,
  );
  const text = (await one.run("report --month 2026-10 --text")).out.replace(/\s+/g, " ");
  expect(text).toContain(
    "1–10 Oct 2026 only: not all orders from 11–20 Oct 2026 have been read (`brandapi sync orders` reads them).",
  );
  expect(await reportOf(one, "--since 2026-10-01 --until 2026-10-10")).toMatchObject({
    is_proven: true,
    proof: expect.stringMatching(/^Orders through 10 Oct 2026 are proven/),
  });
  await one.run("sync orders");
  expect(await reportOf(one, "--month 2026-10")).toMatchObject({
    is_proven: true,
    period: { through: "2026-10-31", is_partial: false },
  });
});

test("if `verify` finds only orders that are newer than the last sync, the report still describes the synced orders as proven", async () => {
  const one = slow();
  await one.run("sync orders --since 2026-10-15");
  one.pass(2 * hour);
  expect((await one.run("verify orders")).err).toContain("orders has 1 record that has not been read yet");
  const { is_proven, proof } = await reportOf(one, "--month 2026-11");
  expect([is_proven, proof]).toEqual([
    true,
    expect.stringMatching(
      /^Orders from 15 Oct 2026, 00:00 UTC through 24 Nov 2026, 07:59 UTC are proven.* In the `verify` run of 24 Nov 2026, 10:00 UTC, the API also had orders/,
    ),
  ]);
  one.refund(one.mirrored("orders")[0] ?? "");
  await one.run("verify orders");
  expect((await reportOf(one, "--month 2026-10")).proof).toMatch(/^Not proven: orders differs from the API/);
});

test("the report states that no day is complete if the mirror contains only part of a day", async () => {
  const one = slow();
  await one.run("sync orders --since 2026-11-24T06:00");
  expect((await reportOf(one, "--month 2026-11")).period).toMatchObject({
    from: "2026-11-24",
    through: "2026-11-24",
    is_partial: true,
  });
  expect((await one.run("report --month 2026-11 --text")).out).toContain(
    "No day in this period has been fully read.",
  );
});

test("the report contains no comparison for a month without a complete day", async () => {
  const one = slow();
  one.pass(7 * day);
  await one.run("sync orders");
  const report = await reportOf(one, "--month 2026-12");
  expect([report.period.before, report.summary]).toEqual([null, ""]);
  expect((await one.run("report --month 2026-12 --text")).out).toContain("There is no comparison");
});

test("the report states what percentage of the reported months' net amounts was refunded later", async () => {
  const one = makeBrand({ now: Date.UTC(2026, 7, 1, 12) });
  const refunds = [4, 2, 1];
  for (const refund of refunds) {
    const id = one.order({ currency: "EUR", total_amount: 100, refund_amount: 0 });
    one.pass(31 * day);
    await one.run("sync orders");
    one.refund(id, refund);
  }
  one.pass(5 * day);
  await one.run("sync orders");
  expect((await one.run("report --text")).out).toContain(
    "Reported months have so far lost 2.3% to later refunds (3 months, 1.0% to 4.0%).",
  );
});

test("if nothing has been refunded or cancelled yet, the report states neither a loss nor a 100% decrease", async () => {
  const one = makeBrand({ now: Date.UTC(2026, 7, 1, 12) });
  const first = one.order({ currency: "EUR", total_amount: 100, refund_amount: 0 });
  one.cancel(one.order({ currency: "EUR", total_amount: 10 }));
  one.refund(first, 1e-3);
  one.pass(31 * day);
  one.order({ currency: "EUR", total_amount: 100 });
  await one.run("sync orders");
  one.pass(5 * day);
  await one.run("sync orders");
  const { out } = await one.run("report --text");
  expect(out).not.toContain("have so far lost 0.0%");
  expect(out).not.toContain("\u2212100.0%");
});

test("the report identifies a host by handle, falling back to the full name and then to the start of the ID", async () => {
  const host = (id: string, fields: object) => ({
    host: { id, username: null, first_name: null, last_name: null, ...fields },
  });
  const one = makeBrand({
    orders: [
      orderAt("a", noon - 2 * day, host("h1", { username: "ada" })),
      orderAt("b", noon - 2 * day, host("h2", { first_name: "Bo", last_name: "Berg" })),
      orderAt("c", noon - 2 * day, host("0123456789abcdef", {})),
    ],
  });
  await one.run("sync orders");
  const [table] = blocks(await reportOf(one), "hosts", "table");
  expect(table?.rows?.map(({ host }) => host).sort()).toEqual(["01234567", "Bo Berg", "ada"]);
  expect((await one.run("report -o -")).out).not.toContain("no name");
});

test("reports from the same mirror are identical except for their creation time", async () => {
  brand.pass(90 * day);
  const again = (await brand.run("report -o -")).out;
  const made = /Created [^<]* by brandapi/;
  expect(again.replace(made, "") === page.replace(made, "")).toBe(true);
  expect(again).not.toBe(page);
});

test("the report page contains no scripts or external resources, and its Content-Security-Policy forbids both", () => {
  expect(page).toMatch(
    /content="default-src 'none'; style-src 'sha256-[^']+'; base-uri 'none'; form-action 'none'"/,
  );
  expect(/<script|<link|<img|<iframe|\son\w+=|\sstyle=|\bhttps?:|url\(/.exec(page)?.[0]).toBeUndefined();
});

test("if the table of changed orders omits some orders, the table's title states the number of all changed orders", async () => {
  const orders = Array.from({ length: 30 }, (_, n) => orderAt(`o${n}`, Date.UTC(2026, 9, 20) - n * hour));
  const titleAfter = async (refunded: number) => {
    const brand = makeBrand({ orders });
    await brand.run("sync orders");
    for (const { id } of orders.slice(0, refunded)) brand.refund(id, 5);
    brand.pass(day);
    await brand.run("sync orders");
    return blocks(await reportOf(brand), "restated", "table")[1]?.title;
  };
  expect(await titleAfter(8)).toBe("Changed orders");
  expect(await titleAfter(9)).toBe("The 8 largest of 9 changed orders");
});
