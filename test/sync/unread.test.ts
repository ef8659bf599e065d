import { describe, expect, test } from "vitest";
import type { FakeRequest } from "../support/fake-api.js";
import {
  change,
  come,
  day,
  fileAt,
  hour,
  listed,
  type Nights,
  nights,
  noon,
  orderAt,
  ordersBefore,
} from "../support/nights.js";

/** Whether a request asks for orders, after so many pages of them. */
function afterPages(count: number) {
  let pages = 0;
  return ({ path, query }: { path: string; query: Record<string, string> }) =>
    path === "/orders" && query.per_page !== "1" && ++pages > count;
}

/** What `status` says that `verify` has found. */
async function foundIn(brand: Nights) {
  return JSON.parse((await brand.run("status --json")).out).resources[0].found;
}

/** 900 orders, of which a first read was stopped after 198. */
async function stoppedFirst(): Promise<Nights> {
  const brand = await nights({ orders: ordersBefore(noon, 900, 6 * hour) });
  await brand.broken("stopped", afterPages(3));
  brand.pass(day);
  return brand;
}

const command = (brand: Nights) => `sync orders --since ${new Date(brand.now() - 7 * day).toISOString()}`;

describe("what a stopped read had still to come to", () => {
  test("is named by every narrower run, which does not claim it", async () => {
    const brand = await stoppedFirst();
    for (let night = 0; night < 2; night += 1) {
      const run = await brand.sync("orders", { since: brand.now() - 7 * day });
      expect(run.warnings).toEqual([
        expect.stringMatching(/^orders: everything until .* has never been read/),
      ]);
      const [oldest] = brand.sql<{ at: string }>("SELECT min(from_at) AS at FROM coverage");
      expect(run.covered_from).toBe(oldest?.at);
      brand.pass(day);
    }
    const { err, out } = await brand.run(command(brand));
    expect(out + err).toMatch(/verified from 2026-/);
    expect((await brand.run("report --text")).out).toMatch(/Orders are proven from \d+ \w+ 2026 through/);
    expect(await brand.sync()).toMatchObject({ covered_from: null, warnings: [], verified: true });
  });

  test("leaves what was claimed before as it was: an older `--since` that failed", async () => {
    const brand = await nights({ orders: ordersBefore(noon, 900, 6 * hour) });
    await brand.sync("orders", { since: noon - 20 * day });
    await brand.broken("stopped", afterPages(3), "orders", { since: noon - 200 * day });
    brand.pass(2 * day);
    const { covered_from, warnings } = await brand.sync("orders", { since: brand.now() - 7 * day });
    expect(Date.parse(String(covered_from))).toBeGreaterThan(noon - 100 * day);
    expect(warnings).toEqual([expect.stringContaining("has never been read and is not claimed as covered")]);
  });

  test("and `verify` found, stays found until it is read", async () => {
    const brand = await stoppedFirst();
    expect((await brand.run("verify orders")).code).toBe(8);
    const found = await foundIn(brand);
    expect(found.error).toContain("orders were not read yet");
    expect(await brand.sync("orders", { since: brand.now() - 7 * day })).toMatchObject({ verified: false });
    expect(await foundIn(brand)).toEqual(found);
    await brand.sync();
    expect(await foundIn(brand)).toBeNull();
  });
});

test("a resource that was read half-way, and is refused the night after, is a warning, and stays in `status`", async () => {
  const brand = await nights({ orders: ordersBefore(noon, 900, hour) });
  let pages = 0;
  brand.api.before = ({ path }) => (path === "/orders" && ++pages > 2 ? { status: 403 } : undefined);
  expect((await brand.run("sync")).code).toBe(8);
  brand.pass(day);
  brand.api.before = ({ path }) => (path === "/orders" ? { status: 403 } : undefined);
  expect((await brand.run("sync --quiet")).err).toContain("orders: it was read before, and is refused now");
  expect((await brand.run("status")).out).toContain("orders");
  expect((await brand.run("status --max-age 26h")).code).toBe(10);
});

test("`verify` leaves out nothing that was read, if only in part", async () => {
  const brand = await nights({ orders: ordersBefore(noon, 300, day), roster: [{ relationship_id: "r" }] });
  expect((await brand.run("sync roster")).code).toBe(0);
  expect((await brand.run("sync orders --until 2026-11-01")).code).toBe(0);
  const { code, out } = await brand.run("verify");
  expect(code).toBe(8);
  expect(out).toContain("orders: unproven");
});

describe("a date that is a mistake", () => {
  const first = Date.parse("0001-01-01T00:00:00Z");

  test("of the year 1: what happens to it is found by `verify`, which lists no month of two thousand years", async () => {
    const brand = await nights({ orders: [...ordersBefore(noon, 50, day), orderAt("zero", first)] });
    await brand.sync();
    brand.pass(hour);
    expect(await brand.verify()).toMatchObject({ state: "proven" });
    brand.api.records.orders = ordersBefore(noon, 50, day);
    const { state, months } = await brand.verify();
    expect(state).toBe("different");
    expect(months.filter((one) => one.state === "different")).toMatchObject([
      { month: "0001-01", why: expect.stringContaining("0 in the API, 1 here") },
    ]);
    expect(months.length).toBeLessThan(5);
    expect(await brand.sync()).toMatchObject({ verified: true, rows_removed: 1 });
    expect(await brand.verify()).toMatchObject({ state: "proven" });
  });

  test("of the year 1 keeps no figures of the days since", async () => {
    const brand = await nights({ orders: [...ordersBefore(noon, 5, day), orderAt("zero", first)] });
    await brand.sync();
    const [{ n = 0 } = {}] = brand.sql<{ n: number }>("SELECT count(*) AS n FROM day_figures");
    expect(n).toBeLessThan(30_000);
    expect((await brand.sync("analytics-clicks")).requests).toBeLessThan(700);
  });

  test("none at all: who is missing is told by `verify`, whatever month it is", async () => {
    const undated = Array.from({ length: 30 }, (_, n) => orderAt(`u${n}`, null));
    const brand = await nights({ orders: [...ordersBefore(noon, 20, hour), ...undated] });
    await brand.sync();
    brand.api.records.orders = ordersBefore(noon, 20, hour);
    await brand.sync("orders", { full: true });
    brand.pass(40 * day);
    const { state, months } = await brand.verify();
    expect(state).toBe("different");
    expect(months.at(-1)).toMatchObject({ month: "undated", why: "undated: 30 no longer there" });
  });
});

test("what left from a gap is found by `verify`", async () => {
  const items = Array.from({ length: 100 }, (_, n) => fileAt(`c${n}`, noon - n * day));
  const brand = await nights({ content: items });
  await brand.sync("content", { since: noon - 200 * day, until: noon - 70 * day });
  await brand.sync("content", { since: noon - 10 * day });
  await brand.sync("content", { filters: { source: ["upload"] } });
  expect(await brand.verify("content")).toMatchObject({ state: "unproven", unread: 0 });
  brand.api.records.content = items.filter((_, n) => n < 20 || n > 60);
  expect(await brand.verify("content")).toMatchObject({ state: "different", unread: 0 });
});

describe("clicks", () => {
  const march = Date.parse("2026-03-04T12:00:00Z");
  const monthly = { groupBy: "month" };
  const brandOf = async () =>
    await nights({ orders: [...ordersBefore(noon, 150, day), orderAt("first", march)] });
  const monthOf = (brand: Nights) =>
    brand.sql<{ orders: number }>(
      `SELECT json_extract(json, '$.summary.orders') AS orders FROM records
       WHERE resource = 'analytics-clicks' AND key LIKE '2026-03-01/month/%'`,
    );

  test("a series' oldest month is read again once the mirror's has moved", async () => {
    const brand = await brandOf();
    await brand.sync("analytics-clicks");
    await brand.sync("analytics-clicks", monthly);
    come(brand, orderAt("late", march));
    brand.pass(day);
    await brand.sync("analytics-clicks");
    await brand.sync("analytics-clicks", monthly);
    expect(monthOf(brand)).toEqual([{ orders: 2 }]);
  });

  test("a series is read again, too, where a month moved after the days were asked for", async () => {
    const brand = await brandOf();
    await brand.sync("analytics-clicks");
    await brand.sync("analytics-clicks", monthly);
    brand.once(
      ({ query }) => query.start_date !== undefined,
      () => come(brand, orderAt("late", march)),
    );
    await brand.sync("analytics-clicks", { full: true });
    brand.pass(day);
    await brand.sync("analytics-clicks", monthly);
    expect(monthOf(brand)).toEqual([{ orders: 2 }]);
  });

  test("a series alone is not read anew each night", async () => {
    const brand = await brandOf();
    await brand.sync("analytics-clicks", monthly);
    brand.pass(day);
    expect((await brand.sync("analytics-clicks", monthly)).requests).toBeLessThan(4);
  });

  describe("a `--full` that was stopped", () => {
    const isLater = ({ query }: { query: Record<string, string> }) =>
      query.start_date?.startsWith("2026-09") === true;
    const monthsAsked = ({ asked }: { asked: readonly FakeRequest[] }) =>
      asked.flatMap(({ query }) => query.start_date?.slice(0, 7) ?? []);

    /** The first two months were read again by it; what was on its way when it stopped is asked for again. */
    async function stoppedFull() {
      const brand = await brandOf();
      await brand.sync("analytics-clicks");
      await brand.broken("stopped", isLater, "analytics-clicks", { full: true });
      return brand;
    }

    test("goes on where it was", async () => {
      const brand = await stoppedFull();
      const months = monthsAsked(await brand.sync("analytics-clicks", { full: true }));
      expect(months).toEqual(expect.arrayContaining(["2026-09", "2026-10", "2026-11"]));
      for (const month of ["2026-03", "2026-04"]) expect(months).not.toContain(month);
      expect(monthsAsked(await brand.sync("analytics-clicks", { full: true }))).toContain("2026-03");
    });

    test("changes nothing for a plain run, which leaves it to be gone on with", async () => {
      const brand = await stoppedFull();
      expect(monthsAsked(await brand.sync("analytics-clicks"))).toEqual(["2026-10", "2026-11"]);
      expect(monthsAsked(await brand.sync("analytics-clicks", { full: true }))).not.toContain("2026-03");
    });

    test("is told by `status`, until it is a day old", async () => {
      const brand = await stoppedFull();
      const unfinished = async () =>
        JSON.parse((await brand.run("status --json")).out).resources[0].unfinished;
      await brand.sync("analytics-clicks");
      expect(await unfinished()).not.toBeNull();
      brand.pass(2 * day);
      await brand.sync("analytics-clicks");
      expect(await unfinished()).toBeNull();
      // Begun by a clock that was ahead.
      brand.pass(300 * day);
      await brand.broken("stopped", isLater, "analytics-clicks", { full: true });
      brand.pass(-299 * day);
      await brand.sync("analytics-clicks");
      expect(await unfinished()).toBeNull();
    });

    test("counts for nothing a day later, nor for what moved since", async () => {
      const brand = await stoppedFull();
      come(brand, orderAt("late", march));
      const months = monthsAsked(await brand.sync("analytics-clicks", { full: true }));
      expect(months).toContain("2026-03");
      expect(months).not.toContain("2026-04");
      await brand.broken("stopped", isLater, "analytics-clicks", { full: true });
      brand.pass(2 * day);
      expect(monthsAsked(await brand.sync("analytics-clicks", { full: true }))).toContain("2026-04");
    });
  });

  describe("of each host", () => {
    /** A brand of three hosts, with an order on each of so many days. */
    async function threeHosts(days: number): Promise<Nights> {
      const roster = ["h1", "h2", "h3"].map((id) => ({ relationship_id: `r-${id}`, host: { id } }));
      const brand = await nights({ roster, orders: ordersBefore(noon, days, day) });
      await brand.sync("roster");
      return brand;
    }

    test("a `--full` that was stopped comes to the last one", async () => {
      const brand = await threeHosts(150);
      const isThird = ({ query }: { query: Record<string, string> }) => query.host_id === "h3";
      const options = { perHost: true, full: true };
      await brand.broken("stopped", isThird, "analytics-clicks", options);
      const { asked } = await brand.sync("analytics-clicks", options);
      const hosts = asked.flatMap(({ query }) => query.host_id ?? []);
      expect(new Set(hosts.filter((id) => id !== "h3")).size).toBe(2);
      expect(hosts.filter((id) => id === "h1")).toHaveLength(1);
    });

    test("are counted by a plan", async () => {
      const brand = await threeHosts(150);
      const { requests } = await brand.sync("analytics-clicks");
      const { out } = await brand.run("sync analytics-clicks --per-host --dry-run");
      // One of them was for the days.
      expect(out).toContain(`${3 * (requests - 1)} months`);
    });

    test("are asked for once by a first read that was stopped, but for the month that is running", async () => {
      const brand = await threeHosts(150);
      await brand.broken("stopped", ({ query }) => query.host_id === "h3", "analytics-clicks", {
        perHost: true,
      });
      const again = await brand.sync("analytics-clicks", { perHost: true });
      expect(again.asked.filter(({ query }) => query.host_id === "h1")).toHaveLength(1);
      brand.pass(2 * hour);
      const later = await brand.sync("analytics-clicks", { perHost: true });
      expect(later.asked.filter(({ query }) => query.host_id === "h1")).toHaveLength(2);
    });

    test("a host that the API refuses keeps no other out, and is named", async () => {
      const brand = await threeHosts(50);
      brand.api.before = ({ query }) => (query.host_id === "h1" ? { status: 400 } : undefined);
      const { asked, failure, outcome } = await brand.sync("analytics-clicks", { perHost: true });
      expect(outcome).toBe("incomplete");
      expect(String(failure)).toContain(
        "host h1, no longer there perhaps: The API refused the parameters of /analytics/clicks (400)",
      );
      expect(asked.filter(({ query }) => query.host_id === "h1").length).toBeLessThan(3);
      const read = "SELECT DISTINCT host_id FROM analytics_clicks_periods WHERE host_id IS NOT NULL";
      expect(brand.sql(read)).toHaveLength(2);
      brand.api.before = ({ query }) => (query.host_id ? { status: 400 } : undefined);
      expect(await brand.sync("analytics-clicks", { perHost: true })).toMatchObject({ outcome: "failed" });
    });
  });

  test("months that nobody read are named by a narrower run, as of orders", async () => {
    const brand = await brandOf();
    const isLater = ({ query }: { query: Record<string, string> }) =>
      query.start_date?.startsWith("2026-09") === true;
    await brand.broken("stopped", isLater, "analytics-clicks");
    const { warnings } = await brand.sync("analytics-clicks", { since: noon - 15 * day });
    expect(warnings).toEqual([
      expect.stringMatching(/^analytics-clicks: 2026-0\d-01 .* has never been read/),
    ]);
    expect((await brand.sync("analytics-clicks")).warnings).toEqual([]);
  });
});

describe("surveys", () => {
  test("of which none ever had results are no failure", async () => {
    const brand = await nights({ surveys: [{ id: "a" }, { id: "b" }] });
    const run = await brand.sync("surveys");
    expect(run).toMatchObject({ failure: null, verified: true });
    expect(run.warnings).toEqual([
      expect.stringContaining("answers 404 for /surveys/a/results, and for every other"),
    ]);
    expect(await brand.verify("surveys")).toMatchObject({ state: "proven" });
  });

  test("whose results all answer 404, and were there, stay until that is accepted, and are not proven", async () => {
    const brand = await nights({
      surveys: [{ id: "a" }, { id: "b" }],
      results: { a: "[]", b: '[{"id":"r"}]' },
    });
    await brand.sync("surveys");
    brand.api.records.results = {};
    expect(await brand.sync("surveys")).toMatchObject({ verified: false });
    expect(brand.mirrored("survey-results")).toEqual(["b/r"]);
    expect(await brand.verify("surveys")).toMatchObject({ state: "unproven", unread: 1 });
    expect(await brand.sync("surveys", { acceptRemovals: true })).toMatchObject({ verified: true });
    expect(brand.mirrored("survey-results")).toEqual([]);
    expect(await brand.verify("surveys")).toMatchObject({ state: "proven" });
  });

  test("whose results answer 404 are not proven by `verify` either", async () => {
    const brand = await nights({
      surveys: [{ id: "a" }, { id: "b" }],
      results: { a: "[]", b: '[{"id":"r"}]' },
    });
    await brand.sync("surveys");
    brand.api.records.results = { a: "[]" };
    expect(await brand.sync("surveys")).toMatchObject({ verified: false });
    expect(await brand.verify("surveys")).toMatchObject({ state: "unproven", unread: 1 });
    expect(await brand.sync("surveys", { acceptRemovals: true })).toMatchObject({ verified: true });
    expect(await brand.verify("surveys")).toMatchObject({ state: "proven" });
  });
});

describe("a clock that was wrong", () => {
  const reports = (brand: Nights) =>
    brand.sql("SELECT DISTINCT month, reported_at FROM restatements ORDER BY month");

  test("ahead, for some nights: no month is reported that was not over", async () => {
    const brand = await nights({ orders: ordersBefore(noon, 100, 12 * hour) });
    await brand.sync();
    const before = reports(brand);
    brand.pass(40 * day);
    for (let night = 0; night < 3; night += 1) {
      await brand.sync();
      brand.pass(day);
    }
    brand.pass(-42 * day);
    for (let night = 0; night < 3; night += 1) {
      await brand.sync();
      const months = brand.sql<{ month: string; is_partial: number }>(
        "SELECT month, is_partial FROM sales_by_month",
      );
      expect(months.at(-1)).toEqual({ month: "2026-11", is_partial: 1 });
      expect(reports(brand)).toEqual(before);
      brand.pass(day);
    }
    expect((await brand.run("report --text")).out).toContain("Orders were read up to 24 Nov 2026");
  });

  test("behind, for a night: what was reported before stays so", async () => {
    const brand = await nights({ orders: ordersBefore(noon, 200, 12 * hour) });
    for (let month = 0; month < 3; month += 1) {
      await brand.sync();
      brand.pass(30 * day);
    }
    const before = reports(brand);
    expect(before).toHaveLength(4);
    brand.pass(-70 * day);
    await brand.sync();
    brand.pass(71 * day);
    await brand.sync();
    expect(reports(brand)).toEqual(expect.arrayContaining(before));
  });
});

test("what `verify` found unread, `--repair` reads down to the floor", async () => {
  const brand = await stoppedFirst();
  expect(await brand.verify()).toMatchObject({ state: "unproven", unread: expect.any(Number) });
  expect(await brand.verify("orders", true)).toMatchObject({ state: "repaired", unread: 0 });
  expect(brand.mirrored()).toEqual(listed(brand));
  expect((await brand.run("status")).out).not.toContain("goes on there");
});

test("what `verify` found stays when a sync ends before it began", async () => {
  const brand = await nights({ orders: ordersBefore(noon, 100, day) });
  await brand.sync();
  brand.pass(5 * day);
  come(brand, orderAt("new", noon + day));
  expect((await brand.run("verify orders")).code).toBe(8);
  expect(await brand.sync("orders", { since: noon - 20 * day, until: noon - 5 * day })).toMatchObject({
    failure: null,
  });
  expect(await foundIn(brand)).not.toBeNull();
});

test("a report is of what was read: a filtered run is no reading of everything", async () => {
  const brand = await nights({ orders: ordersBefore(noon, 100, day) });
  await brand.sync("orders", { since: noon - 30 * day });
  await brand.sync("orders", { filters: { status: ["cancelled"] } });
  expect((await brand.run("report --text")).out).toContain("Orders are proven from 22 Oct 2026");
});

test("a mirror with a floor: what `verify` found is over once `--repair` has mended it", async () => {
  const brand = await nights({ orders: ordersBefore(noon, 100, day) });
  await brand.sync("orders", { since: noon - 50 * day });
  brand.pass(hour);
  come(brand, orderAt("late", noon - 40 * day));
  await brand.verify();
  expect(await foundIn(brand)).not.toBeNull();
  await brand.verify("orders", true);
  expect(await foundIn(brand)).toBeNull();
});

test("a report proves nothing below a gap, and knows of no order in it", async () => {
  const brand = await nights({ orders: ordersBefore(noon, 40, day) });
  await brand.sync();
  brand.pass(100 * day);
  come(brand, ...Array.from({ length: 100 }, (_, n) => orderAt(`n${n}`, noon + n * day)));
  await brand.sync("orders", { since: brand.now() - day });
  const { out } = await brand.run("report --text --month 2027-01");
  expect(out).toMatch(/Orders are proven from 28 Feb 2027 through 1 Mar 2027/);
  expect(out).toContain("No order in what was read of this time.");
  expect(out).not.toContain("No order in this time.");
});

test("records from below what was read that left the API are found by `verify`", async () => {
  const items = Array.from({ length: 100 }, (_, n) =>
    fileAt(`c${n}`, noon - n * day, n > 50 ? "upload" : "deliverable"),
  );
  const brand = await nights({ content: items });
  await brand.sync("content", { since: noon - 30 * day });
  await brand.sync("content", { filters: { source: ["upload"] } });
  expect((await brand.verify("content")).state).toBe("unproven");
  brand.api.records.content = items.slice(0, 60);
  expect((await brand.verify("content")).state).toBe("different");
});

test("an order that came hides behind none that was dated ahead and left", async () => {
  const brand = await nights({
    orders: [...ordersBefore(noon, 20, day), orderAt("ahead", noon + 400 * day)],
  });
  await brand.sync();
  brand.pass(3 * day);
  brand.api.records.orders = [...ordersBefore(noon, 20, day), orderAt("new", noon + day)];
  const { months, state, unread } = await brand.verify();
  expect({ state, unread }).toEqual({ state: "different", unread: 1 });
  expect(months.at(-1)).toMatchObject({
    month: "since 2026-11-21 12:00",
    why: expect.stringContaining("1 newer"),
  });
});

test("a gap that the mirror has all of, by runs that its clock has made forget, is compared", async () => {
  const brand = await nights({ orders: ordersBefore(noon - hour, 60, day) }, { figures: "absent" });
  await brand.sync();
  brand.pass(-20 * day);
  await brand.verify();
  brand.pass(21 * day);
  await brand.sync("orders", { since: brand.now() - 5 * day, audit: 0 });
  change(brand, "o10", { total_amount: 99 });
  expect((await brand.verify()).state).toBe("different");
  expect((await brand.run("verify orders")).code).toBe(8);
  expect((await brand.verify("orders", true)).state).toBe("repaired");
});

test("a month of which a part was never read is not proven by totals that are capped, and so agree", async () => {
  const items = Array.from({ length: 40 }, (_, n) => fileAt(`c${n}`, noon - n * day));
  const brand = await nights({ content: items }, { mostPerPage: 11, mostCounted: 13 });
  await brand.sync("content", { since: noon - 24 * day, until: noon - 13 * day });
  // Its list is capped too: what it read is kept, and claimed by nobody.
  await brand.sync("content", { since: noon - 365 * day, until: noon - 18 * day });
  const months = (await brand.verify("content")).months.map(({ month, state }) => [month, state]);
  expect(months).toContainEqual(["2026-10", "unproven"]);
});

test("orders dated a few hours ahead, as by another clock, are compared one by one: their number proves nothing", async () => {
  const brand = await nights({ orders: [...ordersBefore(noon, 20, day), orderAt("ahead", noon + 3 * hour)] });
  await brand.sync();
  for (const passed of [hour, 8 * hour]) {
    brand.pass(passed);
    expect(await brand.verify()).toMatchObject({ state: "proven" });
    change(brand, "ahead", { refund_amount: 1 + passed / hour });
    const { months, state } = await brand.verify();
    expect(state).toBe("different");
    expect(months.at(-1)?.why).toBe("2026-11-21: changed since it was read");
    expect((await brand.sync()).rows_changed).toBe(1);
    brand.api.records.orders = [...ordersBefore(noon, 20, day), orderAt("ahead", brand.now() + 2 * hour)];
    await brand.sync();
  }
});

test.each(["stopped", "killed"] as const)(
  "what a run that was %s had read is known `--as-of` then",
  async (how) => {
    const orders = ordersBefore(noon, 120, 12 * hour);
    const brand = await nights({ orders });
    await brand.sync("orders", { windowMs: day });
    brand.pass(20 * day);
    await brand.broken(how, ({ query }) => query.status === "cancelled", "orders", { windowMs: day });
    const instant = new Date(brand.now()).toISOString();
    const months = async () =>
      JSON.parse((await brand.run(`export sales_by_month --json --as-of ${instant}`)).out) as unknown;
    const then = await months();
    brand.pass(30 * day);
    await brand.sync();
    expect(await months()).toEqual(then);
  },
);
