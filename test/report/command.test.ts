import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { makeBrand, type TestBrand } from "../support/brand.js";
import { day, noon, orderAt, ordersBefore } from "../support/records.js";

let brand: TestBrand;

beforeAll(async () => {
  brand = makeBrand({ orders: ordersBefore(noon, 400, day / 4) });
  await brand.run("sync orders");
});

const reports = () => readdirSync(brand.home).filter((name) => name.startsWith("report"));

test("`report` writes a file named after the period, or writes to stdout with `-o -`", async () => {
  const { code, out, err } = await brand.run("report --month 2026-09");
  expect([code, out]).toEqual([0, ""]);
  expect(err).toMatch(/^September 2026: [\d.]+ kB: report-2026-09\.html\n$/);
  await brand.run("report --since 2026-09-03 --until 2026-09-09");
  expect(reports()).toEqual(["report-2026-09-03-to-2026-09-09.html", "report-2026-09.html"]);
  expect((await brand.run("report -o -")).out).toMatch(/^<!doctype html>[\s\S]*<\/html>\n$/);
});

test("`report --text` and `report --json` write to stdout and reject -o", async () => {
  expect((await brand.run("report --text")).out).toMatch(/^.*, November 2026\n/);
  expect((await brand.run("report --json")).out).toMatch(/^\{"brand":/);
  for (const words of ["--text -o notes.txt", "--json -o notes.json", "--text -o -"])
    expect((await brand.run(`report ${words}`)).code).toBe(2);
});

test.each(["r.pdf", "r.csv", "r"])("`report` rejects -o %s because the page is HTML", async (file) => {
  const { code, err } = await brand.run(`report -o ${file}`);
  expect(code).toBe(2);
  expect(err).toContain("`-o report.html`");
  expect(existsSync(join(brand.home, file))).toBe(false);
});

test("`report` keeps the existing file if it fails", async () => {
  const old = join(brand.home, "old.html");
  writeFileSync(old, "old");
  expect((await brand.run("report --month 2020-01 -o old.html")).code).toBe(3);
  expect(readFileSync(old, "utf8")).toBe("old");
  expect((await brand.run("report -o none/page.html")).code).toBe(3);
  mkdirSync(join(brand.home, "pages.html"));
  const folder = await brand.run("report -o pages.html");
  expect([folder.code, folder.err]).toEqual([2, expect.stringContaining("`-o pages.html/report.html`")]);
});

test("`report --open` opens the file in the browser, but rejects --text and --json", async () => {
  const opened: string[] = [];
  const openInBrowser = (path: string) => void opened.push(path);
  expect((await brand.run("report --open -o shown.html", { openInBrowser })).code).toBe(0);
  expect(opened).toEqual([join(brand.home, "shown.html")]);
  for (const words of ["--text", "--json"]) expect((await brand.run(`report --open ${words}`)).code).toBe(2);
  expect((await brand.run("report -o shown.html", { openInBrowser })).code).toBe(0);
  expect(opened).toHaveLength(1);
});

test("`report --text` uses colors only on a terminal", async () => {
  const { out } = await brand.run("report --text");
  expect(out).toMatch(/^Net and refunds by day, EUR: [▁▂▃▄▅▆▇█]{20} up to /m);
  expect(out).not.toContain("\u001b");
  expect((await brand.run("report --text", { tty: true })).out).toContain("\u001b[1mSales");
  expect((await brand.run("report --text --no-color", { tty: true })).out).toBe(out);
});

test.each(["--text", "--json", "-o -"])(
  "`report %s` escapes control characters from the API",
  async (form) => {
    const one = makeBrand({
      orders: [
        orderAt("a", noon - 2 * day, {
          currency: "\u001b[2J",
          host: { id: "h", username: "\u001b[31m\u202e" },
        }),
      ],
    });
    one.data.name = "\u001b[2J\u202eAcme";
    await one.run("sync orders");
    const { out } = await one.run(`report ${form} --no-color`, { tty: true });
    expect(out).toContain("Acme");
    expect(out).not.toMatch(/\p{Cc}(?<!\n)|\u202e/u);
  },
);

test.each([
  ["--month october", "`--month` is not a month: `october`."],
  ["--month 2026-13", "`--month` is not a month: `2026-13`."],
  ["--month 2026-10-05", "`--month` is not a month: `2026-10-05`."],
  ["--month x2026-10", "`--month` is not a month: `x2026-10`."],
  ["--month yesterday", "`--month` is not a month: `yesterday`."],
  ["-o - --open", "`--open` needs a file"],
  ["--month 2026-09 --since 7d", "Option `--month <month>` cannot be used with option `--since <time>`."],
  ["--since 2026-09-09 --until 2026-09-01", "`--since` is later than `--until`."],
])("`report %s` is rejected with exit code 2", async (words, message) => {
  const { code, err } = await brand.run(`report ${words}`);
  expect([code, err.split("\n")[0]]).toEqual([2, expect.stringContaining(message)]);
});

test("`report` accepts `--month this-month`, `--month last-month` and file names that end in .HTML", async () => {
  for (const month of ["this-month", "last-month"]) {
    const { period } = JSON.parse((await brand.run(`report --month ${month} --json`)).out);
    expect(period.slug).toBe(month === "this-month" ? "2026-11" : "2026-10");
  }
  expect((await brand.run("report -o page.HTML")).code).toBe(0);
});

test("`report --text` wraps text at 80 columns, or at the width of a narrower terminal", async () => {
  const { out } = await brand.run("report --text --no-color", { tty: true, columns: 200 });
  expect(Math.max(...out.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
  const narrow = await brand.run("report --text --no-color", { tty: true, columns: 60 });
  expect(Math.max(...narrow.out.split("\n").map((line) => line.length))).toBeLessThanOrEqual(60);
});

test("`report` suggests the first month with orders for an earlier period, and names the last day that was read for a later period", async () => {
  const early = await brand.run("report --month 2020-01 --text");
  expect([early.code, early.out]).toEqual([3, ""]);
  expect(early.err).toContain("`--month 2026-08`");
  brand.pass(30 * day);
  const late = await brand.run("report --month 2026-12");
  brand.pass(-30 * day);
  expect(late.code).toBe(3);
  expect(late.err).toContain("after 2026-11-21, the last day that was read");
});

test("`report` suggests `sync --full` for a period that ends before the first sync's --since date", async () => {
  const late = makeBrand({ orders: ordersBefore(noon, 400, day / 4) });
  await late.run("sync orders --since 2026-11-18T23:25");
  const { code, err } = await late.run("report --month 2026-10");
  expect(code).toBe(3);
  expect(err).toContain("Orders before 2026-11-18 23:25 have never been read");
  expect(err).toContain("`brandapi sync orders --full`");
  expect(err).not.toContain("first");
  expect((await late.run("report --since 2026-11-17 --until 2026-11-18 --text")).code).toBe(0);
  expect((await late.run("report --since 2026-11-16 --until 2026-11-17 --text")).code).toBe(3);
});

test("commands suggested in a text report repeat --db, but those in the HTML page and in JSON contain no paths", async () => {
  const late = makeBrand({ orders: ordersBefore(noon, 40, day) });
  await late.run("sync orders --since 2026-11-15 --db own.sqlite");
  const report = async (flags: string) =>
    (await late.run(`report --month 2026-11 --db own.sqlite ${flags}`)).out.replace(/\s+/g, " ");
  expect(await report("--text")).toContain("(`brandapi sync orders --full --db own.sqlite` reads them)");
  expect(await report("-o -")).toContain("(<code>brandapi sync orders --full</code> reads them)");
  expect(await report("--json")).toContain("(`brandapi sync orders --full` reads them)");
});

test("`report` fails if the mirror does not exist, and suggests `sync orders` if the mirror has no orders", async () => {
  const one = makeBrand();
  expect((await one.run("report")).err).toContain("No mirror yet");
  await one.run("sync roster");
  expect(await one.run("report")).toMatchObject({
    code: 3,
    err: expect.stringContaining("`brandapi sync orders`"),
  });
});

test("a report on several years escapes HTML in a currency code", async () => {
  const currency = `C<b>${"x".repeat(300)}`;
  const one = makeBrand({ orders: [orderAt("a", noon - day, { currency })] });
  await one.run("sync orders");
  const page = (await one.run("report --since 2016-01-01 -o -")).out;
  expect([page.includes("1 Jan 2016 – 21 Nov 2026"), page.includes("<b>x")]).toEqual([true, false]);
});
