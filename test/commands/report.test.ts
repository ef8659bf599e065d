import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { displayWidth } from "../../src/ui/width.js";
import { makeHome } from "../support/home.js";
import { anOrder, makeMirror, writeRead } from "../support/mirror.js";
import { nights } from "../support/nights.js";
import { brandapi, type ProgramOptions } from "../support/program.js";

const now = Date.parse("2026-10-05T06:00:00.000Z");

/** A brand with an order an hour since August, reported in September, and one refund since then. */
async function brand() {
  const home = makeHome();
  const mirror = await makeMirror(home);
  const orders = Array.from({ length: 1_200 }, (_, n) => anOrder(n));
  writeRead(mirror, "orders", orders, { at: "2026-09-02T02:00:00.000Z", whole: true });
  const refunded = anOrder(800, { refund_amount: 100.25 });
  writeRead(mirror, "orders", [refunded], { at: "2026-10-05T02:00:00.000Z", whole: true });
  mirror.db.close();
  const run = (words: readonly string[], options: ProgramOptions = {}) =>
    brandapi(["report", "--db", mirror.path, "--locale", "en", ...words], {
      home,
      clock: { now: () => now },
      ...options,
    });
  return { home, path: mirror.path, run };
}

describe("report", () => {
  test("writes a page named for its period, whole or not at all, and says so", async () => {
    const { home, run } = await brand();
    const { code, out, err } = await run(["--month", "2026-09"]);
    expect({ code, out }).toEqual({ code: 0, out: "" });
    expect(err).toMatch(/^September 2026: [\d.]+ kB: report-2026-09\.html\n$/);
    expect(readFileSync(join(home, "report-2026-09.html"), "utf8")).toMatch(
      /^<!doctype html>[\s\S]*<\/html>\n$/,
    );
    await run(["--since", "2026-09-03", "--until", "2026-09-09"]);
    expect(readdirSync(home).filter((name) => name.startsWith("report"))).toEqual([
      "report-2026-09-03-to-2026-09-09.html",
      "report-2026-09.html",
    ]);
  });

  test("goes to stdout for `-o -`, and to the file that is named, which stays as it was where that fails", async () => {
    const { home, path, run } = await brand();
    const { out, err } = await run(["-o", "-"]);
    expect({ begins: out.slice(0, 15), err }).toEqual({ begins: "<!doctype html>", err: "" });
    writeFileSync(join(home, "old.html"), "old");
    const failed = await run(["-o", join(home, "none", "page.html")]);
    expect(failed.code).toBe(3);
    expect(failed.err).toContain("ENOENT");
    expect((await run(["-o", path])).code).toBe(2);
    expect((await run(["-o", join(home, "old.html"), "--quiet"])).err).toBe("");
    expect(readFileSync(join(home, "old.html"), "utf8")).toMatch(/^<!doctype/);
  });

  test("compares nothing with a time that was not read whole, and says so", async () => {
    const orders = Array.from({ length: 120 }, (_, n) =>
      anOrder(n, { order_date: new Date(Date.UTC(2026, 7, 1, 12) + n * 43_200_000).toISOString() }),
    );
    const nightly = await nights({ orders }, {}, { begin: Date.UTC(2026, 8, 20, 2) });
    await nightly.sync("orders", { since: Date.UTC(2026, 7, 10) });
    const told = async (...words: string[]) =>
      JSON.parse((await nightly.run(`report --json ${words.join(" ")}`)).out);
    const running = await told();
    expect(running.period).toMatchObject({
      name: "September 2026",
      is_read: true,
      before: { is_read: false },
    });
    expect(running.sales.now).not.toEqual([]);
    expect(running.sales.before).toEqual([]);
    expect(running.months.map((one: { net_before: unknown }) => one.net_before)).toEqual([null, null]);
    const [, host] = (await nightly.run("report --text")).out.split("moved\n");
    expect(host).toMatch(/^[^\n]* not read\n/);
    expect((await told("--month", "2026-08")).period.is_read).toBe(false);
    expect((await nightly.run("report --month 2026-08 --text")).out).toContain(
      "A part of these days was never read",
    );
    await nightly.sync("orders", { full: true });
    expect((await told()).sales.before).not.toEqual([]);
    const later = await nightly.run("report --month 2026-12 --text");
    expect(later).toMatchObject({
      code: 3,
      err: expect.stringContaining("nothing is known from 2026-12-01 on"),
    });
  });

  test("refuses a file for what is printed", async () => {
    const { run } = await brand();
    for (const flag of ["--text", "--json"])
      expect(await run([flag, "-o", "page.html"])).toMatchObject({
        code: 2,
        err: expect.stringContaining(flag),
      });
  });

  test("is text of 80 columns where asked, with colour in a terminal alone", async () => {
    const { home, run } = await brand();
    const plain = await run(["--month", "2026-09", "--text"]);
    expect(plain.out).toContain("Sales\ncurrency  orders");
    expect(plain.out).toMatch(/^EUR {10}720 .*\d+,\d{3}\.\d\d/m);
    expect(plain.out).toMatch(/^Aug 2026 +EUR .* −100\.25 +1$/m);
    expect(plain.out).toMatch(/^#800 +Aug 2026 +EUR +refunded +−100\.25$/m);
    expect(plain.out).toMatch(/^EUR {2}[▁▂▃▄▅▆▇█]{30} {2}most /m);
    expect(plain.out).toContain("What is proven\n");
    for (const line of plain.out.split("\n")) expect(displayWidth(line), line).toBeLessThanOrEqual(80);
    expect(plain.out).not.toContain("\u001b");
    const coloured = await run(["--month", "2026-09", "--text"], { tty: true });
    expect(coloured.out).toContain("\u001b[1mSales");
    expect((await run(["--month", "2026-09", "--text", "--no-color"], { tty: true })).out).toBe(plain.out);
    const ascii = await run(["--month", "2026-09", "--text"], { env: { LANG: "C" } });
    expect(ascii.out).toMatch(/^ {2}Sep 2026 {2}#+/m);
    expect(readdirSync(home).filter((name) => name.startsWith("report"))).toEqual([]);
  });

  test("is an object with all of its figures with `--json`", async () => {
    const { run } = await brand();
    const told = JSON.parse((await run(["--month", "2026-09", "--json"])).out);
    expect(told).toMatchObject({
      period: { since: "2026-09-01", until: "2026-09-30", before: { name: "August 2026" } },
      currencies: ["EUR"],
      sales: { now: [{ currency: "EUR", orders: 720 }] },
      restated: { months: [{ month: "2026-08", difference: -100.25, orders: 1 }] },
      triangle: [{ month: "2026-08", age_months: 2, refunded_amount: 100.25 }],
      outlook: [{ why_none: expect.stringContaining("this mirror has watched refunds since 2 Sep 2026") }],
    });
  });

  test("takes one period at a time, and names what is no month, no time and no locale", async () => {
    const { run } = await brand();
    for (const [words, says] of [
      [["--month", "october"], "Not a month: `october`."],
      [["--month", "2026-13"], "Not a month: `2026-13`."],
      [["--month", "2026-09", "--since", "7d"], "`--month` does not go with `--since` and `--until`."],
      [["--since", "2026-09-09", "--until", "2026-09-01"], "`--since` is later than `--until`."],
      [["--locale", "tlhx-!"], "Not a locale: `tlhx-!`."],
      [["--locale", "xx"], "Not a locale: `xx`."],
    ] as const) {
      const { code, err } = await run(words);
      expect({ code, err: err.split("\n")[0] }).toEqual({ code: 2, err: `brandapi: ${says}` });
    }
  });

  test("stays a page where a currency is anything, and a period is years", async () => {
    const home = makeHome();
    const mirror = await makeMirror(home);
    const orders = Array.from({ length: 500 }, (_, n) =>
      anOrder(n % 48, { id: `o${n}`, currency: `C${n}<b>${"x".repeat(n)}` }),
    );
    writeRead(mirror, "orders", orders, { at: "2026-10-05T02:00:00.000Z", whole: true });
    mirror.db.close();
    const words = ["report", "--db", mirror.path, "--locale", "en", "--since", "2016-01-01"];
    const page = await brandapi([...words, "-o", "-"], { home, clock: { now: () => now } });
    expect(page.out.length).toBeLessThan(200_000);
    expect(page.out).toContain("which has 488 currencies more");
    expect(page.out).toContain("These are more days than anybody reads: <code>sales_by_day</code> has them.");
    const text = await brandapi([...words, "--text"], { home, clock: { now: () => now } });
    expect(text.out).toContain("and 488 currencies more, in `sales_by_month`");
    for (const line of text.out.split("\n")) expect(displayWidth(line), line).toBeLessThanOrEqual(80);
  });

  test("says what is missing where there is no mirror, or no order was ever read", async () => {
    const home = makeHome();
    expect((await brandapi("report", { home })).err).toContain("No mirror yet");
    const mirror = await makeMirror(home);
    writeRead(mirror, "roster", []);
    mirror.db.close();
    const { code, err } = await brandapi(["report", "--db", mirror.path], { home });
    expect({ code, err }).toMatchObject({
      code: 3,
      err: expect.stringContaining("The mirror holds no orders yet"),
    });
    expect(err).toContain("hint: run `brandapi sync orders");
  });
});
