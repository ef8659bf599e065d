import { describe, expect, test } from "vitest";
import type { PrintedResult } from "../../src/verify/verification-result.js";
import { counts, makeBrand, readsOrders, type SentRequest, type TestBrand } from "../support/brand.js";
import { day, fileAt, hour, memberOf, noon, orderAt, ordersBefore } from "../support/records.js";
import { Sqlite } from "../support/sqlite.js";

/** 350 orders, one every 12 hours since the end of May. */
const orders = ordersBefore(noon - hour, 350, 12 * hour);

async function verified(brand: TestBrand, command = "verify orders") {
  const ran = await brand.run(`${command} --json`);
  const [result] = ran.out
    .split("\n")
    .filter((line) => line.includes('"months"'))
    .map((line) => JSON.parse(line) as PrintedResult);
  const states = Object.fromEntries((result?.months ?? []).map(({ month, state }) => [month, state]));
  return { ...ran, result, states, last: brand.lastRun() };
}

const different = (states: Record<string, string>) =>
  Object.keys(states).filter((month) => states[month] === "different");
const records = (brand: TestBrand) =>
  brand.sql("SELECT key, json, removed_at, dated_ms FROM records ORDER BY record_id");
const why = (result: PrintedResult | undefined, month: string) =>
  result?.months.find((one) => one.month === month)?.why;

async function synced(options: Parameters<typeof makeBrand>[0] = {}, flags = "--audit 0") {
  const brand = makeBrand({ orders, ...options });
  await brand.run(`sync orders ${flags}`);
  return brand;
}

describe("verifying orders month by month", () => {
  test("verify compares every month of orders in six requests, and records the totals in `sync_runs`", async () => {
    const brand = await synced();
    const { requests, code, last, states, result } = await verified(brand);
    expect(code).toBe(0);
    expect(states).toEqual(
      Object.fromEntries(
        ["05", "06", "07", "08", "09", "10", "11"].map((month) => [`2026-${month}`, "proven"]),
      ),
    );
    expect(result).toMatchObject({ state: "proven", unread: 0, requests: 6, tables: { state: "proven" } });
    expect(why(result, "2026-10")).toMatch(/daily totals and counts.*all, cancelled, refunded/);
    expect(requests.filter(({ path }) => path !== "/me")).toHaveLength(6);
    expect(requests.filter(readsOrders)).toEqual([]);
    expect(last).toMatchObject({
      outcome: "compared",
      verified: 1,
      requests: 6,
      rows_read: 0,
      api_total: 350,
      mirror_total: 350,
      differing: 0,
      error: null,
    });
    const unrepaired = await verified(brand, "verify orders --repair");
    expect(unrepaired.result).toMatchObject({ state: "proven", requests: 6 });
  });

  test("for each month, verify reports when the month's least recently read dates were read", async () => {
    const brand = await synced();
    brand.pass(day);
    await brand.run("sync orders --audit 0");
    const readDays = (await verified(brand)).result?.months.map(({ read_at }) => read_at?.slice(0, 10));
    expect(readDays).toEqual([...Array(6).fill("2026-11-21"), "2026-11-22"]);
  });

  test("if the API returns no daily totals, verify compares only counts, and ignores status filters with wrong counts", async () => {
    const brand = await synced({ variants: { dailyTotals: "absent" } });
    expect(why((await verified(brand)).result, "2026-10")).toMatch(/^counts agree/);
    brand.api.variants = { refundedFilter: "any" };
    brand.refund("o5", 1);
    expect((await brand.run("sync orders")).code).toBe(8);
    const { code, result } = await verified(brand);
    expect([code, why(result, "2026-11")]).toEqual([0, expect.stringMatching(/\(all, cancelled\)/)]);
  });

  test("if neither the API nor the mirror contains any orders, verify reports orders as proven", async () => {
    expect(await verified(await synced({ orders: [] }))).toMatchObject({
      code: 0,
      result: { state: "proven" },
    });
  });

  test("verify compares content, which has no daily totals or filters, in three requests", async () => {
    const files = Array.from({ length: 30 }, (_, n) => fileAt(`f${n}`, noon - hour - n * day));
    const brand = makeBrand({ content: files });
    await brand.run("sync content");
    expect((await verified(brand, "verify content")).result).toMatchObject({ state: "proven", requests: 3 });
    brand.remove("content", "upload/f25");
    const { code, result, states } = await verified(brand, "verify content");
    expect([code, states["2026-10"]]).toEqual([8, "different"]);
    expect(result?.blind_spot).toContain("affect no count");
  });

  test("verify warns if the API no longer returns daily totals", async () => {
    const brand = await synced();
    expect((await verified(brand)).result?.blind_spot).toContain("neither a count nor a daily total");
    brand.api.variants = { dailyTotals: "absent" };
    const { code, err } = await verified(brand);
    expect([code, err]).toEqual([
      0,
      expect.stringContaining("warning: orders: the API returned no daily totals"),
    ]);
  });

  test("verify compares only counts if the amounts of most days have changed but no old order has changed", async () => {
    const brand = await synced({ variants: { dailyTotalsDrift: true } });
    brand.pass(hour);
    const drifted = await verified(brand);
    expect([drifted.code, drifted.result?.blind_spot]).toEqual([
      0,
      expect.stringContaining("affect no count"),
    ]);
    expect(why(drifted.result, "2026-06")).toMatch(/^counts agree \(.*\); amounts were not compared/);
    brand.refund("o345", 1);
    const changed = await verified(brand);
    expect([changed.code, changed.states["2026-06"]]).toEqual([8, "different"]);
    expect(why(changed.result, "2026-06")).toContain("totals have changed");
  });

  test("verify reports a month as unproven until the API has corrected an unreadable date and --repair has re-read the month", async () => {
    const brand = makeBrand({ orders: [...orders, orderAt("odd", noon - 100 * day)] });
    brand.before = (request) =>
      readsOrders(request)
        ? {
            envelope: (body) => ({
              ...body,
              data: (body.data as { id: string }[]).map((one) =>
                one.id === "odd" ? { ...one, order_date: "soon" } : one,
              ),
            }),
          }
        : undefined;
    await brand.run("sync orders --audit 0");
    const { code, result, states } = await verified(brand);
    expect([code, Object.keys(states).filter((name) => states[name] !== "proven")]).toEqual([
      8,
      ["2026-08", "dates"],
    ]);
    expect(why(result, "2026-08")).toContain("unexpected dates");
    expect(result).toMatchObject({
      api_total: 351,
      mirror_total: 351,
      undated: 1,
      unread: 0,
      unsettled: true,
    });
    const findings = () =>
      brand.sql("SELECT name FROM mirror_info WHERE name IN ('unrepairable:orders', 'unread_only:orders')");
    expect(findings()).toEqual([{ name: "unrepairable:orders" }]);
    brand.before = undefined;
    const repaired = await verified(brand, "verify orders --repair");
    expect([repaired.code, repaired.result?.state, findings()]).toEqual([0, "repaired", []]);
  });
});

describe("locating differences by month", () => {
  const late = Date.UTC(2026, 6, 10, 10);
  test.each<[string, (brand: TestBrand) => unknown, "all" | "absent", string]>([
    ["a late refund", (brand) => brand.refund("o260", 3), "all", "2026-07"],
    ["a late attribution", (brand) => brand.attributeLate(late, orderAt("late", late)), "absent", "2026-07"],
    ["a withdrawal", (brand) => brand.withdraw("o260"), "absent", "2026-07"],
    ["a cancellation", (brand) => brand.cancel("o260"), "absent", "2026-07"],
    ["a withdrawal in the first month", (brand) => brand.withdraw("o349"), "absent", "2026-05"],
  ])(
    "verify names the month of %s, and --repair re-reads that month",
    async (_, happens, dailyTotals, month) => {
      const brand = await synced({ variants: { dailyTotals } });
      happens(brand);
      const before = records(brand);
      const found = await verified(brand);
      expect([found.code, different(found.states), found.last.verified]).toEqual([8, [month], 0]);
      expect(found.err).toContain("run `brandapi verify orders --repair`");
      expect(found.last.error).toContain(`orders differs from the API (${month})`);
      expect(found.requests.filter((request) => readsOrders(request) && !counts(request))).toEqual([]);
      expect(records(brand)).toEqual(before);
      const repaired = await verified(brand, "verify orders --repair");
      expect([repaired.code, repaired.result?.state]).toEqual([0, "repaired"]);
      expect(repaired.result?.tables).toEqual({ state: "proven", differences: [] });
      expect(brand.sql("SELECT audit_requests FROM sync_state")).toEqual([{ audit_requests: 0 }]);
      expect(await verified(brand)).toMatchObject({
        code: 0,
        result: { state: "proven" },
        last: { verified: 1 },
      });
    },
  );

  test("verify starts its list of months at the oldest difference, or at the first sync's --since if nothing differs", async () => {
    const brand = makeBrand({ orders });
    let ordersInMarch = 1;
    brand.before = ({ path }) =>
      path === "/analytics/clicks"
        ? {
            envelope: (body) => {
              const data = body.data as { timeseries: object[] };
              const point = { date: "2026-03-10", orders: ordersInMarch, revenue: 5, subtotal_revenue: 5 };
              return { ...body, data: { ...data, timeseries: [point, ...data.timeseries] } };
            },
          }
        : undefined;
    await brand.run("sync orders --audit 0");
    ordersInMarch = 2;
    const { states } = await verified(brand);
    expect(Object.entries(states)[0]).toEqual(["2026-03", "different"]);
    const limited = await verified(await synced({}, "--since 2026-02-01"));
    expect(Object.entries(limited.states)[0]).toEqual(["2026-02", "proven"]);
  });

  test("verify reports an added order with a date before the first month in the mirror", async () => {
    const brand = await synced({
      orders: ordersBefore(Date.UTC(2026, 9, 3), 3, day),
      variants: { dailyTotals: "absent" },
    });
    brand.attributeLate(late, orderAt("late", late));
    const { code, states } = await verified(brand);
    expect([code, Object.values(states)]).toEqual([8, ["different", "proven", "proven"]]);
  });

  test("verify uses daily totals to find an order that moved to a different month", async () => {
    const brand = await synced({ variants: { dailyTotals: "absent" } });
    brand.withdraw("o100");
    brand.attributeLate(late, orderAt("late", late));
    // All counts agree. Only the daily totals for the two months differ.
    expect((await verified(brand)).result?.blind_spot).toContain("affect no count");
    brand.api.variants = {};
    await brand.run("sync orders");
    brand.withdraw("o99");
    brand.attributeLate(late, orderAt("later", late));
    expect(different((await verified(brand)).states)).toEqual(["2026-07", "2026-10"]);
  });

  test("verify summarizes many differing days in a month on one line", async () => {
    const brand = await synced();
    const days = new Map(brand.data.orders.map((order) => [order.order_date.slice(0, 10), order.id]));
    const october = [...days].filter(([date]) => date.startsWith("2026-10"));
    const [[day, id] = ["", ""], ...others] = october;
    brand.refund(id);
    const one = why((await verified(brand)).result, "2026-10");
    expect(one?.startsWith(`${day}: totals have changed since the last read`)).toBe(true);
    for (const [, id] of others) brand.refund(id);
    const { result } = await verified(brand);
    const dates = october.map(([date]) => date).sort();
    expect(why(result, "2026-10")).toContain(
      `${dates.length} days, ${dates[0]} to ${dates.at(-1)}: totals have changed since the last read`,
    );
  });

  test("for each month, verify names up to three differing counts, and prints how many other counts differ", async () => {
    const brand = await synced({ variants: { dailyTotals: "absent" } });
    brand.withdraw("o60", "o64", "o68", "o72");
    const text = why((await verified(brand)).result, "2026-10");
    expect(text?.match(/all: \d+ in the API, \d+ in the mirror/g)).toHaveLength(3);
    expect(text).toMatch(/; 1 more count differs$/);
  });

  test("verify reports a count mismatch if the API returns a record from outside the requested date range", async () => {
    const brand = await synced();
    brand.api.variants = { ignoresDateFilters: true };
    brand.pass(day);
    brand.order(orderAt("new", brand.now() - hour));
    const { code, result } = await verified(brand);
    expect([code, result?.state]).toEqual([8, "different"]);
    expect(why(result, "2026-05")).toContain("is outside the requested range");
  });

  test.each([
    ["during the comparison", "repaired", 0, counts],
    ["during the repair", "different", 8, readsOrders],
  ] as const)("if an order changes %s, verify --repair reports orders as %s", async (...row) => {
    const [, state, code, matches] = row;
    const brand = await synced();
    brand.refund("o260", 3);
    brand.once(matches, () => void brand.refund("o265", 3));
    const repaired = await verified(brand, "verify orders --repair");
    expect([repaired.code, repaired.result?.state]).toEqual([code, state]);
  });

  test("verify --repair re-reads all differing days, even if this takes more than 100 requests", async () => {
    const brand = await synced({ orders: ordersBefore(noon - 40 * day, 205, day) });
    brand.api.variants = { maxPerPage: 1 };
    for (let n = 1; n < 205; n += 2) brand.refund(`o${n}`, 1);
    const { code, requests } = await verified(brand, "verify orders --repair");
    expect([code, requests.filter(readsOrders).length > 100]).toEqual([0, true]);
  });

  test("if a count differs for a range of several months, verify prints the count for the first month, and refers the other months to the first", async () => {
    const brand = await synced({ orders: ordersBefore(noon - hour, 12, 20 * day) });
    brand.cancel("o5");
    const { result } = await verified(brand);
    expect(result?.months[0]?.month).toBe("2026-04");
    expect(why(result, "2026-08")).toContain("cancelled: 1 in the API, 0 in the mirror");
    expect(why(result, "2026-09")).toBe("cancelled: see 2026-08");
  });

  test("verify stops looking for differing days after about 100 requests", async () => {
    const brand = await synced({
      orders: ordersBefore(noon - hour, 400, day),
      variants: { dailyTotals: "absent" },
    });
    for (let n = 0; n < 400; n += 2) brand.withdraw(`o${n}`);
    const { code, requests } = await verified(brand);
    expect([code, requests.length > 100, requests.length < 140]).toEqual([8, true, true]);
  });

  test("verify reports a difference if the API did not return an order during an interrupted run", async () => {
    const brand = await synced();
    brand.withdraw("o10");
    brand.pass(day);
    await brand.stopped("sync orders", counts);
    const { code, states, result } = await verified(brand);
    expect([code, different(states)]).toEqual([8, ["2026-11"]]);
    expect(why(result, "2026-11")).toContain("the API no longer returns one of the records");
  });
});

describe("unread orders", () => {
  test("verify reports an unread order even if another order is withdrawn during the verification", async () => {
    const brand = await synced();
    brand.pass(2 * hour);
    brand.order();
    const isWhole = (request: SentRequest) =>
      counts(request) && ["start_date", "end_date", "status"].every((name) => !(name in request.query));
    brand.once(isWhole, () => void brand.withdraw("o9"));
    const { code, result } = await verified(brand);
    expect([code, result?.state, result?.unread]).toEqual([8, "unproven", 1]);
  });

  test("verify reports an order as unread, not as undated, if the order arrives while verify requests counts", async () => {
    const brand = await synced();
    brand.pass(2 * hour);
    let openCounts = 0;
    const isSecondOpenCount = (request: SentRequest) =>
      counts(request) && !request.query.end_date && !request.query.status && ++openCounts === 2;
    brand.once(isSecondOpenCount, () => void brand.order());
    const { result, states } = await verified(brand);
    expect([result?.unread, states.undated]).toEqual([1, undefined]);
  });

  test("verify does not report orders dated in the future as unread", async () => {
    const ahead = noon + 2 * day;
    const brand = await synced({ orders: [orderAt("ahead", ahead), ...orders] });
    const { code, result } = await verified(brand, "verify orders --evidence");
    expect([code, result]).toMatchObject([
      0,
      { state: "proven", unread: 0, future: { records: 1, until: new Date(ahead).toISOString() } },
    ]);
    expect(result?.evidence).toContainEqual(
      expect.objectContaining({ api: 1, agrees: null, note: "dated in the future, so not due yet" }),
    );
  });

  test("verify reports orders that are newer than the last sync as unread, and --repair reads them", async () => {
    const brand = await synced();
    brand.pass(day);
    brand.order(orderAt("new", brand.now() - hour));
    const { code, err, states, result } = await verified(brand);
    expect([code, result]).toMatchObject([8, { state: "unproven", unread: 1, api_total: 350 }]);
    expect(states).toMatchObject({ "2026-10": "proven", "2026-11": "unproven" });
    expect(Object.keys(states).at(-1)).toMatch(/^2026-11-21 .* to now$/);
    expect(result?.months.at(-1)?.why).toBe("1 record has never been read; run `brandapi sync orders`");
    const findings = () => brand.sql("SELECT name FROM mirror_info WHERE name LIKE 'unread_only:%'");
    expect(findings()).toEqual([{ name: "unread_only:orders" }]);
    brand.refund("o260", 3);
    await verified(brand);
    expect(findings()).toEqual([]);
    expect(err).toContain("Found: orders has 1 record that has not been read yet.");
    expect((await verified(brand, "verify orders --repair")).code).toBe(0);
    expect(brand.mirrored()).toContain("new");
  });

  test("verify exits with code 0 if all unread orders are dated before the first sync's --since", async () => {
    const brand = await synced({}, "--since 2026-09-10");
    const { code, states, result } = await verified(brand);
    expect([code, result?.state, result?.unread]).toEqual([0, "unproven", 0]);
    expect(states).toEqual({
      "2026-09": "unproven",
      "2026-10": "proven",
      "2026-11": "proven",
      "everything until 2026-09-09 23:59": "unproven",
    });
    expect(why(result, "everything until 2026-09-09 23:59")).toMatch(
      /^\d+ records have never been read, because the mirror starts on 2026-09-10; run `brandapi sync orders --full`/,
    );
  });

  test("verify does not report mirrored orders as unread, even if their dates have never been fully read", async () => {
    const brand = await synced({ orders: ordersBefore(noon - hour, 20, 12 * day) });
    const db = new Sqlite(brand.db);
    db.exec("UPDATE coverage SET from_at = '2026-09-10T00:00:00.000Z' WHERE resource = 'orders'").close();
    brand.order(orderAt("old", Date.UTC(2020, 0, 15)));
    const { result } = await verified(brand);
    expect(result?.unread).toBe(1);
    expect(why(result, "everything until 2026-09-09 23:59")).toMatch(/^1 record has never been read/);
  });

  test("verify reports the months in a gap as unproven until a sync reads them", async () => {
    const brand = await synced({}, "--until 2026-08-20");
    await brand.run("sync orders --since 2026-10-15 --audit 0");
    const { code, states, result } = await verified(brand);
    expect(code).toBe(8);
    expect(states).toMatchObject({
      "2026-07": "proven",
      "2026-08": "unproven",
      "2026-09": "unproven",
      "2026-10": "unproven",
      "2026-11": "proven",
    });
    expect(result?.unread).toBeGreaterThan(100);
    expect((await verified(brand, "verify orders --repair")).code).toBe(0);
  });

  test.each(["sync orders", "sync orders --since 2026-06-10"])(
    "after an interrupted first `%s`, verify reports the remaining orders as unread",
    async (command) => {
      const brand = makeBrand({ orders });
      let page = 0;
      await brand.stopped(command, (request) => readsOrders(request) && ++page === 3);
      const { code, result } = await verified(brand);
      expect([code, result?.state]).toEqual([8, "unproven"]);
      expect(result?.months.at(-1)?.why).toMatch(/never been read; run `brandapi sync orders`$/);
    },
  );

  test("verify reports a month as partially read if two interrupted runs each read part of the same day", async () => {
    const brand = makeBrand({ orders: ordersBefore(noon - hour, 350, hour) });
    for (let run = 0; run < 2; run += 1) {
      let page = 0;
      await brand.stopped("sync orders", (request) => readsOrders(request) && ++page === 2);
    }
    const { result, states } = await verified(brand);
    expect(different(states)).toEqual([]);
    expect(why(result, "2026-11")).toBe("not fully read");
    await brand.stopped("sync orders", (request) => readsOrders(request) && brand.mirrored().length === 350);
    expect((await verified(brand)).states).toEqual({ "2026-11": "unproven" });
  });

  test("before the first sync, verify reports all records as unread", async () => {
    const brand = makeBrand({ orders, content: [fileAt("f", noon - day)] });
    await brand.run("sync roster");
    for (const name of ["orders", "content"] as const) {
      const { requests, code, result } = await verified(brand, `verify ${name}`);
      expect([code, result?.state, result?.unread]).toEqual([8, "unproven", brand.data[name].length]);
      expect(requests.filter((request) => readsOrders(request) && !counts(request))).toEqual([]);
      expect(brand.lastRun(name).verified).toBe(0);
    }
  });

  test("before the first sync, verify reports orders as unproven even if the brand has none", async () => {
    const brand = makeBrand();
    await brand.run("sync roster");
    const { last, result } = await verified(brand);
    expect([result, last.verified]).toMatchObject([{ state: "unproven", months: [], found: [] }, 0]);
  });

  test("verify exits with code 8 if the API returns an order only when no date range is requested", async () => {
    const brand = await synced({ orders: [...orders, orderAt("none", null)] });
    const { code, result, states, last } = await verified(brand);
    expect([code, states.undated, last.verified]).toEqual([8, "unproven", 0]);
    const why = expect.stringContaining("1 more record without a date range");
    expect(result?.months.at(-1)).toMatchObject({ kind: "undated", why });
  });
});

test("if a verification fails, status still reports the problems from the previous verification", async () => {
  const brand = await synced();
  brand.refund("o260", 3);
  await verified(brand);
  brand.before = (request) => (counts(request) ? { status: 503 } : undefined);
  expect((await verified(brand, "verify orders --max-wait 10s")).code).toBe(6);
  expect(brand.lastRun()).toMatchObject({ outcome: "failed", verified: 0 });
  brand.before = undefined;
  expect((await brand.run("status")).out).toContain("differs from the API (2026-07)");
});

test("verify --repair exits with code 6 if the API goes down during the repair", async () => {
  const brand = await synced();
  brand.refund("o260", 3);
  brand.before = (request) => (readsOrders(request) ? { status: 503 } : undefined);
  expect((await brand.run("verify orders --repair --max-wait 10s")).code).toBe(6);
});

test("if Ctrl-C stops verify, the run is recorded as stopped", async () => {
  const brand = await synced();
  await brand.stopped("verify orders", counts);
  expect(brand.lastRun()).toMatchObject({ outcome: "stopped", verified: 0 });
});

test("verify --json reports the number of requests for each resource", async () => {
  const brand = await synced({ roster: [memberOf("r1")] });
  await brand.run("sync roster");
  const { out } = await brand.run("verify orders roster --json");
  const results = out.split("\n").filter((line) => line.includes('"months"'));
  expect(results.map((line) => (JSON.parse(line) as PrintedResult).requests)).toEqual([6, 1]);
});

test("verify stops at an error that affects all resources", async () => {
  const brand = await synced({ roster: [memberOf("r1")] });
  await brand.run("sync roster");
  brand.once(counts, () => void brand.setKey({ expiresAt: 0 }));
  const stopped = await brand.run("verify orders roster");
  expect([stopped.code, stopped.out]).toEqual([4, ""]);
});

test("verify warns about an unexpected type only once, even if it repairs the orders", async () => {
  const brand = await synced({
    orders: [orderAt("o1", noon - 2 * day, { currency: 5 }), orderAt("o2", noon - 3 * day)],
  });
  for (const command of ["verify orders", "verify orders --repair"]) {
    brand.refund("o2", 1);
    expect((await brand.run(command)).err.match(/unexpected types in 1 record/g)).toHaveLength(1);
  }
});

test("verify does not print an API key that an error message contains", async () => {
  const brand = await synced();
  const fetch: typeof brand.fetch = async (url, init) => {
    if (String(url).endsWith("/me")) return await brand.fetch(url, init);
    throw new Error(`invalid header: Bearer ${brand.key}`);
  };
  const { out, err } = await brand.run("verify orders --json", { fetch });
  expect(out).toContain("Bearer [key hidden]");
  expect(out + err).not.toContain(brand.key);
});

test("verify prints only one error and one hint during an outage", async () => {
  const brand = await synced();
  brand.before = (request) => (counts(request) ? { status: 503 } : undefined);
  const { code, err, out } = await brand.run("verify orders --max-wait 10s");
  expect([code, out]).toEqual([6, ""]);
  expect(err.match(/^brandapi: |hint: /gm)).toEqual(["brandapi: ", "hint: "]);
});
