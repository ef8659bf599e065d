import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/resources/types.js";
import { isImplausible } from "../../src/sync/removals.js";
import type { FakeRequest } from "../support/fake-api.js";
import {
  answerOnce,
  at,
  change,
  come,
  day,
  hour,
  listed,
  type Nights,
  nights,
  noon,
  orderAt,
  ordersBefore,
  readsOf,
  readsOrders,
  withdraw,
} from "../support/nights.js";

const removals = (brand: Nights) => brand.sql("SELECT key FROM changes WHERE kind = 'removed'");
const ids = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => `o${from + n}`);

describe("an answer without any record", () => {
  test.each([1, 5, 20])("removes nothing, however few there were (%d)", async (count) => {
    const brand = await nights({ orders: ordersBefore(noon, count, hour) });
    await brand.sync();
    const before = brand.mirrored();
    brand.pass(hour);
    brand.api.records.orders = [];
    const { failure, outcome } = await brand.sync();
    expect(String(failure)).toContain(`no longer returns ${count} of ${count} mirrored records`);
    expect(outcome).toBe("incomplete");
    expect(brand.mirrored()).toEqual(before);
    expect((await brand.sync("orders", { acceptRemovals: true })).failure).toBeNull();
    expect(brand.mirrored()).toEqual([]);
  });

  test("removes nobody from the roster either", async () => {
    const roster = Array.from(
      { length: 30 },
      (_, n): JsonObject => ({ relationship_id: `r${n}`, host: { id: `h${n}` } }),
    );
    const brand = await nights({ roster });
    await brand.sync("roster");
    brand.api.records.roster = [];
    expect(String((await brand.sync("roster")).failure)).toContain(
      "no longer returns 30 of 30 mirrored records",
    );
    expect(brand.mirrored("roster")).toHaveLength(30);
  });
});

describe("one wrong answer without any record", () => {
  const emptyOnce = (brand: Nights) => answerOnce(brand, readsOrders, { wrong: "empty" });

  test("hides nobody who was moved to where nobody was, which moves no count", async () => {
    const orders = ordersBefore(noon - 40 * day, 30, 12 * hour);
    const brand = await nights({ orders }, { figures: "absent" });
    await brand.sync();
    brand.pass(day);
    change(brand, "o3", { order_date: at(noon + hour) });
    const isAnswered = emptyOnce(brand);
    await brand.sync("orders", { audit: 0 });
    expect(isAnswered()).toBe(true);
    expect(brand.sql("SELECT 1 FROM orders WHERE id = 'o3' AND order_date > ?", at(noon))).toHaveLength(1);
  });

  test("hides nobody where a first reading failed, either, though totals lag", async () => {
    const orders = ordersBefore(noon - 40 * day, 30, 12 * hour);
    const brand = await nights({ orders }, { figures: "absent" });
    await brand.broken("stopped", ({ query }) => query.per_page === "1");
    brand.sql("DELETE FROM coverage RETURNING 1");
    const without = { ...brand.api.records, orders: orders.filter(({ id }) => id !== "o3") };
    change(brand, "o3", { order_date: at(noon - 300 * day) });
    const isAnswered = emptyOnce(brand);
    const { before } = brand.api;
    brand.api.before = (request) =>
      request.query.per_page === "1" ? { wrong: "stale", records: without } : before?.(request);
    await brand.sync();
    expect(isAnswered()).toBe(true);
    expect(removals(brand)).toEqual([]);
  });

  test("takes away no order without a date, which `--full` looks for once", async () => {
    const orders = [...ordersBefore(noon, 30, 12 * hour), orderAt("u", null)];
    const brand = await nights({ orders });
    await brand.sync();
    brand.pass(day);
    const isAnswered = emptyOnce(brand);
    expect(await brand.sync("orders", { full: true })).toMatchObject({ failure: null, rows_removed: 0 });
    expect(isAnswered()).toBe(true);
    expect(brand.mirrored()).toEqual(listed(brand));
  });
});

test("nothing is amiss where there never was a record", async () => {
  const brand = await nights({ orders: [] });
  // Of dates that were read before, that there is nothing is asked twice: in the window, and by the audit.
  for (const reads of [1, 4]) {
    const night = await brand.sync();
    expect(night).toMatchObject({ failure: null, outcome: "done", verified: true });
    expect(readsOf(night.asked, "/orders")).toHaveLength(reads);
    brand.pass(day);
  }
});

describe("more removals than anyone should believe", () => {
  test.each([
    ["half of many", 20, 40, false],
    ["more than half of many", 21, 40, true],
    ["most of 20", 19, 20, false],
    ["more than half of 21", 11, 21, true],
  ])("are %s: %d of %d, %j", (_, removals, present, implausible) => {
    expect(isImplausible(removals, present)).toBe(implausible);
  });

  test("a few with dates and most without any are of all records, not of the stretch between two dates", async () => {
    const undated = Array.from({ length: 12 }, (_, n) => orderAt(`u${n}`, null));
    const brand = await nights({ orders: [...ordersBefore(noon, 60, hour), ...undated] });
    await brand.sync();
    brand.pass(hour);
    withdraw(brand, "o10", "o34", ...undated.map(({ id }) => String(id)));
    expect(await brand.sync("orders", { full: true })).toMatchObject({ failure: null, rows_removed: 14 });
  });

  test("of a stretch of dates: over half of what lies between the first and the last that is gone", async () => {
    const brand = await nights({ orders: ordersBefore(noon, 500, hour) });
    await brand.sync();
    brand.pass(hour);
    withdraw(brand, ...ids(100, 150));
    const { failure, rows_removed } = await brand.sync();
    expect(String(failure)).toMatch(
      /orders: 2026-11-\d\d \d\d:00 to 2026-11-\d\d \d\d:00: the API no longer returns 50 of 50 mirrored records: nothing/,
    );
    expect(failure).toMatchObject({ hint: expect.stringContaining("`--accept-removals`") });
    expect(rows_removed).toBe(0);
    expect(brand.mirrored()).toHaveLength(500);
    // Nobody has accepted it: the next night says so again.
    brand.pass(day);
    expect(String((await brand.sync()).failure)).toContain("nothing was removed");
    expect((await brand.sync("orders", { acceptRemovals: true })).failure).toBeNull();
    expect(brand.mirrored()).toEqual(listed(brand));
  });

  test("the newest 13 of 25: they are all of their stretch, and no more than 20, but over half of what there is", async () => {
    const brand = await nights({ orders: ordersBefore(noon, 25, 3 * day) });
    await brand.sync();
    brand.pass(day);
    withdraw(brand, ...ids(0, 13));
    const { failure, rows_removed } = await brand.sync();
    expect(String(failure)).toContain("no longer returns 13 of 25 mirrored records");
    expect(rows_removed).toBe(0);
  });

  test.each(["roster", "orders"] as const)(
    "all of %s, in whose place as many others came: those do not make it likelier, this night or the next",
    async (resource) => {
      const all = (prefix: string) =>
        Array.from({ length: 40 }, (_, n) =>
          resource === "roster"
            ? { relationship_id: `${prefix}${n}`, host: { id: `h${n}` } }
            : orderAt(`${prefix}${n}`, noon - n * day),
        );
      const brand = await nights({ [resource]: all("a") });
      await brand.sync(resource);
      brand.api.records[resource] = all("b");
      for (const _ of [1, 2]) {
        brand.pass(day);
        const { failure, rows_removed } = await brand.sync(resource);
        expect(String(failure)).toMatch(/no longer returns 40 of 40 mirrored records/);
        expect(rows_removed).toBe(0);
      }
      expect((await brand.sync(resource, { acceptRemovals: true })).failure).toBeNull();
      expect(brand.mirrored(resource)).toHaveLength(40);
      expect(brand.mirrored(resource).join()).not.toMatch(/a\d/);
    },
  );

  test("newcomers that no run has verified are held against all, and leave without those who were known", async () => {
    const campaigns = (prefix: string, count: number) =>
      Array.from({ length: count }, (_, n) => ({ id: `${prefix}${n}`, title: "T", status: "ARCHIVED" }));
    const brand = await nights({ opportunities: campaigns("a", 22) });
    await brand.sync("opportunities");
    // Without details nothing is verified.
    const night = async (...opportunities: JsonObject[][]) => {
      brand.pass(day);
      brand.api.records.opportunities = opportunities.flat();
      return await brand.sync("opportunities", { details: "none" });
    };
    await night(campaigns("a", 22), campaigns("b", 60));
    const refused = await night(campaigns("b", 1), campaigns("a", 22).slice(0, 18));
    expect(String(refused.failure)).toContain("no longer returns 63 of 82 mirrored records");
    const honest = await night(campaigns("a", 22), campaigns("b", 40));
    expect(honest).toMatchObject({ failure: null, rows_removed: 20 });
  });

  test("a few that lie apart are believed", async () => {
    const brand = await nights({ orders: ordersBefore(noon, 500, hour) });
    await brand.sync();
    brand.pass(hour);
    withdraw(brand, "o3", "o77", "o240", "o241", "o480");
    expect(await brand.sync()).toMatchObject({ failure: null, rows_removed: 5, verified: true });
    expect(brand.mirrored()).toEqual(listed(brand));
  });
});

test.each(["removed", "changed"])(
  "a record that a run did not find, which then failed, was last seen before that: %s afterwards",
  async (kind) => {
    const brand = await nights({ orders: ordersBefore(noon, 40, hour) });
    await brand.sync();
    const all = brand.api.records.orders;
    brand.pass(day);
    withdraw(brand, "o5");
    await brand.broken("stopped", ({ query }) => query.per_page === "1");
    brand.pass(2 * day);
    if (kind === "changed") {
      brand.api.records.orders = all;
      change(brand, "o5", { refund_amount: 3 });
    }
    await brand.sync();
    const seen = brand.sql<{ kind: string; at: string }>(
      "SELECT kind, last_seen_unchanged_at AS at FROM changes WHERE key = 'o5'",
    );
    expect(seen.map((one) => one.kind)).toEqual([kind]);
    expect(Date.parse(seen[0]?.at ?? "")).toBeLessThan(noon + hour);
  },
);

test("a record that returns with a change is present again, and when it was away stays known", async () => {
  const brand = await nights({ orders: ordersBefore(noon, 40, hour) });
  await brand.sync();
  brand.pass(day);
  const all = brand.api.records.orders;
  withdraw(brand, "o5");
  await brand.sync();
  const goneAt = brand.now();
  brand.pass(day);
  brand.api.records.orders = all;
  change(brand, "o5", { refund_amount: 3 });
  expect(await brand.sync()).toMatchObject({ failure: null, rows_changed: 1 });
  expect(brand.sql("SELECT refund_amount, removed_at FROM orders WHERE id = 'o5'")).toEqual([
    { refund_amount: 3, removed_at: null },
  ]);
  const kinds = brand.sql<{ kind: string; field: string | null }>(
    "SELECT kind, field FROM changes WHERE key = 'o5' AND kind <> 'changed' ORDER BY change_id",
  );
  expect(kinds.map(({ kind }) => kind)).toEqual(["removed", "returned"]);
  // Its change lies between when it was last there and now; that it returned, between the night without it and now.
  const seen = brand.sql<{ kind: string; last_seen_unchanged_at: string }>(
    "SELECT kind, last_seen_unchanged_at FROM changes WHERE key = 'o5'",
  );
  const lastSeen = (kind: string) =>
    Date.parse(seen.find((one) => one.kind === kind)?.last_seen_unchanged_at ?? "");
  expect(lastSeen("changed")).toBeLessThan(noon + hour);
  expect(lastSeen("changed")).toBe(lastSeen("removed"));
  expect(lastSeen("returned")).toBeGreaterThan(noon + day);
  // As of the day between, it was not there.
  const asOf = new Date(goneAt + hour).toISOString();
  const then = await brand.run(`export orders --ndjson --as-of ${asOf}`);
  expect(then.code, then.err).toBe(0);
  expect(then.out.trim().split("\n")).toHaveLength(39);
  const versions = brand.sql<{ present: number }>(
    "SELECT present FROM record_versions JOIN records USING (record_id) WHERE key = 'o5' ORDER BY version_id",
  );
  expect(versions.map(({ present }) => present)).toEqual([1, 0]);
});

function refuse(brand: Nights): void {
  brand.api.before = ({ path }) => (path === "/analytics/clicks" ? { status: 404 } : undefined);
}

describe("who is missing is removed only by a run that has looked everywhere", () => {
  const apart = () => ordersBefore(noon, 40, 12 * hour);

  test.each([
    ["all", true],
    ["all", false],
    ["absent", true],
    ["absent", false],
  ] as const)(
    "one that an answer out of a cache lacks is not: figures by day %s, --full %j",
    async (figures, full) => {
      const brand = await nights({ orders: apart() }, { figures });
      await brand.sync();
      const records = { ...brand.api.records };
      come(brand, orderAt("late", noon - 3 * day));
      withdraw(brand, "o2");
      brand.pass(day);
      await brand.sync("orders", { full: true });
      brand.pass(day);
      const isCached = answerOnce(brand, readsOrders, { wrong: "stale", records });
      await brand.sync("orders", { full });
      expect(isCached()).toBe(true);
      expect(brand.mirrored()).toEqual(listed(brand));
      expect(brand.sql("SELECT 1 FROM changes WHERE kind = 'removed' AND key = 'late'")).toEqual([]);
    },
  );

  test("an answer that lacks who is there hides nobody who came today, whose day no count speaks of", async () => {
    const brand = await nights({ orders: ordersBefore(noon - 5 * day, 40, 12 * hour) }, { shows: "days" });
    await brand.sync();
    brand.pass(day);
    come(brand, orderAt("new", noon + day - hour));
    const isEmpty = answerOnce(brand, readsOrders, { wrong: "empty" });
    expect(await brand.sync("orders", { acceptRemovals: true })).toMatchObject({ verified: true });
    expect(isEmpty()).toBe(true);
    expect(brand.mirrored()).toEqual(listed(brand));
  });

  test.each([
    ["since the last read", { since: noon - 10 * day, until: noon - 2 * day }],
    ["in a gap that the run leaves", { since: noon + 28 * day }],
  ])("an order that was moved to dates not read yet, %s, is not", async (_, options) => {
    const brand = await nights({ orders: apart() }, { figures: "absent" });
    await brand.sync();
    brand.pass(30 * day);
    change(brand, "o7", { order_date: at(noon + 9 * day) });
    // The window below what came last reads where it was.
    const night = await brand.sync("orders", { ...options, audit: 5 });
    expect(String(night.failure)).toContain(
      "1 record not found under the date known, and nothing was removed",
    );
    expect(String(night.failure)).toContain("`brandapi sync orders`");
    expect(night).toMatchObject({ verified: false, rows_removed: 0 });
    expect(await brand.sync()).toMatchObject({ failure: null, verified: true, rows_removed: 0 });
    expect(brand.mirrored()).toEqual(listed(brand));
    expect(removals(brand)).toEqual([]);
  });

  test("one that a stopped run missed, and that is back, is not; one that went meanwhile is", async () => {
    const brand = await nights({ orders: apart() }, { figures: "absent", mostPerPage: 5 });
    await brand.sync();
    brand.pass(day);
    const all = brand.api.records.orders;
    withdraw(brand, "o12");
    await brand.broken("stopped", ({ query }) => String(query.end_date) < at(noon - 10 * day), "orders", {
      full: true,
    });
    expect(brand.sql("SELECT key FROM missing JOIN records USING (record_id)")).toEqual([{ key: "o12" }]);
    brand.api.records.orders = all;
    withdraw(brand, "o9");
    expect(await brand.sync("orders", { windowMs: hour, audit: 0 })).toMatchObject({
      failure: null,
      verified: true,
    });
    expect(brand.mirrored()).toEqual(listed(brand));
    expect(removals(brand)).toEqual([{ key: "o9" }]);
  });

  test("what lies before a first `--since` counts as nothing that is unread", async () => {
    const brand = await nights({ orders: apart() }, { figures: "absent" });
    await brand.sync("orders", { since: noon - 10 * day });
    brand.pass(day);
    withdraw(brand, "o12");
    expect(await brand.sync()).toMatchObject({ failure: null, verified: true, rows_removed: 1 });
    expect(removals(brand)).toEqual([{ key: "o12" }]);
  });

  test("on the day that is not over, where dates are shown by day, nobody is before it is", async () => {
    const brand = await nights(
      { orders: ordersBefore(noon, 40, hour) },
      { figures: "absent", shows: "days" },
    );
    await brand.sync();
    brand.pass(hour);
    withdraw(brand, "o2");
    const night = await brand.sync();
    expect(String(night.failure)).toContain(
      "1 record not found under the date known, and nothing was removed",
    );
    expect(night).toMatchObject({ verified: false, rows_removed: 0 });
    brand.pass(day);
    expect(await brand.sync()).toMatchObject({ failure: null, verified: true, rows_removed: 1 });
    expect(brand.mirrored()).toEqual(listed(brand));
  });

  test("though they are more than a night looks for: after a few nights all are, and none before", async () => {
    const orders = ordersBefore(noon, 1_500, 12 * hour);
    const brand = await nights({ orders }, { figures: "absent", mostPerPage: 5 });
    await brand.sync();
    const gone = Array.from({ length: 60 }, (_, n) => `o${300 + 20 * n}`);
    withdraw(brand, ...gone);
    const ends: (number | null)[] = [];
    for (let night = 0; night < 6 && ends.at(-1) !== 60; night += 1) {
      brand.pass(day);
      const { failure, rows_removed, verified } = await brand.sync("orders", { windowMs: day });
      expect(verified).toBe(failure === null);
      ends.push(rows_removed);
    }
    expect(new Set(ends)).toEqual(new Set([0, 60]));
    expect(brand.mirrored()).toEqual(listed(brand));
  });

  test("a night whose budget is spent looks for nobody: none could be removed", async () => {
    const brand = await nights({ orders: ordersBefore(noon, 1_500, 12 * hour) }, { mostPerPage: 10 });
    await brand.sync();
    brand.pass(day);
    withdraw(brand, ...Array.from({ length: 180 }, (_, n) => `o${8 * n}`));
    const { asked, failure } = await brand.sync();
    expect(String(failure)).toContain("not read yet");
    expect(asked.length).toBeLessThan(140);
    brand.pass(day);
    expect(await brand.sync()).toMatchObject({ failure: null, rows_removed: 180 });
  });

  test("one without a date, that only a stopped `--full` missed, is not", async () => {
    const [undated, kept] = ["u1", "u2"].map((id) => orderAt(id, null));
    const brand = await nights({ orders: [...apart(), undated ?? {}, kept ?? {}] }, { figures: "absent" });
    await brand.sync();
    brand.pass(day);
    const all = brand.api.records.orders;
    withdraw(brand, "u1");
    await brand.broken("stopped", ({ query }) => query.per_page === "1", "orders", { full: true });
    expect(brand.sql("SELECT key FROM missing JOIN records USING (record_id)")).toEqual([{ key: "u1" }]);
    brand.api.records.orders = all;
    expect(await brand.sync()).toMatchObject({ failure: null, verified: true, rows_removed: 0 });
    withdraw(brand, "u1");
    expect(await brand.sync("orders", { full: true })).toMatchObject({ failure: null, rows_removed: 1 });
  });

  test("nor by `verify --repair` after that", async () => {
    const brand = await nights({ orders: [...apart(), orderAt("u1", null)] }, { figures: "absent" });
    await brand.sync();
    const all = brand.api.records.orders;
    withdraw(brand, "u1");
    await brand.broken("stopped", ({ query }) => query.per_page === "1", "orders", { full: true });
    brand.api.records.orders = all;
    expect(await brand.verify("orders", true)).toMatchObject({ state: "repaired" });
    expect(removals(brand)).toEqual([]);
  });

  test("one that was moved ahead of now is not, by a run until the end of the day", async () => {
    const brand = await nights({ orders: apart() }, { figures: "absent" });
    await brand.sync();
    brand.pass(hour);
    change(brand, "o7", { order_date: at(noon + 5 * hour) });
    const night = await brand.sync("orders", { until: noon + 12 * hour });
    expect(night).toMatchObject({ failure: null, verified: true, rows_removed: 0 });
    expect(brand.mirrored()).toEqual(listed(brand));
  });

  test("one that was moved since is found, by a run up to a time before, though a clock that is behind knows of no since", async () => {
    const brand = await nights({ orders: apart() }, { figures: "absent" });
    await brand.sync();
    brand.pass(hour);
    change(brand, "o7", { order_date: at(brand.now()) });
    brand.pass(-30 * hour);
    const night = await brand.sync("orders", { until: noon - 2 * day });
    expect(night).toMatchObject({ failure: null, rows_removed: 0 });
    expect(brand.mirrored()).toEqual(listed(brand));
    expect(await brand.sync()).toMatchObject({ failure: null, rows_removed: 0 });
    expect(brand.mirrored()).toEqual(listed(brand));
  });

  test("one that moves to after the instant that the run is pinned to, while it reads, is found there", async () => {
    const brand = await nights({ orders: apart() }, { figures: "absent", mostPerPage: 5 });
    brand.once(
      ({ path, number }) => path === "/orders" && number === 4,
      () => change(brand, "o30", { order_date: at(brand.now() + 1) }),
    );
    expect(await brand.sync()).toMatchObject({ failure: null, rows_removed: 0 });
    brand.once(
      ({ path, query }) => path === "/orders" && String(query.end_date) < at(noon - 5 * day),
      () => change(brand, "o31", { order_date: at(brand.now() + 1) }),
    );
    expect(await brand.sync("orders", { full: true })).toMatchObject({ failure: null, rows_removed: 0 });
    expect(brand.mirrored()).toEqual(listed(brand));
  });

  test("one that moves within the day that a first `--since` cuts, while another goes, is not: the figures tell of it", async () => {
    const brand = await nights({ orders: ordersBefore(noon, 80, 12 * hour) }, { revenue: "net" });
    change(brand, "o2", { total_amount: 999.5 });
    // Of the oldest day only its last hours are asked for.
    await brand.sync("orders", { since: noon - 35 * day - hour });
    change(brand, "o2", { order_date: at(noon - 35 * day + 2 * hour) });
    withdraw(brand, "o70");
    brand.pass(day);
    expect(await brand.sync("orders", { audit: 0 })).toMatchObject({ failure: null });
    expect(removals(brand)).not.toContainEqual({ key: "o2" });
    expect(brand.mirrored()).toEqual(expect.arrayContaining(["o2"]));
  });

  const noDays = { "/analytics/clicks": '{"summary":{},"timeseries":[]}' };

  test.each<[string, (brand: Nights) => void]>([
    ["are refused", (brand) => refuse(brand)],
    ["are of no day at all", (brand) => Object.assign(brand.api.answers, noDays)],
    [
      "are refused the night after an upgrade",
      (brand) => {
        brand.mirror.db.exec("DELETE FROM mirror_info WHERE name LIKE 'given:%'");
        refuse(brand);
      },
    ],
  ])("while figures by day, which the API gave the night before, %s, nobody is", async (_, take) => {
    const brand = await nights({ orders: ordersBefore(noon, 100, 12 * hour) });
    await brand.sync();
    brand.pass(day);
    change(brand, "o2", { order_date: at(noon - 39 * day + hour) });
    withdraw(brand, "o78");
    take(brand);
    const night = await brand.sync("orders", { windowMs: 3 * day, audit: 0 });
    expect(String(night.failure)).toContain(
      "1 record not found under the date known, and nothing was removed, while the API gives no figures by day",
    );
    expect(night.verified).toBe(false);
    // A week later they are no longer waited for: what is missing then is looked for without.
    brand.pass(8 * day);
    withdraw(brand, "o3");
    expect((await brand.sync("orders", { full: true })).failure).toBeNull();
    expect(removals(brand)).toEqual([{ key: "o3" }, { key: "o78" }]);
  });

  test("while they are refused, one that a run looks for on all days is removed", async () => {
    const brand = await nights({ orders: ordersBefore(noon, 20, 12 * hour) });
    await brand.sync();
    brand.pass(day);
    withdraw(brand, "o12");
    refuse(brand);
    expect(await brand.sync()).toMatchObject({ failure: null, verified: true });
    expect(removals(brand)).toEqual([{ key: "o12" }]);
  });

  test("one that was found missing last of all is looked for ahead, too", async () => {
    const brand = await nights({ orders: ordersBefore(noon, 80, 12 * hour) });
    await brand.sync();
    brand.pass(day);
    withdraw(brand, "o2");
    let figures = 0;
    brand.api.before = ({ path }) => {
      if (path === "/analytics/clicks") figures += 1;
      if (path === "/analytics/clicks" && figures === 2)
        change(brand, "o70", { order_date: at(brand.now()) });
      return undefined;
    };
    expect(await brand.sync()).toMatchObject({ failure: null, verified: true, rows_removed: 1 });
    expect(removals(brand)).toEqual([{ key: "o2" }]);
    expect(brand.mirrored()).toEqual(listed(brand));
  });

  test("one that moves to a day that was read already, while another goes, is not: the figures tell of both", async () => {
    const brand = await nights({ orders: apart() }, { mostPerPage: 5 });
    await brand.sync();
    brand.pass(day);
    const isBelow = ({ query }: FakeRequest) => String(query.end_date) < at(noon - 10 * day);
    brand.once(
      (request) => request.path === "/orders" && isBelow(request),
      () => {
        change(brand, "o30", { order_date: at(noon - hour) });
        withdraw(brand, "o2");
      },
    );
    expect(await brand.sync("orders", { full: true })).toMatchObject({ failure: null, verified: true });
    expect(brand.mirrored()).toEqual(listed(brand));
    expect(removals(brand)).toEqual([{ key: "o2" }]);
  });
});
