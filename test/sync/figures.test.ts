import { describe, expect, test } from "vitest";
import { UnexpectedAnswer } from "../../src/errors.js";
import {
  at,
  change,
  come,
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

const orders = () => ordersBefore(noon, 200, day);

describe("figures by day that are restated for no record's sake", () => {
  test("are said once, set aside for a week and tried again after it; verify is not red", async () => {
    const brand = await nights({ orders: orders() }, { rates: "drifting" });
    const warned: number[] = [];
    const requests: number[] = [];
    for (let night = 0; night < 20; night += 1) {
      const { asked, failure, verified, warnings } = await brand.sync("orders", { audit: 0 });
      expect({ failure, verified }, `night ${night}`).toEqual({ failure: null, verified: true });
      for (const text of warnings) expect(text).toContain("restates its figures by day");
      if (warnings.length > 0) warned.push(night);
      requests.push(asked.length);
      expect((await brand.run("verify orders")).code, `night ${night}`).toBe(0);
      brand.pass(day + 7 * 60_000);
    }
    expect(warned).toHaveLength(3);
    const [first, second, third] = warned as [number, number, number];
    for (const gap of [second - first, third - second]) {
      expect(gap).toBeGreaterThanOrEqual(7);
      expect(gap).toBeLessThanOrEqual(9);
    }
    // Ten days are looked at to find it out; the other nights cost no more than figures that stand still.
    expect(requests[first]).toBeLessThanOrEqual(16);
    expect(requests[first + 1]).toBeLessThanOrEqual(6);
  });

  test("are believed of two answers: an empty one hides no late refund", async () => {
    const brand = await nights({ orders: orders() }, { revenue: "net" });
    await brand.sync("orders", { audit: 0, windowMs: day });
    brand.pass(day);
    let isFirst = true;
    brand.api.before = ({ path }) => {
      if (path !== "/analytics/clicks" || !isFirst) return undefined;
      isFirst = false;
      return { wrong: "empty" };
    };
    const { failure, warnings } = await brand.sync("orders", { audit: 0, windowMs: day });
    expect([failure, warnings]).toEqual([null, []]);
    brand.pass(day);
    change(brand, "o150", { refund_amount: 2 });
    expect(await brand.sync("orders", { audit: 0, windowMs: day })).toMatchObject({
      verified: true,
      rows_changed: 1,
    });
  });

  test("do not hide a late order meanwhile: the counts find it", async () => {
    const brand = await nights({ orders: orders() }, { rates: "drifting" });
    for (let night = 0; night < 3; night += 1) {
      await brand.sync("orders", { audit: 0 });
      brand.pass(day);
    }
    come(brand, orderAt("late", noon - 150 * day - hour));
    expect(await brand.sync("orders", { audit: 0 })).toMatchObject({ failure: null, verified: true });
    expect(brand.mirrored()).toEqual(listed(brand));
  });

  test("a bulk change that moves most days for its records' sake is no noise: all of it is read", async () => {
    const brand = await nights({ orders: orders() }, { revenue: "net" });
    await brand.sync("orders", { audit: 0 });
    brand.pass(day);
    for (let n = 0; n < 200; n += 1) change(brand, `o${n}`, { refund_amount: 2 });
    for (let night = 0; night < 3; night += 1) {
      const { warnings } = await brand.sync("orders", { audit: 0 });
      expect(warnings).toEqual([]);
      brand.pass(day);
    }
    expect(brand.sql("SELECT count(*) AS n FROM orders WHERE refund_amount = 2")).toEqual([{ n: 200 }]);
  });
});

describe("figures that moved while the records stayed the same are no noise, and each day is read,", () => {
  test("in a history of a few weeks", async () => {
    const brand = await nights({ orders: ordersBefore(noon, 45, day) }, { rates: "drifting" });
    for (let night = 0; night < 3; night += 1) {
      expect(await brand.sync("orders", { audit: 0 })).toMatchObject({ failure: null, warnings: [] });
      brand.pass(day);
    }
  });

  test("on a few days of a long one: days that touch by one request", async () => {
    const brand = await nights({ orders: orders() }, { revenue: "net", lags: "figures" });
    await brand.sync("orders", { audit: 0 });
    brand.pass(day);
    for (let n = 60; n < 90; n += 1) change(brand, `o${n}`, { refund_amount: 2 });
    // The figures do not show yet what this run has read.
    await brand.sync("orders", { full: true });
    brand.pass(day);
    const { asked, verified, warnings } = await brand.sync("orders", { audit: 0 });
    expect({ verified, warnings }).toEqual({ verified: true, warnings: [] });
    expect(readsOf(asked, "/orders")).toHaveLength(2);
  });
});

test("figures of the last 90 days only: older days are not called moved", async () => {
  const brand = await nights({ orders: orders() }, { figures: "recent" });
  for (let night = 0; night < 10; night += 1) {
    const { asked, failure, verified } = await brand.sync("orders", { audit: 0 });
    expect({ failure, verified }).toEqual({ failure: null, verified: true });
    if (night > 0) expect(asked.length).toBeLessThanOrEqual(8);
    brand.pass(day);
  }
});

test("buckets of zeros for days without orders cost nothing", async () => {
  const brand = await nights({ orders: ordersBefore(noon, 60, 5 * day) }, { emptyDays: "zero" });
  await brand.sync("orders", { audit: 0 });
  brand.pass(day);
  const { asked, verified } = await brand.sync("orders", { audit: 0 });
  expect(verified).toBe(true);
  expect(asked.length).toBeLessThanOrEqual(5);
});

test("figures that lag behind the records are looked into the next night", async () => {
  const brand = await nights({ orders: orders() }, { revenue: "net", lags: "figures" });
  await brand.sync("orders", { audit: 0 });
  brand.pass(day);
  change(brand, "o150", { refund_amount: 2 });
  for (let night = 0; night < 2; night += 1) {
    await brand.sync("orders", { audit: 0 });
    brand.pass(day);
  }
  expect(brand.sql("SELECT refund_amount FROM orders WHERE id = 'o150'")).toEqual([{ refund_amount: 2 }]);
});

test("what changes after the figures were asked for, on a day that the run reads, shows the next night", async () => {
  const brand = await nights({ orders: orders() }, { revenue: "net" });
  await brand.sync("orders", { audit: 0 });
  brand.pass(day);
  change(brand, "o150", { refund_amount: 2 });
  // The day is read again for the first refund; then comes a second one.
  brand.once(
    ({ path, query }) => path === "/orders" && query.per_page === "1",
    () => change(brand, "o150", { refund_amount: 3 }),
  );
  await brand.sync("orders", { audit: 0 });
  brand.api.before = undefined;
  brand.pass(day);
  const { asked } = await brand.sync("orders", { audit: 0 });
  expect(readsOf(asked, "/orders")).toHaveLength(2);
  expect(brand.sql("SELECT refund_amount FROM orders WHERE id = 'o150'")).toEqual([{ refund_amount: 3 }]);
});

test("the past months of clicks are read again when their days moved, and only they", async () => {
  const brand = await nights({ orders: orders() }, { revenue: "net" });
  await brand.sync("analytics-clicks");
  brand.pass(day);
  const quiet = await brand.sync("analytics-clicks");
  expect(months(quiet.asked)).toEqual(["2026-10", "2026-11"]);
  brand.pass(day);
  change(brand, "o150", { refund_amount: 2 });
  const { asked, verified } = await brand.sync("analytics-clicks");
  expect(verified).toBe(true);
  const [order] = ordersBefore(noon, 151, day).slice(150);
  expect(months(asked)).toEqual([String(order?.order_date).slice(0, 7), "2026-10", "2026-11"]);
  brand.pass(day);
  expect(months((await brand.sync("analytics-clicks")).asked)).toEqual(["2026-10", "2026-11"]);
});

function months(asked: { path: string; query: Readonly<Record<string, string>> }[]): (string | undefined)[] {
  return asked
    .filter(({ query }) => query.start_date !== undefined)
    .map(({ query }) => query.start_date?.slice(0, 7));
}

test("figures that were there before and are not now are a warning: late changes show no other way", async () => {
  const brand = await nights({ orders: ordersBefore(noon, 30, hour) });
  brand.api.before = ({ path }) => (path === "/analytics/clicks" ? { status: 404 } : undefined);
  expect((await brand.sync()).warnings).toEqual([]);
  brand.api.before = undefined;
  await brand.sync();
  brand.pass(2 * day);
  await brand.sync("orders", { full: true });
  brand.api.before = ({ path }) => (path === "/analytics/clicks" ? { status: 404 } : undefined);
  expect((await brand.sync()).warnings).toEqual([
    expect.stringMatching(/^orders: the API gave no figures by day: /),
  ]);
});

test("figures that the API does not give are asked for once a run, by whoever goes by them", async () => {
  const brand = await nights({ orders: ordersBefore(noon, 30, hour) });
  brand.api.before = ({ path }) => (path === "/analytics/clicks" ? { status: 500 } : undefined);
  const { code, err } = await brand.run("sync analytics-clicks orders --max-wait 0s");
  expect(code, err).toBe(8);
  expect(err).toMatch(/orders: .* verified/);
  const clicks = brand.api.asked.filter(({ path }) => path === "/analytics/clicks");
  expect(clicks).toHaveLength(1);
});

test("an answer without a list of points is no answer about days", async () => {
  const brand = await nights({ orders: ordersBefore(noon, 30, hour) });
  await brand.sync();
  brand.pass(day);
  brand.api.answers["/analytics/clicks"] = '{"summary":{}}';
  const { failure, warnings } = await brand.sync();
  expect(failure).toBeNull();
  expect(warnings).toEqual([expect.stringContaining("has no `timeseries`")]);
  const { months, state } = await brand.verify();
  expect({ state, why: months.at(-1)?.why }).toEqual({
    state: "proven",
    why: "the API counts the same (all)",
  });
  expect((await brand.sync("analytics-clicks")).failure).toBeInstanceOf(UnexpectedAnswer);
});

test("figures that are noise are no agreement: `verify` counts each month", async () => {
  const brand = await nights({ orders: orders() }, { rates: "drifting" });
  await brand.sync("orders", { audit: 0 });
  brand.pass(5 * hour);
  const { months: found, state } = await brand.verify();
  expect({ state, why: found.at(-1)?.why }).toEqual({
    state: "proven",
    why: "the API counts the same (all)",
  });
  withdraw(brand, "o150");
  come(brand, orderAt("other", noon - 100 * day));
  expect((await brand.verify()).state).toBe("different");
});

describe("months of clicks", () => {
  const thirty = () => ordersBefore(noon, 30, 30 * day);

  test("are read again as soon as they moved, however many they are", async () => {
    const brand = await nights({ orders: thirty() }, { revenue: "net" });
    await brand.sync("analytics-clicks");
    brand.pass(day);
    for (let n = 0; n < 30; n += 1) change(brand, `o${n}`, { refund_amount: 2 });
    const { asked, verified } = await brand.sync("analytics-clicks");
    expect(verified).toBe(true);
    expect(new Set(months(asked)).size).toBeGreaterThan(25);
    brand.pass(day);
    expect(months((await brand.sync("analytics-clicks")).asked)).toEqual(["2026-10", "2026-11"]);
  });

  test("are read again when a day comes that had nothing", async () => {
    const brand = await nights({ orders: thirty() });
    await brand.sync("analytics-clicks");
    brand.pass(day);
    come(brand, orderAt("late", Date.parse("2025-07-04T12:00:00Z")));
    expect(months((await brand.sync("analytics-clicks")).asked)).toEqual(["2025-07", "2026-10", "2026-11"]);
  });

  test.each([
    ["after `--since`", { since: noon - 40 * day }],
    ["before `--until`", { until: noon - 600 * day }],
  ])("that moved are read, though only those %s were asked for", async (_, asked) => {
    const brand = await nights({ orders: thirty() });
    await brand.sync("analytics-clicks");
    brand.pass(day);
    come(brand, orderAt("late", Date.parse("2025-07-04T12:00:00Z")));
    expect(months((await brand.sync("analytics-clicks", asked)).asked)).toContain("2025-07");
  });

  test("hold zeros for days of other months: those are not theirs", async () => {
    const brand = await nights({ orders: thirty() }, { emptyDays: "zero" });
    const { fetch } = brand.api;
    brand.api.fetch = async (url, init) => {
      const text = await (await fetch(url, init)).text();
      return new Response(text.replaceAll('{"date":', '{"is_partial":true,"date":'));
    };
    expect(await brand.sync("analytics-clicks")).toMatchObject({ verified: true });
    brand.pass(day);
    come(brand, orderAt("late", Date.parse("2025-07-04T12:00:00Z")));
    const { asked } = await brand.sync("analytics-clicks");
    expect(months(asked)).toEqual(["2025-07", "2026-10", "2026-11"]);
  });

  test("that hold other months' clicks are not believed: nothing counts twice", async () => {
    const brand = await nights({ orders: thirty() });
    let isFirst = true;
    brand.api.before = ({ query }) => {
      if (query.start_date === undefined || !isFirst) return undefined;
      isFirst = false;
      return { wrong: "ignores" };
    };
    const { failure, verified } = await brand.sync("analytics-clicks");
    expect(failure).toMatchObject({
      exitCode: 7,
      message: expect.stringContaining("clicks of other months"),
    });
    expect(verified).toBe(false);
    expect(await brand.sync("analytics-clicks")).toMatchObject({ failure: null, verified: true });
    expect(brand.sql("SELECT sum(orders) AS n FROM analytics_clicks")).toEqual([{ n: 30 }]);
  });

  test("stay as they are when the API has no clicks any more, until that is accepted", async () => {
    const brand = await nights({ orders: thirty() });
    await brand.sync("analytics-clicks");
    const clicks = () => brand.sql("SELECT sum(orders) AS n FROM analytics_clicks_periods");
    brand.pass(day);
    brand.api.answers["/analytics/clicks"] = '{"summary":{},"timeseries":[]}';
    expect((await brand.sync("analytics-clicks")).failure).toMatchObject({
      exitCode: 8,
      message: expect.stringContaining("no longer returns 30 of 30 days that have clicks here"),
      hint: expect.stringContaining("`--accept-removals`"),
    });
    expect(clicks()).toEqual([{ n: 30 }]);
    expect(await brand.sync("analytics-clicks", { acceptRemovals: true })).toMatchObject({ verified: true });
    expect(clicks()).toEqual([{ n: 0 }]);
  });

  test("that are other ones, asked for alone, than all days say are not verified", async () => {
    const brand = await nights({ orders: thirty() });
    await brand.sync("analytics-clicks");
    brand.pass(day);
    come(brand, orderAt("late", Date.parse("2025-07-04T12:00:00Z")));
    const cached = (query: Record<string, string>) => query.start_date?.startsWith("2025-07") === true;
    const { fetch } = brand.api;
    const old = '{"success":true,"data":{"summary":{"orders":0},"timeseries":[]}}';
    brand.api.fetch = async (url, init) =>
      cached(Object.fromEntries(new URL(String(url)).searchParams)) ? new Response(old) : fetch(url, init);
    for (const _ of [1, 2]) {
      const { failure, verified } = await brand.sync("analytics-clicks");
      expect(String(failure)).toContain("the API's days of 2025-07 are other ones");
      expect(verified).toBe(false);
    }
    brand.api.fetch = fetch;
    expect(await brand.sync("analytics-clicks")).toMatchObject({ failure: null, verified: true });
  });

  test("to which something came between the two answers are no contradiction", async () => {
    const brand = await nights({ orders: thirty() });
    await brand.sync("analytics-clicks");
    brand.pass(day);
    const isMonth = ({ query }: { query: Record<string, string> }) =>
      query.start_date?.startsWith("2026-10") === true;
    brand.once(isMonth, () => come(brand, orderAt("late", Date.parse("2026-10-04T12:00:00Z"))));
    expect(await brand.sync("analytics-clicks")).toMatchObject({ failure: null, verified: true });
  });

  test.each([
    ["days come with a time", (text: string) => text.replaceAll(/("date":"[-\d]+)"/g, '$1T00:00:00Z"')],
    [
      "sums differ in their last digit",
      (text: string) => text.replaceAll(/("revenue":\d+)/g, "$1.000000001"),
    ],
  ])("are verified where %s", async (_, told) => {
    const brand = await nights({ orders: thirty() });
    const { fetch } = brand.api;
    brand.api.fetch = async (url, init) => {
      const answer = await fetch(url, init);
      return String(url).includes("start_date") ? new Response(told(await answer.text())) : answer;
    };
    for (const _ of [1, 2]) {
      expect(await brand.sync("analytics-clicks")).toMatchObject({ failure: null, verified: true });
      brand.pass(day);
    }
  });

  test("from before the first day that all days have are not held against them", async () => {
    const brand = await nights({ orders: ordersBefore(noon, 200, 2 * day) }, { figures: "recent" });
    await brand.sync("analytics-clicks");
    for (const _ of [1, 2, 3]) {
      brand.pass(60 * day);
      come(brand, orderAt(`n${brand.now()}`, brand.now() - 3 * day));
      expect(await brand.sync("analytics-clicks")).toMatchObject({ failure: null, verified: true });
    }
  });

  test("a cent apart on a day are not", async () => {
    const brand = await nights({ orders: thirty() });
    const { fetch } = brand.api;
    brand.api.fetch = async (url, init) => {
      const answer = await fetch(url, init);
      const text = await answer.text();
      return new Response(
        String(url).includes("start_date") ? text.replaceAll(/"revenue":10\b/g, '"revenue":10.01') : text,
      );
    };
    expect(String((await brand.sync("analytics-clicks")).failure)).toContain("are other ones");
  });

  test("that all days say nothing of are looked at before that is believed", async () => {
    const brand = await nights({ orders: ordersBefore(noon, 9, day) });
    const { fetch } = brand.api;
    brand.api.fetch = async (url, init) =>
      String(url).includes("start_date")
        ? fetch(url, init)
        : new Response('{"success":true,"data":{"summary":{},"timeseries":[]}}');
    expect((await brand.sync("analytics-clicks")).verified).toBe(false);
  });

  test("are verified where there is none, and where the one day that there was is taken back", async () => {
    const brand = await nights({ orders: [] });
    expect(await brand.sync("analytics-clicks")).toMatchObject({ failure: null, verified: true });
    come(brand, orderAt("one", noon - day));
    expect(await brand.sync("analytics-clicks")).toMatchObject({ failure: null, verified: true });
    withdraw(brand, "one");
    expect(await brand.sync("analytics-clicks")).toMatchObject({ failure: null, verified: true });
  });

  test("to which something comes twice while they are read are no contradiction", async () => {
    const brand = await nights({ orders: thirty() });
    await brand.sync("analytics-clicks");
    brand.pass(day);
    let asked = 0;
    brand.api.before = ({ path }) => {
      asked += path === "/analytics/clicks" ? 1 : 0;
      if (asked === 2 || asked === 4)
        come(brand, orderAt(`late${asked}`, Date.parse("2026-10-04T12:00:00Z")));
      return undefined;
    };
    expect(await brand.sync("analytics-clicks")).toMatchObject({ failure: null, verified: true });
  });

  test("above a gap are verified from there on", async () => {
    const brand = await nights({ orders: thirty() });
    await brand.broken("stopped", ({ number }) => number === 12, "analytics-clicks");
    const since = Date.parse("2026-08-01T00:00:00Z");
    const { covered_from, verified } = await brand.sync("analytics-clicks", { since });
    expect({ covered_from, verified }).toEqual({
      covered_from: new Date(since).toISOString(),
      verified: true,
    });
    expect(await brand.sync("analytics-clicks")).toMatchObject({ covered_from: null, verified: true });
  });

  test("up to a time before the window are not read, and that is no proof", async () => {
    const brand = await nights({ orders: thirty() });
    await brand.sync("analytics-clicks");
    brand.pass(day);
    const { failure, verified } = await brand.sync("analytics-clicks", { until: noon - 200 * day });
    expect({ failure, verified }).toEqual({ failure: null, verified: false });
  });

  describe("before the oldest that is here", () => {
    const late = orderAt("late", Date.parse("2026-08-04T12:00:00Z"));
    const three = () => ordersBefore(noon, 3, 10 * day);

    test("are read when a late order comes there", async () => {
      const brand = await nights({ orders: three() });
      await brand.sync("analytics-clicks");
      brand.pass(day);
      come(brand, late);
      const { asked, covered_from, verified } = await brand.sync("analytics-clicks");
      expect({ covered_from, verified }).toEqual({ covered_from: null, verified: true });
      expect(months(asked)).toEqual(["2026-08", "2026-09", "2026-10", "2026-11"]);
      brand.pass(day);
      expect(months((await brand.sync("analytics-clicks")).asked)).toEqual(["2026-10", "2026-11"]);
    });

    test("are read though one of the API's days is none", async () => {
      const brand = await nights({ orders: three() });
      await brand.sync("analytics-clicks");
      brand.pass(day);
      come(brand, late);
      const { fetch } = brand.api;
      brand.api.fetch = async (...request) => {
        const answer = await fetch(...request);
        if (String(request[0]).includes("start_date")) return answer;
        return new Response(
          (await answer.text()).replace('"timeseries":[', '"timeseries":[{"date":"0000-00-00"},'),
        );
      };
      const { asked, verified } = await brand.sync("analytics-clicks");
      expect([verified, months(asked)[0]]).toEqual([true, "2026-08"]);
    });

    test("are read where only those of a host had an oldest date", async () => {
      const brand = await nights({ orders: three() });
      come(brand, late);
      const ofHost = { hosts: ["h1"], since: noon - 5 * day };
      await brand.sync("analytics-clicks", ofHost);
      const { asked, covered_from } = await brand.sync("analytics-clicks");
      expect([covered_from, months(asked)[0]]).toEqual([null, "2026-08"]);
    });

    test("are claimed where a mirror that remembers no oldest date is asked for less", async () => {
      const brand = await nights({ orders: three() });
      await brand.sync("analytics-clicks");
      brand.sql("DELETE FROM sync_state WHERE resource = 'analytics-clicks' RETURNING 1");
      const { covered_from } = await brand.sync("analytics-clicks", { since: noon - 5 * day });
      expect(covered_from).toBe("2026-11-01T00:00:00.000Z");
      const { out } = await brand.run("status --json");
      expect(JSON.parse(out).resources).toMatchObject([{ covered_from }]);
    });

    test("are said to be unread by a run that was not asked for them", async () => {
      const brand = await nights({ orders: three() });
      await brand.sync("analytics-clicks");
      brand.pass(day);
      come(brand, late);
      const { asked, warnings } = await brand.sync("analytics-clicks", { since: noon - 5 * day });
      expect(months(asked)).toEqual(["2026-11"]);
      expect(warnings.join()).toContain("2026-08-01 00:00 to 2026-10-31 23:59 has never been read");
    });

    test("are left where the first run was not to read them, and every run says so, until `--full`", async () => {
      const brand = await nights({ orders: three() });
      come(brand, late);
      const covered_from = at(noon - 15 * day);
      expect(await brand.sync("analytics-clicks", { since: noon - 15 * day })).toMatchObject({
        covered_from,
      });
      brand.pass(day);
      const { asked, ...night } = await brand.sync("analytics-clicks");
      expect(night).toMatchObject({ covered_from, verified: true, warnings: [] });
      expect(months(asked)).toEqual(["2026-11"]);
      const full = await brand.sync("analytics-clicks", { full: true });
      expect([full.covered_from, months(full.asked)[0]]).toEqual([null, "2026-08"]);
      expect(await brand.sync("analytics-clicks")).toMatchObject({ covered_from: null });
    });
  });

  test("that a clock that was ahead has read are read again", async () => {
    const brand = await nights({ orders: thirty() });
    const ofHost = { hosts: ["h1"] };
    await brand.sync("analytics-clicks", ofHost);
    brand.pass(75 * day);
    await brand.sync("analytics-clicks", ofHost);
    brand.pass(-70 * day);
    expect(months((await brand.sync("analytics-clicks", ofHost)).asked)).toContain("2026-11");
  });

  test("that only a clock that was ahead has asked for are no beginning", async () => {
    const brand = await nights({ orders: thirty() });
    brand.pass(100 * day);
    await brand.sync("analytics-clicks", { since: brand.now() - 30 * day });
    await brand.sync("analytics-clicks", { since: brand.now() - 30 * day, hosts: ["h1"] });
    brand.pass(-99 * day);
    expect((await brand.sync("analytics-clicks")).verified).toBe(false);
    brand.pass(day);
    const { asked, verified } = await brand.sync("analytics-clicks");
    expect([verified, new Set(months(asked)).size > 25]).toEqual([true, true]);
    const [last] = brand.sql<{ at: string }>("SELECT max(to_at) AS at FROM coverage");
    expect(Date.parse(last?.at ?? "")).toBeLessThanOrEqual(brand.now());
  });

  test("that hold zeros for days which the history of all leaves out have not moved", async () => {
    const brand = await nights({ orders: thirty() });
    await brand.sync("analytics-clicks");
    brand.pass(day);
    const zero = { orders: 0, total_clicks: 0, revenue: 0 };
    const held = brand.sql<{ id: number; json: string }>(
      "SELECT record_id AS id, json FROM records WHERE key LIKE '2025-07%/day/#0'",
    )[0];
    const month = JSON.parse(held?.json ?? "{}") as { timeseries: object[] };
    month.timeseries.push({ date: "2025-07-31", ...zero });
    brand.sql("UPDATE records SET json = ? WHERE record_id = ? RETURNING 1", JSON.stringify(month), held?.id);
    expect(months((await brand.sync("analytics-clicks")).asked)).toEqual(["2026-10", "2026-11"]);
  });
});
