import { describe, expect, test } from "vitest";
import {
  at,
  change,
  come,
  countsOf,
  day,
  hour,
  listed,
  nights,
  noon,
  orderAt,
  ordersBefore,
  readsOf,
  withdraw,
} from "../support/nights.js";

/** Two orders a day, so many days back. */
const years = (days: number) => ordersBefore(noon, days * 2, 12 * hour);

describe("an order attributed long after its date", () => {
  test("is found by the figures by day, and only its day is read", async () => {
    const brand = await nights({ orders: years(400) });
    await brand.sync();
    brand.pass(day);
    come(brand, orderAt("late", noon - 200 * day - hour));
    const { asked, failure, verified } = await brand.sync("orders", { audit: 0 });
    expect({ failure, verified }).toEqual({ failure: null, verified: true });
    expect(brand.mirrored()).toEqual(listed(brand));
    const old = readsOf(asked, "/orders").filter(({ query }) => query.end_date !== undefined);
    expect(old.map(({ query }) => query.end_date?.slice(0, 10))).toEqual(["2026-05-06"]);
  });

  test("is found by the counts where there are no figures", async () => {
    const brand = await nights({ orders: years(400) }, { figures: "absent" });
    await brand.sync();
    brand.pass(day);
    come(brand, orderAt("late", noon - 200 * day - hour));
    expect(await brand.sync("orders", { audit: 0 })).toMatchObject({
      failure: null,
      verified: true,
      rows_new: 1,
    });
  });

  test("is found by the counts in a long history by halving it, not by reading all", async () => {
    const brand = await nights({ orders: ordersBefore(noon, 6_000, 2 * hour) }, { figures: "absent" });
    await brand.sync();
    brand.pass(day);
    come(brand, orderAt("late", noon - 333 * day - hour));
    const { asked, verified, rows_new } = await brand.sync("orders", { audit: 0 });
    expect({ verified, rows_new }).toEqual({ verified: true, rows_new: 1 });
    expect(asked.length).toBeLessThan(25);
    expect(countsOf(asked, "/orders").length).toBeGreaterThan(3);
  });

  test("is found in a mirror that begins in the middle, and nothing older comes along", async () => {
    const brand = await nights({ orders: years(100) }, { figures: "absent" });
    await brand.sync("orders", { since: noon - 60 * day });
    brand.pass(day);
    come(brand, orderAt("late", noon - 50 * day - hour), orderAt("older", noon - 70 * day - hour));
    expect(await brand.sync("orders", { audit: 0 })).toMatchObject({ failure: null, verified: true });
    expect(brand.mirrored()).toContain("late");
    expect(brand.mirrored()).not.toContain("older");
    expect(brand.mirrored()).toHaveLength(122);
  });
});

describe("an old order that is gone", () => {
  test.each(["all", "absent"] as const)("is removed when the counts agree (figures: %s)", async (figures) => {
    const brand = await nights({ orders: years(400) }, { figures });
    await brand.sync();
    brand.pass(day);
    withdraw(brand, "o500");
    expect(await brand.sync("orders", { audit: 0 })).toMatchObject({
      failure: null,
      rows_removed: 1,
      verified: true,
    });
    expect(brand.mirrored()).toEqual(listed(brand));
  });

  test("is not removed while the API's count goes on to differ: it may be among the others", async () => {
    const brand = await nights({ orders: ordersBefore(noon, 30, hour) }, { figures: "absent" });
    await brand.sync();
    brand.pass(hour);
    withdraw(brand, "o7");
    let counts = 0;
    brand.api.before = ({ query }) => {
      if (query.per_page !== "1") return undefined;
      // Whatever was read, one more has come before it is counted.
      counts += 1;
      come(brand, orderAt(`late${counts}`, noon - 3 * hour - counts * 60_000));
      return undefined;
    };
    const { failure, outcome } = await brand.sync();
    expect(String(failure)).toContain("1 record not found under the date known, and nothing was removed");
    expect(outcome).toBe("incomplete");
    expect(brand.mirrored()).toContain("o7");
    brand.api.before = undefined;
    expect((await brand.sync()).failure).toBeNull();
    expect(brand.mirrored()).toEqual(listed(brand));
  });
});

describe("one order moves to an old day while another goes, and no count tells", () => {
  async function moved(figures: "all" | "absent") {
    const brand = await nights({ orders: years(300) }, { figures });
    await brand.sync();
    brand.pass(day);
    change(brand, "o10", { order_date: at(noon - 240 * day - hour) });
    withdraw(brand, "o500");
    return brand;
  }

  test("the figures by day do: the mirror is the API the same night", async () => {
    const brand = await moved("all");
    expect(await brand.sync("orders", { audit: 0 })).toMatchObject({ failure: null, verified: true });
    expect(brand.mirrored()).toEqual(listed(brand));
  });

  test("without figures it may count as removed until the audit comes to where it is now", async () => {
    const brand = await moved("absent");
    let nightsGone = 0;
    for (; nightsGone < 5 && brand.mirrored().join() !== listed(brand).join(); nightsGone += 1) {
      await brand.sync();
      brand.pass(day);
    }
    expect(brand.mirrored()).toEqual(listed(brand));
    expect(brand.sql("SELECT removed_at FROM orders WHERE id = 'o10'")).toEqual([{ removed_at: null }]);
  });
});

test("who is missing is not removed where the figures that would tell where it went are not there", async () => {
  const brand = await nights({ orders: years(300) });
  await brand.sync();
  brand.pass(day);
  let figures = 0;
  let isMoved = false;
  brand.api.before = ({ path }) => {
    if (path === "/analytics/clicks") figures += 1;
    if (path === "/orders" && !isMoved) {
      isMoved = true;
      change(brand, "o10", { order_date: at(noon - 240 * day - hour) });
      withdraw(brand, "o500");
    }
    return path === "/analytics/clicks" && figures > 1 ? { status: 402 } : undefined;
  };
  const { failure, verified } = await brand.sync("orders", { audit: 0 });
  expect({ failure: String(failure), verified }).toEqual({
    failure: expect.stringContaining("1 record not found under the date known, and nothing was removed"),
    verified: false,
  });
  expect(brand.mirrored()).toContain("o10");
  brand.api.before = undefined;
  brand.pass(day);
  expect(await brand.sync("orders", { audit: 0 })).toMatchObject({ failure: null, verified: true });
  expect(brand.mirrored()).toEqual(listed(brand));
});

test("the run's own audit finds a late order while an old one was deleted: the counts are asked after the last read", async () => {
  const brand = await nights({ orders: years(400) }, { figures: "absent", mostPerPage: 20 });
  await brand.sync("orders", { audit: 0 });
  brand.pass(day);
  // As many as before: no count tells, until the audit has read the one that came.
  come(brand, orderAt("late", noon - 50 * day - hour));
  withdraw(brand, "o790");
  const { asked, verified } = await brand.sync("orders", { audit: 5 });
  expect(brand.mirrored()).toContain("late");
  expect(asked.at(-1)?.query.per_page).toBe("1");
  if (verified) expect(brand.mirrored()).toEqual(listed(brand));
  expect(verified).toBe(true);
});

test("days whose figures moved that are more than a night's budget are read in parts: the run says how many are left", async () => {
  const brand = await nights({ orders: ordersBefore(noon, 1_000, day) }, { revenue: "net", mostPerPage: 5 });
  await brand.sync("orders", { audit: 0 });
  brand.pass(day);
  // Refunds on every fourth of the old days: nothing that a count would show.
  for (let n = 40; n < 1_000; n += 4) change(brand, `o${n}`, { refund_amount: 3 });
  const left: number[] = [];
  for (let night = 0; night < 5; night += 1) {
    const { failure, outcome, asked } = await brand.sync("orders", { audit: 0 });
    expect(asked.length).toBeLessThan(145);
    const told = /figures moved on (\d+) days? not read yet/.exec(String(failure));
    left.push(told ? Number(told[1]) : 0);
    expect(outcome).toBe(told ? "incomplete" : "done");
    if (!told) break;
    // Exit 8 for people, too.
    expect((await brand.run("verify orders")).code).toBe(8);
    brand.pass(day);
  }
  expect(left[0]).toBeGreaterThan(100);
  expect(left).toEqual([...left].sort((a, b) => b - a));
  expect(left.at(-1)).toBe(0);
  expect(left.length).toBeLessThanOrEqual(4);
  const refunds = brand.sql<{ n: number }>("SELECT count(*) AS n FROM orders WHERE refund_amount = 3");
  expect(refunds).toEqual([{ n: 240 }]);
});

test("days that moved and were not read stay told, where the figures fail when they are asked for again", async () => {
  const brand = await nights({ orders: ordersBefore(noon, 2_000, 12 * hour) }, { mostPerPage: 3 });
  await brand.sync();
  brand.pass(day);
  for (let n = 0; n < 90; n += 1) change(brand, `o${300 + n * 6}`, { total_amount: 99 });
  let [figures, reads] = [0, 0];
  brand.api.before = ({ path, query }) => {
    if (path === "/analytics/clicks") figures += 1;
    else if (query.per_page !== "1") reads += 1;
    // Somebody goes missing, and is found ahead.
    if (reads === 4) change(brand, "o6", { order_date: at(brand.now() + 60_000) });
    return path === "/analytics/clicks" && figures === 2 ? { status: 404 } : undefined;
  };
  const { failure, verified } = await brand.sync("orders", { audit: 0, windowMs: 3 * day });
  expect(figures).toBe(2);
  expect(verified).toBe(false);
  expect(String(failure)).toMatch(/figures moved on \d+ days not read yet/);
});

test("700 orders of four dates without times, in changing order, settle within a night or two", async () => {
  for (let seed = 0; seed < 20; seed += 1) {
    const orders = Array.from({ length: 700 }, (_, n) => orderAt(`s${seed}-${n}`, `2026-11-1${n % 4}`));
    const brand = await nights({ orders }, { ties: "changing" });
    const verified: boolean[] = [];
    for (let night = 0; night < 2 && !verified.at(-1); night += 1) {
      verified.push((await brand.sync()).verified);
      brand.pass(day);
    }
    expect(verified.at(-1), `seed ${seed}`).toBe(true);
    expect(brand.mirrored()).toEqual(listed(brand));
    expect((await brand.sync()).rows_removed).toBe(0);
  }
});

test("a quiet night of a long history asks for its window, a figure and the counts", async () => {
  const brand = await nights({ orders: years(400) });
  await brand.sync();
  brand.pass(day);
  const { asked, verified } = await brand.sync("orders", { audit: 0 });
  expect(verified).toBe(true);
  expect(
    asked.map(({ path, query }) => `${path} ${query.per_page ?? ""} ${query.status ?? ""}`.trim()),
  ).toEqual(["/analytics/clicks", "/orders 100", "/orders 1", "/orders 1 cancelled", "/orders 1 refunded"]);
});
