import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../src/deps.js";
import { dayMs } from "../../src/lib/times.js";
import type { Mirror } from "../../src/mirror/mirror.js";
import { openMirrorReadOnly } from "../../src/query/open.js";
import { makeHome } from "../support/home.js";
import { makeMirror } from "../support/mirror.js";
import { day, fileAt, nights, noon, ordersBefore } from "../support/nights.js";
import { startSandbox } from "../support/old-sandbox/index.js";
import { brandapi } from "../support/program.js";
import { reportOn, writeWatchedYear } from "./brands.js";
import { cents, dateOf, metricsOf, numberOf, partOf, tablesOf, textOf } from "./reading.js";

type Figures = Record<"orders" | "gross_amount" | "refunded_amount" | "net_amount", number>;
type Row = Figures & Record<string, string | number | null>;

const home = makeHome();
const path = join(home, "mirror.sqlite");
let mirror: Mirror;
let page: string;

function read<Shape = Row>(sql: string): Shape[] {
  return mirror.db.prepare(sql).all() as Shape[];
}

const currencyName = (currency: unknown) => (currency === null ? "no currency" : String(currency));

/** Three weeks between two syncs, of a brand with some thousand orders. */
beforeAll(async () => {
  const end = Date.parse("2026-11-22T17:00:00.000Z");
  const box = await startSandbox(
    { rateLimit: null, orders: 3_000, now: end - 21 * dayMs },
    { clock: systemClock },
  );
  const env = { BRANDAPI_BASE_URL: box.baseUrl, BRANDAPI_KEY: box.key, BRANDAPI_RATE_LIMIT: "none" };
  const at = (now: number) => ({ home, env, clock: { now: () => now } });
  await brandapi(["sync", "--db", path, "--quiet"], at(end - 21 * dayMs));
  box.advance(21 * dayMs);
  await brandapi(["sync", "--db", path, "--quiet"], at(end));
  await box.close();
  const { code, err } = await report([]);
  expect({ code, err }).toMatchObject({
    code: 0,
    err: expect.stringMatching(/^November 2026: \d+ kB: .*page\.html\n$/),
  });
  page = readFileSync(join(home, "page.html"), "utf8");
  mirror = await openMirrorReadOnly(path);
  return () => void mirror.db.close();
}, 120_000);

async function report(
  words: readonly string[],
  out = join(home, "page.html"),
  now = Date.parse("2026-11-23T06:00:00.000Z"),
) {
  const given = ["report", "--db", path, "-o", out, "--locale", "en", ...words];
  return await brandapi(given, { home, clock: { now: () => now } });
}

describe("every number on the page is its view's, to the cent", () => {
  test("the sales of the period, and as many days before", () => {
    const sums = (since: string, until: string) =>
      read(`SELECT currency, sum(orders) AS orders, total(gross_amount) AS gross_amount,
        total(refunded_amount) AS refunded_amount, total(net_amount) AS net_amount
        FROM sales_by_day WHERE day BETWEEN '${since}' AND '${until}' GROUP BY currency`);
    const [now, before] = [sums("2026-11-01", "2026-11-30"), sums("2026-10-01", "2026-10-22")];
    const told = metricsOf(partOf(page, "sales"));
    expect(Object.keys(told).sort()).toEqual(
      [...new Set([...now, ...before].map(({ currency }) => currencyName(currency)))].sort(),
    );
    expect(now.length).toBeGreaterThan(2);
    for (const [currency, figures] of Object.entries(told)) {
      const of = (rows: Row[]) => rows.find((row) => currencyName(row.currency) === currency);
      const metric = (name: keyof Figures) => ({
        now: cents(of(now)?.[name] ?? 0),
        before: cents(of(before)?.[name] ?? 0),
      });
      expect([currency, figures]).toEqual([
        currency,
        {
          Net: metric("net_amount"),
          Gross: metric("gross_amount"),
          Refunds: metric("refunded_amount"),
          Orders: metric("orders"),
        },
      ]);
    }
  });

  test("what it says first is by how much net moved, the same as beside the figures", () => {
    const beside = [
      ...partOf(page, "sales").matchAll(
        /<h3>(\w+)<\/h3>\s*<dl[^>]*>\s*<div><dt>Net<\/dt>.*\s*<span><em>([^<]*)</g,
      ),
    ];
    const words = beside.map(([, currency, change = ""]) =>
      change.startsWith("+")
        ? `up ${change.slice(1)} in ${currency}`
        : `down ${change.slice(1)} in ${currency}`,
    );
    expect(words).toHaveLength(3);
    expect(/<p class="summary">([^<]*)</.exec(page)?.[1]).toBe(
      `Net is ${words[0]}, ${words[1]} and ${words[2]}.`,
    );
  });

  test("the partial month's time before is what `sales_by_month` says of it", () => {
    const told = metricsOf(partOf(page, "sales"));
    const rows = read("SELECT * FROM sales_by_month WHERE month = '2026-11'");
    expect(rows.length).toBeGreaterThan(2);
    for (const row of rows) {
      const { now, before } = told[currencyName(row.currency)]?.Net ?? {};
      expect({ now, before }).toEqual({ now: cents(row.net_amount), before: cents(Number(row.net_before)) });
    }
  });

  test("each day", () => {
    const days = read(
      "SELECT * FROM sales_by_day WHERE day BETWEEN '2026-10-01' AND '2026-10-22' OR day >= '2026-11-01'",
    );
    const told = tablesOf(partOf(page, "days")).flatMap(({ caption, titles, rows }) => {
      expect(titles).toEqual(["Day", "Orders", "Gross", "Refunds", "Net"]);
      return rows.map(([day = "", ...figures]) => [
        caption.split(", ")[1],
        dateOf(day),
        ...figures.map(numberOf),
      ]);
    });
    expect(told.toSorted()).toEqual(
      days
        .map((row) => [
          currencyName(row.currency),
          row.day,
          row.orders,
          cents(row.gross_amount),
          cents(row.refunded_amount),
          cents(row.net_amount),
        ])
        .toSorted(),
    );
    expect(told.length).toBeGreaterThan(80);
  });

  test("each of the last thirteen months", () => {
    const months = read("SELECT * FROM sales_by_month WHERE month >= '2025-11'");
    const told = tablesOf(partOf(page, "months")).flatMap(({ caption, rows }) =>
      rows.map(([month = "", ...cells]) => [
        caption.split(", ")[1],
        dateOf(month),
        month.endsWith("so far"),
        ...cells.slice(0, 4).map(numberOf),
        cells[4],
      ]),
    );
    const change = ({ net_amount, net_before }: Row) => {
      if (net_before === null || Number(net_before) <= 0) return "";
      const percent = (100 * (net_amount - Number(net_before))) / Number(net_before);
      const text = new Intl.NumberFormat("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
      const rounded = text.format(Math.abs(percent));
      return `${rounded === "0.0" ? "" : percent < 0 ? "−" : "+"}${rounded}%`;
    };
    expect(told.toSorted()).toEqual(
      months
        .map((row) => [
          currencyName(row.currency),
          row.month,
          row.is_partial === 1,
          row.orders,
          cents(row.gross_amount),
          cents(row.refunded_amount),
          cents(row.net_amount),
          change(row),
        ])
        .toSorted(),
    );
  });

  test("each month that was restated, and the orders that did it", () => {
    const [months, orders] = tablesOf(partOf(page, "restated"));
    const rows = read("SELECT * FROM restatements WHERE difference <> 0 AND month >= '2025-11'");
    expect(rows.length).toBeGreaterThan(2);
    expect(
      months?.rows
        .map(([month = "", currency, , ...figures]) => [dateOf(month), currency, ...figures.map(numberOf)])
        .toSorted(),
    ).toEqual(
      rows
        .map((row) => [
          row.month,
          currencyName(row.currency),
          cents(Number(row.net_reported)),
          cents(Number(row.net_now)),
          cents(Number(row.difference)),
          row.orders,
        ])
        .toSorted(),
    );
    const differences = read(
      "SELECT coalesce(order_number, order_id) AS name, difference FROM restated_orders",
    );
    const told = orders?.rows.map((cells) => [cells[0], numberOf(cells.at(-1) ?? "")]) ?? [];
    expect(told.length).toBeGreaterThan(2);
    for (const order of told)
      expect(differences.map(({ name, difference }) => [name, cents(Number(difference))])).toContainEqual(
        order,
      );
  });

  test("each cell of the refund triangle", () => {
    const cells = read("SELECT * FROM refund_triangle WHERE month >= '2025-11'");
    const told = tablesOf(partOf(page, "refunds")).flatMap(({ caption, rows }) =>
      rows.flatMap(([month = "", ...amounts]) =>
        amounts.flatMap((text, age) =>
          text === "" || numberOf(text) === 0
            ? []
            : [[caption.split(", ")[1], dateOf(month), age, numberOf(text)]],
        ),
      ),
    );
    expect(told.length).toBeGreaterThan(1);
    expect(told.toSorted()).toEqual(
      cells
        .map((row) => [
          currencyName(row.currency),
          row.month,
          row.age_months,
          cents(Number(row.refunded_amount)),
        ])
        .toSorted(),
    );
  });

  test("the hosts who made the most, whole month or not", () => {
    const part = partOf(page, "hosts");
    const made = tablesOf(part).filter(({ caption }) => caption === "Made the most");
    const rows = read(
      "SELECT * FROM hosts_by_month WHERE month = '2026-11' AND orders > 0 ORDER BY net_amount DESC",
    );
    const currencies = [...part.matchAll(/<h3>([^:<]*): orders of ([\d,]+) host/g)];
    expect(made.length).toBeGreaterThan(2);
    made.forEach((table, nth) => {
      const own = rows.filter(({ currency }) => currencyName(currency) === currencies[nth]?.[1]);
      expect(new Set(own.map(({ host_id }) => host_id).filter(Boolean)).size).toBe(
        numberOf(currencies[nth]?.[2] ?? ""),
      );
      expect(table.rows.map(([, orders = "", net = ""]) => [numberOf(orders), numberOf(net)])).toEqual(
        own.slice(0, 8).map((row) => [row.orders, cents(row.net_amount)]),
      );
    });
  });

  test("clicks, campaigns and content", () => {
    const [clicks] = read(
      `SELECT sum(total_clicks) AS clicks, sum(buy_now_clicks) AS store, sum(orders) AS orders FROM analytics_clicks
       WHERE date BETWEEN '2026-11-01' AND '2026-11-30' AND host_id IS NULL AND group_by = 'day'`,
    );
    const told = [...partOf(page, "clicks").matchAll(/<dd><b>([^<]*)<\/b>/g)].map(([, text = ""]) =>
      numberOf(text),
    );
    expect(told).toEqual([clicks?.clicks, clicks?.store, clicks?.orders]);
    const campaigns = read("SELECT * FROM campaigns_owing");
    const shown = tablesOf(partOf(page, "campaigns"));
    expect(shown.map(({ rows }) => rows.length)).toEqual([8, 8]);
    for (const { rows } of shown)
      for (const [, , , deliverables, , pay] of rows)
        expect(campaigns.map((row) => [row.deliverables_open, row.payments_open])).toContainEqual([
          Number(deliverables),
          Number(pay),
        ]);
    const [{ files = 0 } = {}] = read<{ files: number }>(
      "SELECT count(*) AS files FROM content WHERE removed_at IS NULL AND substr(created_at, 1, 7) = '2026-11'",
    );
    expect(textOf(partOf(page, "content"))).toContain(` ${files} files of `);
  });
});

test("what was not read is no zero, and is compared with nothing", async () => {
  const owing = { id: "a", status: "ACTIVE", deliverables: [{ id: "d", due_date: "2026-02-02" }] };
  const brand = await nights({
    orders: ordersBefore(noon, 60, day),
    opportunities: [owing],
    content: [fileAt("c", noon - day)],
  });
  const told = async () => {
    const file = join(brand.home, "report.html");
    expect((await brand.run(`report --month 2026-11 -o ${file}`)).code).toBe(0);
    const read = readFileSync(file, "utf8");
    return ["clicks", "campaigns", "content"].map((id) => textOf(partOf(read, id))).join("\n");
  };
  await brand.run("sync orders analytics-clicks");
  expect(await told()).toContain(" before");
  brand.pass(4 * day);
  await brand.run("sync orders");
  await brand.run("sync opportunities --details none");
  await brand.run("sync content --source deliverable");
  const half = await told();
  expect(half).toContain("Not all of this time was read: there may be more.");
  expect(half).toContain("The campaigns were not read.");
  expect(half).toContain("The content of this time was not read.");
  expect(half).not.toContain(" before");
  await brand.run("sync");
  const whole = await told();
  expect(whole).toContain("1 campaign with something open");
  expect(whole).toContain("1 file of 1 host came into the library.");
  expect(whole).not.toContain("read");
  expect(whole).toContain(" before");
});

test("the page says what is proven, through which day, how and when, and how old the oldest read is", () => {
  const text = textOf(partOf(page, "proof"));
  expect(text).toContain(
    "Orders are proven through 22 Nov 2026: the API's counts and figures agreed, by the sync itself, 22 Nov 2026, 17:00 UTC.",
  );
  expect(text).toContain("The day read longest ago was read on 1 Nov 2026, 17:00 UTC, 21 days before that.");
  expect(text).toContain("What cannot be known");
  expect(textOf(partOf(page, "refunds"))).toContain(
    "Nothing is predicted: this mirror has watched refunds since 1 Nov 2026",
  );
});

test("the same mirror gives the same bytes, whenever it is asked, but for the time the page was made", async () => {
  const again = join(home, "again.html");
  await report([], again, Date.parse("2027-03-01T06:00:00.000Z"));
  const made = /Made [^<]* by brandapi/;
  expect(readFileSync(again, "utf8").replace(made, "") === page.replace(made, "")).toBe(true);
  expect(page.slice(-400)).toMatch(/Made 23 Nov 2026, 06:00 UTC by brandapi/);
});

const metric = (text: string) => /<dd><b>([^<]*)</.exec(text)?.[1];

test("numbers are written as the reader writes them, by `--locale` or as the machine does", async () => {
  const german = join(home, "german.html");
  await report(["--locale", "de"], german);
  expect(metric(readFileSync(german, "utf8"))).toMatch(/^\d+\.\d{3},\d\d$/);
  const own = await brandapi(["report", "--db", path, "-o", "-"], { home, env: { LC_ALL: "fr_FR.UTF-8" } });
  expect(metric(own.out)).toMatch(/^\d+\u202f\d{3},\d\d$/);
});

test.each(["ar", "de-CH", "ja", "hi"])("in %s it says the same of what moved", async (locale) => {
  const { out } = await brandapi(["report", "--db", path, "-o", "-", "--locale", locale], { home });
  const words = (text: string) =>
    /<p class="summary">([^<]*)</
      .exec(text)?.[1]
      ?.replace(/[^a-zA-Z ]/g, "")
      .replace(/ +/g, " ");
  expect(words(out)).toBe(words(page));
});

test("it is a page of its own: nothing is asked for, nothing runs, and the policy says so", () => {
  expect(page.slice(0, 600)).toMatch(
    /http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-[^']+'; base-uri 'none'; form-action 'none'"/,
  );
  expect(/<script|<link|<img|<iframe|\son\w+=|\sstyle=|\bhttps?:|url\(/.exec(page)?.[0]).toBeUndefined();
  expect(page.match(/<svg class="chart/g)?.length).toBeGreaterThan(10);
});

test("what is still to be refunded stands on the page as it was worked out, month by month", async () => {
  const brand = await makeMirror();
  writeWatchedYear(brand);
  brand.db.close();
  const told = JSON.parse((await reportOn(brand.path, ["--json"])).out);
  const [{ months, to_come, standard_error }] = told.outlook;
  const part = partOf((await reportOn(brand.path, ["-o", "-"])).out, "refunds");
  const table = tablesOf(part).find(({ caption }) => caption === "Still to be refunded, EUR");
  expect(table?.rows.map(([month = "", ...figures]) => [dateOf(month), ...figures.map(numberOf)])).toEqual(
    months
      .toReversed()
      .map((row: Record<string, unknown>) => [row.month, row.refunded, row.to_come, row.standard_error]),
  );
  expect(months.length).toBeGreaterThan(3);
  const [, sum = "", error = ""] =
    /refunds of ([\d,.]+) are still to be expected, give or take ([\d,.]+)\./.exec(textOf(part)) ?? [];
  expect([numberOf(sum), numberOf(error)]).toEqual([to_come, standard_error]);
});
