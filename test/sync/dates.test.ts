import { describe, expect, test } from "vitest";
import { readCoverage } from "../../src/state/index.js";
import {
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
  withdraw,
} from "../support/nights.js";

const done = { failure: null, verified: true };
const lastCovered = ({ mirror }: Nights) => Math.max(...readCoverage(mirror, "orders").map(({ to }) => to));
/** Ten orders of the last two months. */
const ten = () => ordersBefore(noon, 10, 6 * day);

describe("orders dated in the future", () => {
  test("are read, kept when the next run finds them again, and claimed by no coverage", async () => {
    const brand = await nights({ orders: [...ten(), orderAt("tomorrow", noon + day)] });
    expect(await brand.sync()).toMatchObject(done);
    expect(await brand.sync()).toMatchObject(done);
    expect(brand.mirrored()).toEqual(listed(brand));
    expect(lastCovered(brand)).toBeLessThanOrEqual(brand.now());
  });

  test.each(["all", "absent"] as const)(
    "one that moves there is not removed (figures: %s)",
    async (figures) => {
      const brand = await nights({ orders: ten() }, { figures });
      await brand.sync();
      change(brand, "o8", { order_date: at(noon + 2 * day) });
      expect(await brand.sync("orders", { full: true })).toMatchObject(done);
      expect(brand.mirrored()).toEqual(listed(brand));
      expect(brand.sql("SELECT order_date FROM orders WHERE id = 'o8'")).toEqual([
        { order_date: at(noon + 2 * day) },
      ]);
    },
  );

  test("`verify --repair` does not remove it either", async () => {
    const brand = await nights({ orders: ten() });
    await brand.sync();
    change(brand, "o8", { order_date: at(noon + 2 * day) });
    await brand.verify("orders", true);
    expect(brand.mirrored()).toEqual(listed(brand));
  });

  test("one that is gone is removed, and one that comes back to its day is found there", async () => {
    const brand = await nights({ orders: [...ten(), orderAt("a", noon + day), orderAt("b", noon + day)] });
    await brand.sync();
    withdraw(brand, "a");
    change(brand, "b", { order_date: at(noon - day) });
    expect(await brand.sync()).toMatchObject(done);
    expect(brand.mirrored()).toEqual(listed(brand));
  });
});

describe("dates finer than a millisecond", () => {
  const endOfJanuary = Date.UTC(2026, 1, 1) - 1;
  const fine = () => [
    orderAt("late", "2026-01-31T23:59:59.999500Z"),
    orderAt("next", "2026-02-01T00:00:00.000000Z"),
    orderAt("noon", "2026-01-30T12:00:00.000001Z"),
    ...ten(),
  ];

  test("at the very end of a range with `--until` settle, and nobody is removed", async () => {
    const brand = await nights({ orders: fine() });
    expect(await brand.sync()).toMatchObject(done);
    const range = { since: Date.UTC(2026, 0, 1), until: endOfJanuary };
    expect(await brand.sync("orders", range)).toMatchObject(done);
    expect(brand.mirrored()).toHaveLength(13);
    expect((await brand.verify()).state).toBe("proven");
  });

  test("are not lost between a range that ends there and the next one", async () => {
    const brand = await nights({ orders: fine() });
    expect(await brand.sync("orders", { until: endOfJanuary })).toMatchObject(done);
    const next = await brand.sync("orders", { since: endOfJanuary + 1 });
    expect(next).toMatchObject({ ...done, warnings: [] });
    expect(brand.mirrored()).toEqual(listed(brand));
  });

  test("a late one at the end of a day is found by the counts", async () => {
    const brand = await nights({ orders: fine() }, { figures: "absent" });
    await brand.sync();
    come(brand, orderAt("late2", "2026-01-20T23:59:59.999900Z"));
    expect(await brand.sync("orders", { windowMs: day, audit: 0 })).toMatchObject(done);
    expect(brand.mirrored()).toEqual(listed(brand));
  });
});

describe("orders without a date that can be read", () => {
  test.each([
    [null, "everywhere", "last"],
    [null, "apart", "last"],
    [null, "apart", "first"],
    ["soon", "everywhere", "first"],
    ["soon", "apart", "last"],
  ] as const)(
    "(%s, listed %s, standing %s) are kept, told of once, and spoil no count",
    async (date, undated, undatedStand) => {
      const brand = await nights({ orders: [...ten(), orderAt("x", date)] }, { undated, undatedStand });
      const warnings: string[] = [];
      for (const options of [{}, {}, { full: true, windowMs: day }]) {
        const night = await brand.sync("orders", options);
        expect(night).toMatchObject(done);
        warnings.push(...night.warnings);
        brand.pass(day);
      }
      expect(brand.mirrored()).toEqual(listed(brand));
      expect(warnings).toEqual([expect.stringContaining("whose `order_date` is no date (x)")]);
      expect((await brand.verify()).state).toBe("proven");
      // And what else changes is found beside them.
      come(brand, orderAt("late", noon - 40 * day));
      expect(await brand.sync("orders", { windowMs: day, audit: 0 })).toMatchObject(done);
      expect(brand.mirrored()).toEqual(listed(brand));
    },
  );

  test.each(["everywhere", "apart"] as const)(
    "one that gets its date (listed %s) is no longer without",
    async (undated) => {
      const brand = await nights({ orders: [...ten(), orderAt("x", null)] }, { undated });
      await brand.sync();
      change(brand, "x", { order_date: at(noon - 40 * day) });
      await brand.sync();
      expect(await brand.sync()).toMatchObject(done);
      expect(brand.mirrored()).toEqual(listed(brand));
      expect(brand.sql("SELECT order_date FROM orders WHERE id = 'x'")).toEqual([
        { order_date: at(noon - 40 * day) },
      ]);
    },
  );

  test.each(["everywhere", "apart"] as const)(
    "one that is gone (listed %s) is removed by `--full` only",
    async (undated) => {
      const orders = [...ten(), orderAt("x", null), orderAt("stays", null)];
      const brand = await nights({ orders }, { undated });
      await brand.sync();
      withdraw(brand, "x");
      await brand.sync();
      expect(brand.mirrored()).toContain("x");
      expect(await brand.sync("orders", { full: true })).toMatchObject(done);
      expect(brand.mirrored()).toEqual(listed(brand));
    },
  );

  test.each(["first", "last"] as const)(
    "more of them than a page holds (standing %s): a first sync has them",
    async (undatedStand) => {
      const none = Array.from({ length: 12 }, (_, n) => orderAt(`x${n}`, null));
      const brand = await nights({ orders: [...ten(), ...none] }, { mostPerPage: 5, undatedStand });
      for (let night = 0; night < 2; night += 1) {
        expect(await brand.sync()).toMatchObject(done);
        brand.pass(day);
      }
      expect(brand.mirrored()).toEqual(listed(brand));
    },
  );
});

test.each(["everywhere", "apart"] as const)(
  "an answer that ignored its dates, and one without any, settle for a night only where such orders (%s) are listed",
  async (undated) => {
    const brand = await nights({ orders: [...ten(), orderAt("x", null)] }, { undated });
    await brand.sync();
    brand.pass(day);
    for (const wrong of ["ignores", "empty"] as const) {
      brand.api.before = ({ path, query }) =>
        path === "/orders" && query.per_page !== "1" ? { wrong } : undefined;
      await brand.sync("orders", { acceptRemovals: true });
      brand.api.before = undefined;
      brand.pass(day);
      await brand.sync();
      expect(await brand.sync()).toMatchObject(done);
      expect(brand.mirrored()).toEqual(listed(brand));
    }
  },
);

test("records without a date that are listed apart are read, though the API refuses an end far ahead", async () => {
  const brand = await nights(
    { orders: [...ordersBefore(noon, 300, hour), orderAt("u", null)] },
    { undated: "apart", undatedStand: "last" },
  );
  brand.api.before = ({ query }) => ((query.end_date ?? "") > "2100" ? { status: 400 } : undefined);
  expect(await brand.sync()).toMatchObject(done);
  expect(brand.mirrored()).toEqual(listed(brand));
});

describe("a clock that was ahead", () => {
  test("has claimed nothing: coverage is taken back as far as it lies beyond now", async () => {
    const brand = await nights({ orders: ten() });
    await brand.sync();
    brand.pass(400 * day);
    await brand.sync();
    brand.pass(-400 * day);
    come(brand, orderAt("new", noon - day));
    expect(await brand.sync()).toMatchObject(done);
    expect(lastCovered(brand)).toBeLessThanOrEqual(brand.now());
    expect(brand.mirrored()).toEqual(listed(brand));
  });

  test.each([400, 45])("by %i days has set no floor that is still to come", async (days) => {
    const brand = await nights({ orders: ten() });
    brand.pass(days * day);
    await brand.sync("orders", { since: brand.now() - 30 * day });
    brand.pass(-days * day);
    // The first night cannot know which of two clocks is right, and proves nothing.
    const { verified, warnings } = await brand.sync();
    expect({ verified, warnings }).toEqual({
      verified: false,
      warnings: [expect.stringContaining("is still to come")],
    });
    for (let night = 0; night < 2; night += 1) {
      brand.pass(day);
      expect(await brand.sync()).toMatchObject({ ...done, covered_from: null });
      expect(brand.mirrored()).toEqual(listed(brand));
    }
  });

  test("has seen a record at an unknown time since the run before: a change is told as between that and now", async () => {
    const brand = await nights({ orders: ten() });
    await brand.sync();
    const before = at(brand.now());
    brand.pass(40 * day);
    await brand.sync();
    brand.pass(-39 * day);
    change(brand, "o0", { refund_amount: 5 });
    brand.pass(day);
    await brand.sync();
    const [seen] = brand.sql<{ last: string }>("SELECT last_seen_unchanged_at AS last FROM changes");
    expect(Date.parse(String(seen?.last))).toBeLessThanOrEqual(Date.parse(before) + 1_000);
  });

  test("is told nothing of where everything is read", async () => {
    const brand = await nights({ orders: ten() });
    brand.pass(45 * day);
    await brand.sync("orders", { since: brand.now() - 30 * day });
    brand.pass(-45 * day);
    expect(await brand.sync("orders", { full: true })).toMatchObject({
      ...done,
      covered_from: null,
      warnings: [],
    });
  });

  test.each<[string, (brand: Nights) => Promise<unknown>]>([
    ["for a night", async () => {}],
    ["for a night that begins with a `verify`", (brand) => brand.verify()],
    ["for a night that is stopped first", (brand) => brand.broken("stopped", () => true)],
    ["for a night that syncs twice", (brand) => brand.sync()],
  ])("is not one that was behind %s: the floor stays", async (_, before) => {
    const brand = await nights({ orders: ordersBefore(noon, 400, day) });
    const floor = noon - 60 * day;
    await brand.sync("orders", { since: floor });
    brand.pass(-90 * day);
    await before(brand);
    expect((await brand.run("sync orders --dry-run")).out).not.toContain("everything");
    expect(await brand.sync()).toMatchObject({
      verified: false,
      warnings: [expect.stringContaining("clock")],
    });
    brand.pass(91 * day);
    expect(await brand.sync()).toMatchObject({ ...done, covered_from: at(floor) });
    expect(brand.mirrored()).toHaveLength(61);
  });

  test("while a read was stopped: the run that finishes it claims nothing beyond now", async () => {
    const brand = await nights({ orders: ordersBefore(noon, 60, 6 * hour) }, { mostPerPage: 6 });
    brand.pass(400 * day);
    await brand.broken("stopped", ({ number }) => number === 5);
    brand.pass(-400 * day);
    expect(await brand.sync()).toMatchObject(done);
    expect(lastCovered(brand)).toBeLessThanOrEqual(brand.now());
    expect(brand.mirrored()).toEqual(listed(brand));
  });
});

describe("`--since` on the first run is a floor that is remembered", () => {
  const floor = at(noon - 20 * day);

  async function sinceTwentyDays() {
    const brand = await nights({ orders: ordersBefore(noon - hour, 60, day) });
    const first = await brand.sync("orders", { since: noon - 20 * day });
    brand.pass(day);
    return { brand, first };
  }

  test("each run says so: in `sync_runs`, `sync --json` and its line", async () => {
    const { brand, first } = await sinceTwentyDays();
    expect(first).toMatchObject({ ...done, covered_from: floor });
    const json = await brand.run("sync orders --json");
    expect(JSON.parse(json.out)).toMatchObject({ verified: true, covered_from: floor });
    expect(json.err).toContain(
      "verified from 2026-11-01 (older orders were never asked for; `--full` reads them)",
    );
    expect(brand.sql("SELECT covered_from FROM sync_runs")).toEqual([
      { covered_from: floor },
      { covered_from: floor },
    ]);
    expect(brand.mirrored()).toHaveLength(20);
  });

  test("`status` and `verify` say so", async () => {
    const { brand } = await sinceTwentyDays();
    await brand.sync();
    const { out } = await brand.run("status --json");
    expect(JSON.parse(out)).toMatchObject({
      resources: [{ covered_from: floor, gaps: [], unfinished: null }],
    });
    expect((await brand.run("status")).out).toContain("from 2026-11-01");
    expect(await brand.verify()).toMatchObject({ covered_from: floor, state: "unproven" });
    const told = await brand.run("verify orders");
    expect(told.out).toContain("before 2026-11-01: unproven: 40 older orders were never asked for");
    // Nobody wanted them: that is no failure.
    expect(told.code).toBe(0);
  });

  test("`--full` takes it away, an older `--since` moves it, a newer one does not", async () => {
    const { brand } = await sinceTwentyDays();
    expect(await brand.sync("orders", { since: noon - 5 * day })).toMatchObject({ covered_from: floor });
    const older = at(noon - 30 * day);
    expect(await brand.sync("orders", { since: noon - 30 * day })).toMatchObject({
      ...done,
      covered_from: older,
    });
    expect(await brand.sync("orders", { full: true })).toMatchObject({ ...done, covered_from: null });
    expect((await brand.sync()).covered_from).toBeNull();
    expect(brand.mirrored()).toEqual(listed(brand));
    expect(await brand.verify()).toMatchObject({ covered_from: null, state: "proven" });
  });

  test("the command line takes it: `sync orders --since`", async () => {
    const brand = await nights({ orders: ordersBefore(noon - hour, 60, day) });
    const { code, err } = await brand.run("sync orders --since 2026-11-01");
    expect(code, err).toBe(0);
    expect(brand.mirrored()).toHaveLength(21);
  });
});

test("an order of the last second that was read is counted: what happens to it shows", async () => {
  const brand = await nights({ orders: [orderAt("last", noon - 500)] }, { figures: "absent" });
  await brand.sync();
  brand.pass(hour);
  change(brand, "last", { is_cancelled: true });
  expect(await brand.sync("orders", { until: noon - 10 * day, audit: 0 })).toMatchObject({ verified: true });
  expect(brand.sql("SELECT is_cancelled FROM orders")).toEqual([{ is_cancelled: 1 }]);
});

test("of a few hours, where dates are shown by day, nothing is counted: no range ends before it begins", async () => {
  const brand = await nights({ orders: ordersBefore(noon, 5, hour) }, { shows: "days", figures: "absent" });
  const { asked, failure, verified } = await brand.sync("orders", { since: noon - 2 * hour });
  expect({ failure, verified }).toEqual({ failure: null, verified: true });
  for (const { start_date = "", end_date = "9" } of asked.map(({ query }) => query))
    expect(start_date <= end_date, `${start_date} to ${end_date}`).toBe(true);
});
