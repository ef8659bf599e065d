import { describe, expect, test } from "vitest";
import { counts, makeBrand, readsOrders } from "../support/brand.js";
import { at, day, fileAt, hour, minute, noon, orderAt, ordersBefore } from "../support/records.js";
import { Sqlite } from "../support/sqlite.js";

const orders = ordersBefore(noon - hour, 350, 12 * hour);

async function runNextDay(brand: ReturnType<typeof makeBrand>, command = "sync orders") {
  brand.pass(day);
  const ran = await brand.run(command);
  return {
    ...ran,
    last: brand.lastRun(),
    orderRequests: ran.requests.filter(({ path }) => path === "/orders").length,
  };
}

const amountOf = (brand: ReturnType<typeof makeBrand>, id: string) =>
  brand.sql<{ refund: number }>("SELECT refund_amount AS refund FROM orders WHERE id = ?", id)[0]?.refund;

describe("the first sync", () => {
  test("the first sync sends one request per 100 orders, one request for daily totals, and four for counts", async () => {
    const brand = makeBrand({ orders });
    const { requests, code } = await brand.run("sync orders");
    expect(code).toBe(0);
    expect(requests.filter(readsOrders)).toHaveLength(4);
    expect(requests.filter(counts)).toHaveLength(4);
    expect(requests.filter(({ path }) => path === "/analytics/clicks")).toHaveLength(1);
    expect(brand.mirrored()).toHaveLength(350);
    expect(brand.lastRun()).toMatchObject({
      outcome: "done",
      verified: 1,
      rows_new: 350,
      api_total: 350,
      mirror_total: 350,
      differing: 0,
    });
  });

  test("sync does not keep a database transaction open while it waits for a response", async () => {
    const brand = makeBrand({ orders });
    const other = new Sqlite(brand.db, { timeout: 0 });
    // Fails if another connection has an open transaction.
    brand.before = () => void other.exec("BEGIN IMMEDIATE; ROLLBACK");
    expect((await brand.run("sync orders")).code).toBe(0);
    expect(brand.requests.filter(readsOrders)).toHaveLength(4);
    other.close();
  });

  test("later syncs never read orders dated before the first sync's --since", async () => {
    const brand = makeBrand({ orders });
    await brand.run("sync orders --since 2026-11-01");
    const stored = brand.mirrored().length;
    const { code, last } = await runNextDay(brand);
    expect([code, last.verified, brand.mirrored().length]).toEqual([0, 1, stored]);
    expect(last.covered_from).toBe("2026-11-01T00:00:00.000Z");
  });

  test("if the orders from one second do not fit on one page, sync reads them as a list", async () => {
    const crowd = Array.from({ length: 230 }, (_, n) => orderAt(`c${n}`, noon - 90 * day + (n % 900)));
    const brand = makeBrand({ orders: [...orders.slice(0, 150), ...crowd, ...orders.slice(200)] });
    await brand.run("sync orders");
    expect(brand.lastRun()).toMatchObject({ outcome: "done", verified: 1 });
    expect(brand.mirrored()).toHaveLength(530);
    brand.withdraw("c7");
    brand.attributeLate(noon - 90 * day);
    expect(await runNextDay(brand)).toMatchObject({ code: 0, last: { verified: 1 } });
    expect(brand.mirrored()).toHaveLength(530);
    expect(brand.mirrored()).not.toContain("c7");
  });
});

describe("syncs after the first sync", () => {
  test("sync re-reads and verifies the window even if there are no new orders", async () => {
    const brand = makeBrand({ orders });
    await brand.run("sync orders");
    const { last, orderRequests } = await runNextDay(brand);
    expect(last).toMatchObject({ outcome: "done", verified: 1, rows_new: 0, rows_changed: 0 });
    // The window takes one request, the counts take four, and the audit takes three.
    expect(orderRequests).toBe(1 + 4 + 3);
  });

  test("sync finds a refund in the window", async () => {
    const brand = makeBrand({ orders });
    await brand.run("sync orders");
    brand.refund("o20", 3);
    await runNextDay(brand);
    expect(amountOf(brand, "o20")).toBe(3);
  });

  test("sync uses daily totals to find a refund of an old order", async () => {
    const brand = makeBrand({ orders: ordersBefore(noon - hour, 3_000, hour) });
    await brand.run("sync orders --audit 0");
    brand.refund("o2500", 3);
    const { requests, last } = await runNextDay(brand, "sync orders --audit 0");
    expect(amountOf(brand, "o2500")).toBe(3);
    expect(last).toMatchObject({ verified: 1, rows_changed: 1 });
    expect(requests.filter(readsOrders)).toHaveLength(8 + 1);
  });

  const midnight = noon - 12 * hour;

  test.each([
    ["in the middle of a page", "o20", ordersBefore(noon - hour, 200, hour)],
    ["at the end of a page", "o99", ordersBefore(noon - hour, 200, hour)],
    ["at the end of a page and of a day", "o99", ordersBefore(midnight + 98 * 1_000, 200, 1_000)],
  ])(
    "sync finds a revoked refund of an order %s, even if the API returned no daily totals during the previous sync",
    async (_, id, orders) => {
      const brand = makeBrand({ orders });
      await brand.run("sync orders");
      brand.api.variants = { dailyTotals: "absent" };
      brand.refund(id, 3);
      await runNextDay(brand, "sync orders --audit 0");
      expect(amountOf(brand, id)).toBe(3);
      brand.api.variants = {};
      brand.change("orders", id, { refund_amount: 0 });
      await runNextDay(brand, "sync orders --audit 0 --window 0d");
      expect(amountOf(brand, id)).toBe(0);
    },
  );

  test("if the daily totals do not reflect refunds, the audit needs at most a week to find a refund of an old order", async () => {
    const brand = makeBrand({
      orders: ordersBefore(noon - hour, 3_000, hour),
      variants: { revenue: "gross" },
    });
    await brand.run("sync orders");
    brand.refund("o2500", 3);
    let nights = 0;
    while (amountOf(brand, "o2500") === 0 && nights < 10) {
      await runNextDay(brand);
      nights += 1;
    }
    expect(nights).toBeLessThanOrEqual(7);
  });

  test("once the audit has re-read the oldest order, it starts over with the newest order", async () => {
    const brand = makeBrand({ orders });
    await brand.run("sync orders");
    for (const _ of ["three pages of four", "the last one, and two from the top"])
      expect((await runNextDay(brand, "sync orders --audit 3 --window 0d")).orderRequests).toBe(1 + 4 + 3);
  });

  test("sync finds a late attribution even without daily totals", async () => {
    const brand = makeBrand({ orders, variants: { dailyTotals: "absent" } });
    await brand.run("sync orders --audit 0");
    const late = brand.attributeLate(noon - 150 * day);
    const { err, last } = await runNextDay(brand, "sync orders --audit 0");
    expect(brand.mirrored()).toContain(late);
    expect(last).toMatchObject({ verified: 1, rows_new: 1 });
    expect(err).toContain("returned no daily totals");
  });

  test("even without daily totals, sync reads 450 newly added orders with old dates in one run", async () => {
    const brand = makeBrand({ variants: { dailyTotals: "absent" } });
    await brand.run("sync orders");
    brand.data.orders = ordersBefore(noon - 40 * day, 450, 6 * hour);
    const { code, last, orderRequests } = await runNextDay(brand, "sync orders --audit 0");
    expect([code, last.verified, brand.mirrored().length]).toEqual([0, 1, 450]);
    expect(orderRequests).toBeLessThan(20);
  });

  test("sync sets `removed_at` for a withdrawn order, and clears it when the order returns", async () => {
    const brand = makeBrand({ orders });
    await brand.run("sync orders");
    const gone = brand.withdraw("o9", "o300");
    const nextRun = await runNextDay(brand);
    expect(nextRun.last).toMatchObject({ verified: 1, rows_removed: 2 });
    expect(brand.mirrored()).toHaveLength(348);
    brand.add("orders", ...gone);
    expect((await runNextDay(brand)).last).toMatchObject({ verified: 1 });
    expect(brand.mirrored()).toHaveLength(350);
    expect(brand.sql("SELECT kind FROM changes WHERE key = 'o9' ORDER BY change_id")).toEqual([
      { kind: "removed" },
      { kind: "returned" },
    ]);
  });

  test("sync does not miss or remove an order that is added while pages are being read", async () => {
    const brand = makeBrand({ orders });
    await brand.run("sync orders");
    brand.pass(day);
    let fresh: string | undefined;
    let isGone = false;
    brand.before = (request) => {
      if (readsOrders(request)) fresh ??= brand.order();
      if (counts(request) && !isGone) isGone = brand.withdraw("o200").length > 0;
      return undefined;
    };
    await brand.run("sync orders");
    expect(brand.lastRun()).toMatchObject({ verified: 1 });
    expect(brand.mirrored()).not.toContain("o200");
    await runNextDay(brand);
    expect(brand.mirrored()).toContain(fresh);
  });

  test("sync uses the count of cancelled orders to find an old order that was cancelled", async () => {
    const brand = makeBrand({ orders, variants: { dailyTotals: "absent" } });
    await brand.run("sync orders --audit 0");
    brand.cancel("o330");
    expect((await runNextDay(brand, "sync orders --audit 0")).last).toMatchObject({
      verified: 1,
      rows_changed: 1,
    });
  });
});

describe("implausible removals", () => {
  test("sync does not remove more than half of a list of over 20 orders unless --accept-removals is given", async () => {
    const brand = makeBrand({ orders });
    await brand.run("sync orders");
    brand.withdraw(...orders.slice(0, 200).map(({ id }) => id));
    const heldBack = await runNextDay(brand);
    expect(heldBack.code).toBe(8);
    expect(heldBack.err).toContain("no longer returns 200 of 350 mirrored records: nothing was removed");
    expect(brand.mirrored()).toHaveLength(350);
    expect((await runNextDay(brand, "sync orders --accept-removals")).code).toBe(0);
    expect(brand.mirrored()).toHaveLength(150);
  });

  test("if a sync of several resources holds back removals, the sync suggests --accept-removals", async () => {
    const brand = makeBrand({ orders });
    await brand.run("sync orders roster");
    brand.withdraw(...orders.slice(0, 200).map(({ id }) => id));
    const { code, err } = await brand.run("sync orders roster");
    expect([code, err]).toEqual([8, expect.stringContaining("run `brandapi sync orders --accept-removals`")]);
  });

  test("sync does not remove all orders, even if there are only a few, unless --accept-removals is given", async () => {
    const brand = makeBrand({ orders: orders.slice(0, 3) });
    await brand.run("sync orders");
    brand.withdraw("o0", "o1", "o2");
    expect((await runNextDay(brand)).code).toBe(8);
    expect(brand.mirrored()).toHaveLength(3);
  });
});

describe("an interrupted run", () => {
  test("sync resumes an interrupted run without re-reading orders that it read within the last hour", async () => {
    const brand = makeBrand({ orders: ordersBefore(noon - hour, 1_000, hour) });
    let page = 0;
    const fifth = (request: Parameters<typeof readsOrders>[0]) => readsOrders(request) && ++page === 5;
    await brand.stopped("sync orders", fifth);
    const stored = brand.mirrored().length;
    expect(stored).toBeGreaterThanOrEqual(300);
    brand.pass(10 * minute);
    const { requests, err } = await brand.run("sync orders");
    // The remaining orders take six requests, newer orders take one, and the day that the first run read only in part
    // takes at most two.
    expect(requests.filter(readsOrders).length).toBeLessThanOrEqual(9);
    expect(err).toContain("resuming an interrupted sync");
    expect([brand.lastRun().verified, brand.mirrored().length]).toEqual([1, 1_000]);
  });

  test("a resumed sync prints the number of records that the interrupted sync read", async () => {
    const brand = makeBrand({ orders: ordersBefore(noon - hour, 1_000, hour) });
    expect((await brand.run("sync orders")).code).toBe(0);
    brand.pass(minute);
    let page = 0;
    await brand.stopped("sync orders --full", (request) => readsOrders(request) && ++page === 5);
    const { rows_read } = brand.lastRun();
    expect(rows_read).toBeLessThan(1_000);
    const { err } = await brand.run("sync orders --full");
    expect(err).toContain(`resuming an interrupted sync: ${rows_read} records already read`);
  });

  test("a sync without --full does not claim to resume an interrupted `sync --full`", async () => {
    const brand = makeBrand({ orders: ordersBefore(noon - hour, 1_000, hour) });
    await brand.run("sync orders");
    brand.pass(minute);
    let page = 0;
    await brand.stopped("sync orders --full", (request) => readsOrders(request) && ++page === 9);
    const { code, err } = await brand.run("sync orders");
    expect([code, err]).toEqual([0, expect.not.stringContaining("resuming")]);
  });

  test.each([
    ["sync orders --since 2026-11-05", "2026-11-05 00:00 to 2026-11-21 12:00"],
    ["sync orders --since 2026-11-05 --until 2026-11-08", "2026-11-05 00:00 to 2026-11-08 23:59"],
    ["sync orders", "2026-10-22 12:00 to 2026-11-21 12:00"],
  ])(
    "if an interrupted `sync --full` has just read all dates that `%s` requests, the command skips these dates and prints a note",
    async (command, skipped) => {
      const brand = makeBrand({ orders: ordersBefore(noon - hour, 1_000, hour) });
      await brand.run("sync orders");
      brand.pass(minute);
      let page = 0;
      await brand.stopped("sync orders --full", (request) => readsOrders(request) && ++page === 9);
      brand.pass(minute);
      const note = `orders: skipping ${skipped}, which an interrupted sync has just read\n`;
      const first = await brand.run(`${command} --audit 0`);
      expect([first.code, first.err]).toEqual([0, expect.stringContaining(note)]);
      expect(first.requests.filter(readsOrders).length).toBeLessThanOrEqual(1);
      const second = await brand.run(`${command} --audit 0`);
      expect([second.code, second.err]).toEqual([0, expect.not.stringContaining("skipping")]);
      expect(brand.lastRun().rows_read).toBeGreaterThanOrEqual(96);
    },
  );

  test("an interrupted sync's row counts include every order that the sync stored", async () => {
    const brand = makeBrand({ orders: ordersBefore(noon - hour, 1_000, hour) });
    let page = 0;
    await brand.stopped("sync orders", (request) => readsOrders(request) && ++page === 5);
    const { rows_new, rows_read } = brand.lastRun();
    expect([rows_read, rows_new]).toEqual([brand.mirrored().length, brand.mirrored().length]);
  });

  test("after a killed sync, the mirror contains only complete responses, and the next run reads the remaining orders", async () => {
    const brand = makeBrand({ orders: ordersBefore(noon - hour, 1_000, hour) });
    let page = 0;
    await brand.killed("sync orders", (request) => readsOrders(request) && ++page === 7);
    expect(brand.sql("PRAGMA integrity_check")).toEqual([{ integrity_check: "ok" }]);
    brand.pass(2 * day);
    await brand.run("sync orders");
    expect([brand.lastRun().verified, brand.mirrored().length]).toEqual([1, 1_000]);
  });

  test("before sync removes records that an interrupted run did not find, it re-reads the days of these records", async () => {
    const brand = makeBrand({ orders });
    await brand.run("sync orders");
    brand.pass(day);
    const gone = brand.withdraw("o10");
    await brand.stopped("sync orders", counts);
    brand.add("orders", ...gone);
    brand.pass(minute);
    await brand.run("sync orders");
    expect(brand.mirrored()).toContain("o10");
    expect(brand.lastRun()).toMatchObject({ verified: 1, rows_removed: 0 });
  });
});

describe("syncs of a date range", () => {
  test("sync --since warns about the gap that it leaves, and the next run fills the gap", async () => {
    const brand = makeBrand({ orders });
    await brand.run("sync orders");
    brand.pass(90 * day);
    for (let n = 0; n < 90; n += 1) brand.attributeLate(brand.now() - n * day - hour);
    const narrow = await brand.run("sync orders --since 5d");
    expect(narrow.err).toContain("has never been read and is not covered");
    expect((await runNextDay(brand)).last).toMatchObject({ verified: 1 });
    expect(brand.mirrored()).toHaveLength(440);
    expect(brand.sql("SELECT count(*) AS spans FROM coverage WHERE from_at IS NULL")).toEqual([{ spans: 1 }]);
  });

  test("after an interrupted run, sync --since does not record older unread dates as read", async () => {
    const brand = makeBrand({ orders });
    let page = 0;
    await brand.stopped("sync orders", (request) => readsOrders(request) && ++page === 3);
    const narrow = await brand.run("sync orders --since 5d");
    expect([narrow.code, brand.mirrored().length < 350]).toEqual([0, true]);
    expect(narrow.err).toContain("has never been read and is not covered");
    expect((await runNextDay(brand)).last).toMatchObject({ verified: 1, covered_from: null });
    expect(brand.mirrored()).toHaveLength(350);
  });

  test("sync --dry-run requests only counts and writes nothing", async () => {
    const brand = makeBrand({ orders });
    const { requests, out } = await brand.run("sync orders --dry-run --json");
    expect(requests.filter(readsOrders)).toEqual([]);
    expect(out).toContain('"requests"');
    brand.setKey({ scopes: ["roster:read"] });
    expect((await brand.run("sync --dry-run")).out).toContain("orders: skipped: the key lacks the scope");
    const denied = await brand.run("sync orders --dry-run");
    expect([denied.code, denied.err]).toEqual([5, expect.stringContaining("lacks the scope analytics:read")]);
  });

  test("sync --dry-run works with a mirror that lacks the tables of a new resource", async () => {
    const brand = makeBrand({ orders });
    await brand.run("sync roster");
    new Sqlite(brand.db).exec("DROP TABLE orders; DROP TABLE orders_removed").close();
    const { code, out } = await brand.run("sync orders --dry-run");
    expect([code, out]).toEqual([0, expect.stringContaining("350 records")]);
  });
});

test("sync reads all library files even though the API treats the end of a date range as exclusive", async () => {
  const files = Array.from({ length: 130 }, (_, n) => fileAt(`f${n}`, noon - hour - n * 30 * minute));
  const brand = makeBrand({ content: files });
  const { requests } = await brand.run("sync content");
  expect(brand.lastRun("content")).toMatchObject({ verified: 1 });
  expect(brand.mirrored("content")).toHaveLength(130);
  const ends = requests.flatMap(({ path, query }) =>
    path === "/content" ? (query.uploaded_before ?? []) : [],
  );
  expect(ends.every((end) => end.endsWith("00.000Z") || end.endsWith(".000Z"))).toBe(true);
  brand.remove("content", "upload/f100");
  await runNextDay(brand, "sync content");
  expect(brand.mirrored("content")).toHaveLength(129);
});

test("the time span that sync stores with each change includes the moment at which the record changed in the API", async () => {
  const brand = makeBrand({ orders });
  await brand.run("sync orders");
  const seen = brand.now();
  brand.pass(5 * hour);
  brand.refund("o3", 2);
  const happened = brand.now();
  brand.pass(5 * hour);
  await brand.run("sync orders");
  const [change] = brand.sql<{ from: string; to: string }>(
    "SELECT last_seen_unchanged_at AS 'from', seen_changed_at AS 'to' FROM changes WHERE field = 'refund_amount'",
  );
  expect(change?.from && change.from <= at(seen)).toBe(true);
  expect(change && change.from <= at(happened) && change.to >= at(happened)).toBe(true);
});

test("sync prints nothing about daily totals if the API denies access to orders", async () => {
  const brand = makeBrand();
  brand.before = ({ path }) =>
    path === "/orders" || path.startsWith("/analytics") ? { status: 402 } : undefined;
  const { err } = await brand.run("sync orders");
  expect(err).not.toContain("daily totals");
});
