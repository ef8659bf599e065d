import { describe, expect, test } from "vitest";
import {
  countsOf,
  day,
  hour,
  listed,
  nights,
  noon,
  orderAt,
  ordersBefore,
  readsOf,
} from "../support/nights.js";

const orders = () => ordersBefore(noon, 300, 12 * hour);
/** Answers that are waited for are committed one by one. */
const slow = { mostPerPage: 11, delivery: "late" } as const;
const nth = (number: number) => (request: { number: number }) => request.number === number;

test("a record without an id leaves its answer out, and none of those that came before it", async () => {
  const spoiled = orders().map((one) => (one.id === "o155" ? { ...one, id: null } : one));
  const brand = await nights({ orders: spoiled }, { mostPerPage: 11 });
  const { failure, outcome, rows_read } = await brand.sync();
  expect(String(failure)).toContain("has no `id`");
  expect(outcome).toBe("failed");
  // The last one shares its oldest record with the one that was left out: it is there, and proven by neither.
  expect(rows_read).toBeGreaterThan(120);
  expect(rows_read).toBeLessThan(156);
});

test("an answer that fails in the middle of being written is not half there, and not counted", async () => {
  const brand = await nights({ orders: orders() }, { mostPerPage: 11 });
  brand.mirror.db.exec(
    "CREATE TRIGGER spoil BEFORE INSERT ON records WHEN NEW.key = 'o155' BEGIN SELECT RAISE(ABORT, 'spoilt'); END",
  );
  await expect(brand.sync()).rejects.toThrow("spoilt");
  const kept = brand.mirrored();
  expect(kept).not.toContain("o154");
  const [spoilt] = brand.sql<{ rows_read: number }>("SELECT rows_read FROM sync_runs");
  expect(spoilt?.rows_read).toBe(kept.length);
  // What is claimed is held.
  const [lowest] = brand.sql<{ from_at: string }>("SELECT min(from_at) AS from_at FROM coverage");
  const claimed = orders().filter(({ order_date }) => String(order_date) >= (lowest?.from_at ?? "9"));
  expect(kept).toEqual(expect.arrayContaining(claimed.map(({ id }) => id)));
  brand.mirror.db.exec("DROP TRIGGER spoil");
  expect(await brand.sync()).toMatchObject({ failure: null, verified: true });
  expect(brand.mirrored()).toEqual(listed(brand));
});

describe.each(["stopped", "killed"] as const)("a first read that is %s", (how) => {
  test("is gone on with: the next run repeats no committed page", async () => {
    const brand = await nights({ orders: orders() }, slow);
    await brand.broken(how, nth(20));
    const kept = brand.mirrored();
    expect(kept.length).toBeGreaterThan(100);
    brand.pass(60_000);
    const { asked, failure, rows_read, verified } = await brand.sync();
    expect({ failure, verified }).toEqual({ failure: null, verified: true });
    expect(brand.mirrored()).toEqual(listed(brand));
    expect(rows_read).toBeLessThanOrEqual(300 - kept.length + 11);
    // One look at what has come since, then on from the lowest date that was kept.
    const [top, ...rest] = readsOf(asked, "/orders");
    expect(top?.query.end_date).toBeUndefined();
    const lowest = Math.min(
      ...ordersBefore(noon, kept.length, 12 * hour).map((one) => Date.parse(`${one.order_date}`)),
    );
    for (const { query } of rest)
      expect(Date.parse(query.end_date ?? "")).toBeLessThanOrEqual(lowest + 13 * hour);
  });

  test("at any request: the mirror holds whole answers, claims no more than it holds, and the next run ends it", async () => {
    for (let number = 2; number <= 12; number += 1) {
      const brand = await nights({ orders: ordersBefore(noon, 60, 12 * hour) }, { ...slow, mostPerPage: 8 });
      await brand.broken(how, nth(number));
      const [lowest] = brand.sql<{ from_at: string | null }>("SELECT min(from_at) AS from_at FROM coverage");
      const claimed = ordersBefore(noon, 60, 12 * hour).filter(
        ({ order_date }) => lowest?.from_at && String(order_date) >= lowest.from_at,
      );
      expect(brand.mirrored()).toEqual(expect.arrayContaining(claimed.map(({ id }) => id)));
      expect(await brand.sync()).toMatchObject({ failure: null, verified: true });
      expect(brand.mirrored()).toEqual(listed(brand));
    }
  });

  test("two days ago, is finished, and the window is read anew", async () => {
    const brand = await nights({ orders: orders() }, slow);
    await brand.broken(how, nth(20));
    brand.pass(2 * day);
    brand.api.records.orders = [...brand.api.records.orders, orderAt("new", brand.now() - hour)];
    const { asked, verified } = await brand.sync();
    expect(verified).toBe(true);
    expect(brand.mirrored()).toEqual(listed(brand));
    expect(countsOf(asked, "/orders").length).toBeGreaterThan(0);
    const { out } = await brand.run("status --json");
    expect(JSON.parse(out)).toMatchObject({ resources: [{ unfinished: null, gaps: [], last_error: null }] });
  });
});

test("`status` says that a read was stopped, until one has gone on with it", async () => {
  const brand = await nights({ orders: orders() }, slow);
  await brand.broken("killed", nth(20));
  expect((await brand.run("status")).out).toContain(
    "a read begun 2026-11-21 12:00 was stopped: the next sync goes on there",
  );
  await brand.sync();
  expect((await brand.run("status")).out).not.toContain("stopped");
});

test("`--full` that is stopped is gone on with by the next plain run, as `status` says", async () => {
  const brand = await nights({ orders: orders() }, { mostPerPage: 11 });
  await brand.sync();
  brand.pass(day);
  await brand.broken(
    "stopped",
    ({ path, query }) => path === "/orders" && String(query.end_date) < "2026-09-01",
    "orders",
    {
      full: true,
    },
  );
  expect((await brand.run("status")).out).toContain("was stopped: the next sync goes on there");
  brand.pass(day);
  expect(await brand.sync()).toMatchObject({ failure: null, verified: true });
  expect((await brand.run("status")).out).not.toContain("was stopped");
});

test("a run that read a gap and the window has finished: `status` says of no stopped read", async () => {
  const brand = await nights({ orders: orders() });
  await brand.sync("orders", { until: noon - 120 * day });
  const { warnings } = await brand.sync("orders", { since: noon - 60 * day });
  expect(warnings).toEqual([expect.stringContaining("has never been read and is not claimed as covered")]);
  brand.pass(day);
  expect(await brand.sync()).toMatchObject({ failure: null, verified: true });
  expect(brand.mirrored()).toEqual(listed(brand));
  expect((await brand.run("status")).out).not.toContain("was stopped");
});

test("a disk that is full leaves whole answers, and the next run goes on", async () => {
  const brand = await nights({ orders: orders() }, { mostPerPage: 11 });
  const pages = Number(brand.mirror.db.pragma("page_count", { simple: true }));
  brand.mirror.db.pragma(`max_page_count = ${pages + 5}`);
  await expect(brand.sync()).rejects.toThrow(/full/);
  brand.mirror.db.pragma("max_page_count = 1000000");
  expect(await brand.sync()).toMatchObject({ failure: null, verified: true });
  expect(brand.mirrored()).toEqual(listed(brand));
});
