import { describe, expect, test } from "vitest";
import { systemClock } from "../../src/deps.js";
import { everything, join, type Range, startOfDay } from "../../src/lib/ranges.js";
import { orders } from "../../src/resources/orders.js";
import type { JsonObject } from "../../src/resources/types.js";
import type { Slice } from "../../src/sync/first-page.js";
import { type SeekOptions, seek } from "../../src/sync/seek.js";
import { mixed } from "../support/fake/dates.js";
import { clientOf, type FakeApi, fakeApi } from "../support/fake-api.js";
import {
  at,
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
import fc from "../support/property.js";

/** All slices of a range; each knows by id whom it found. */
async function slicesOf(api: FakeApi, range: Range, options: Partial<SeekOptions> = {}) {
  const slices: Slice[] = [];
  const givenUp: string[] = [];
  const signal = new AbortController().signal;
  let now = 0;
  // Each look at the clock finds it 50 ms on: every answer is a slow one.
  const clock = { ...systemClock, monotonic: () => (now += 50) };
  const run = { api: clientOf(api), clock, signal, resource: orders, resolution: 1 };
  const all = { givenUp: (_: Range, why: string) => void givenUp.push(why), ...options };
  for await (const slice of seek(run, range, all)) {
    for (const { value } of slice.records) slice.found.add((value as JsonObject).id);
    slices.push(slice);
  }
  return { slices, givenUp };
}

describe("a long range whose answers are slow", () => {
  const orders = ordersBefore(noon, 20_000, hour / 2);
  const share = new Map<number, number>();
  for (const { order_date } of orders) {
    const day = startOfDay(Date.parse(String(order_date)));
    share.set(day, (share.get(day) ?? 0) + 1);
  }

  test.each([
    ["cut by what is known of its days", share],
    ["cut evenly", null],
  ])(
    "is read in lanes, %s: all is there, proven once, for a hundredth more than its pages",
    async (_, known) => {
      const api = fakeApi({ orders });
      const from = Date.parse(String(orders.at(-1)?.order_date)) - 1;
      const { givenUp, slices } = await slicesOf(
        api,
        { from, to: Number.POSITIVE_INFINITY },
        { share: known },
      );
      expect(givenUp).toEqual([]);
      const found = new Set(slices.flatMap((slice) => [...slice.found]));
      expect(found.size).toBe(20_000);
      const covers = slices.flatMap((slice) => slice.covers ?? []);
      expect(join(covers)).toEqual([{ from, to: Number.POSITIVE_INFINITY }]);
      const ends = api.asked.map(({ query }) => String(query.end_date ?? "9"));
      expect(ends.length).toBeLessThanOrEqual(200 * 1.02 + 4);
      expect(ends.some((end, index) => index > 0 && end > (ends[index - 1] ?? ""))).toBe(true);
    },
  );
});

describe("a range of dates is read newest first", () => {
  test("by asking again and again for page 1 of what lies below: the API's last page means nothing", async () => {
    const brand = await nights({ orders: ordersBefore(noon, 1_000, hour) }, { mostPerPage: 5 });
    const { asked, failure, rows_read } = await brand.sync();
    expect(failure).toBeNull();
    expect(rows_read).toBe(1_000);
    expect(brand.mirrored()).toEqual(listed(brand));
    const reads = readsOf(asked, "/orders");
    expect(new Set(reads.map(({ query }) => query.page))).toEqual(new Set(["1"]));
    // A page shares one record with the next.
    expect(reads.length).toBeLessThanOrEqual(1_000 / 4 + 4);
  });

  test("each order counts once, however much two answers overlap", async () => {
    const brand = await nights({ orders: ordersBefore(noon, 230, hour) }, { mostPerPage: 20 });
    expect(await brand.sync()).toMatchObject({ rows_read: 230, rows_new: 230, verified: true });
  });

  test.each([1, 2, 3, 5, 7, 60])(
    "orders of one instant are all there (%d an instant)",
    async (perInstant) => {
      const brand = await nights({ orders: ordersBefore(noon, 97, 60_000, perInstant) }, { mostPerPage: 4 });
      expect((await brand.sync()).failure).toBeNull();
      expect(brand.mirrored()).toEqual(listed(brand));
    },
  );

  test("a crowd of one instant is read by page numbers, and only there", async () => {
    const crowd = ordersBefore(noon - 10 * day, 30, hour, 30).map((one, n) => ({ ...one, id: `c${n}` }));
    const orders = [...ordersBefore(noon, 100, hour * 12), ...crowd];
    const brand = await nights({ orders }, { mostPerPage: 10 });
    const { asked, failure, verified } = await brand.sync();
    expect({ failure, verified }).toEqual({ failure: null, verified: true });
    expect(brand.mirrored()).toEqual(listed(brand));
    const paged = readsOf(asked, "/orders").filter(({ query }) => query.page !== "1");
    expect(paged.length).toBeGreaterThan(0);
    for (const { query } of paged) {
      expect(Date.parse(query.start_date ?? "")).toBeGreaterThan(noon - 10 * day - hour);
      expect(Date.parse(query.end_date ?? "")).toBeLessThan(noon - 10 * day + hour);
    }
  });

  test.each(["reversed", "changing"] as const)(
    "orders of equal date stand %s at each request",
    async (ties) => {
      const brand = await nights({ orders: ordersBefore(noon, 90, 60_000, 3) }, { mostPerPage: 10, ties });
      expect((await brand.sync()).failure).toBeNull();
      expect(brand.mirrored()).toEqual(listed(brand));
    },
  );

  test("a list in the order of attribution is read as a list, and is as complete", async () => {
    const orders = ordersBefore(noon, 60, hour).sort(
      (a, b) => mixed(String(a.id), 1) - mixed(String(b.id), 1),
    );
    const brand = await nights({ orders }, { mostPerPage: 7, order: "attribution" });
    expect(await brand.sync()).toMatchObject({ failure: null, verified: true });
    expect(brand.mirrored()).toEqual(listed(brand));
  });

  test.each([
    ["in the middle", [12, 11, 10, 9, 3, 8, 7, 6, 5, 4, 2, 1]],
    ["on the last page", [12, 11, 10, 9, 8, 7, 6, 5, 1, 4, 3, 2]],
  ])(
    "a list whose dates rise from one page to the next only, %s, is found out by its totals",
    async (_, hours) => {
      const orders = hours.map((n) => orderAt(`o${n}`, noon - day + n * hour));
      const brand = await nights({ orders }, { mostPerPage: 5, order: "attribution", figures: "absent" });
      expect(await brand.sync()).toMatchObject({ failure: null, verified: true, rows_new: 12 });
      expect(brand.mirrored()).toEqual(listed(brand));
    },
  );

  test("an end that the API does not go by is never reached: the range is not claimed, and the reading ends", async () => {
    const api = fakeApi({ orders: ordersBefore(noon, 60, day) }, { mostPerPage: 7 });
    api.before = ({ path, query, number }) => {
      if (path === "/orders") delete (query as Record<string, string>).end_date;
      return number > 100 ? "reset" : undefined;
    };
    const { givenUp, slices } = await slicesOf(api, { from: noon - 50 * day, to: noon - 10 * day });
    expect(givenUp).toEqual(["has another number of records than its two halves"]);
    expect(slices.flatMap(({ covers }) => covers ?? [])).toEqual([]);
    expect(api.asked.length).toBeLessThan(20);
  });

  test("a full answer is never taken for the last: a total that lags hides who came since", async () => {
    const brand = await nights({ orders: ordersBefore(noon, 7, hour) }, { mostPerPage: 7, lags: "totals" });
    brand.once(
      ({ path }) => path === "/orders",
      () => come(brand, orderAt("late", noon - 90 * day)),
    );
    // No count has to find it: nothing is read twice.
    expect(await brand.sync()).toMatchObject({ failure: null, verified: true, rows_read: 8 });
  });

  test("a total that lags behind the records is asked for again", async () => {
    const brand = await nights({ orders: ordersBefore(noon, 60, hour) }, { mostPerPage: 7, lags: "totals" });
    brand.once(
      ({ number }) => number === 4,
      () => withdraw(brand, "o50"),
    );
    const { asked, ...night } = await brand.sync();
    expect(night).toMatchObject({ failure: null, verified: true });
    expect(brand.mirrored()).toEqual(listed(brand));
    // The answers that contradict each other, and not the whole range as a list.
    expect(readsOf(asked, "/orders").filter(({ query }) => query.page !== "1")).toEqual([]);
  });
});

describe("each answer proves its own interval", () => {
  test("whatever comes and goes between two answers, who never moved is found by the slice of its date", async () => {
    const happenings = fc.array(
      fc.record({ atRequest: fc.integer({ min: 2, max: 12 }), pick: fc.nat(59), comes: fc.boolean() }),
      { maxLength: 6 },
    );
    const property = fc.asyncProperty(
      happenings,
      fc.integer({ min: 3, max: 9 }),
      async (list, mostPerPage) => {
        const api = fakeApi({ orders: ordersBefore(noon, 60, hour) }, { mostPerPage }, () => noon);
        api.before = ({ number }) => {
          for (const [index, { atRequest, pick, comes }] of list.entries()) {
            if (atRequest !== number) continue;
            if (comes) come({ api }, orderAt(`late${index}`, noon - pick * hour - index * 1_000));
            else withdraw({ api }, `o${pick}`);
          }
          return undefined;
        };
        const { slices, givenUp } = await slicesOf(api, everything);
        if (givenUp.length > 0) return;
        const proofs = slices.flatMap(({ covers, found }) => (covers ? [{ ...covers, found }] : []));
        expect(join(proofs)).toEqual([everything]);
        const withdrawn = new Set(list.filter(({ comes }) => !comes).map(({ pick }) => `o${pick}`));
        for (const { id, order_date } of ordersBefore(noon, 60, hour)) {
          if (withdrawn.has(String(id))) continue;
          const ms = Date.parse(String(order_date));
          const proof = proofs.find(({ from, to }) => from <= ms && ms <= to);
          expect(proof?.found.has(id), `${id}`).toBe(true);
        }
      },
    );
    await fc.assert(property, { numRuns: 60 });
  });

  test("slices lie beside one another, newest first, and leave nothing between", async () => {
    const api = fakeApi({ orders: ordersBefore(noon, 50, hour) }, { mostPerPage: 8 });
    const range = { from: noon - 40 * hour, to: noon - 5 * hour };
    const { slices } = await slicesOf(api, range);
    const covers = slices.flatMap((slice) => (slice.covers ? [slice.covers] : []));
    expect(covers[0]?.to).toBe(range.to);
    expect(covers.at(-1)?.from).toBe(range.from);
    for (const [index, { from }] of covers.entries())
      if (index + 1 < covers.length) expect(covers[index + 1]?.to).toBe(from - 1);
  });

  test("one leaves while another comes, between two answers: neither a row is lost nor one removed", async () => {
    const brand = await nights({ orders: ordersBefore(noon, 60, hour) }, { mostPerPage: 6 });
    brand.once(
      ({ number }) => number === 6,
      () => {
        withdraw(brand, "o3");
        come(brand, orderAt("came", noon - 50 * hour - 1));
      },
    );
    await brand.sync();
    brand.api.before = undefined;
    expect(await brand.sync()).toMatchObject({ failure: null, verified: true });
    expect(brand.mirrored()).toEqual(listed(brand));
  });

  test("an order that comes between two answers, above the reader, is found by the count in the same run", async () => {
    const brand = await nights(
      { orders: ordersBefore(noon, 60, hour) },
      { mostPerPage: 6, figures: "absent" },
    );
    brand.once(
      ({ number }) => number === 7,
      () => come(brand, orderAt("came", noon - 2 * hour - 1)),
    );
    expect(await brand.sync()).toMatchObject({ failure: null, verified: true });
    expect(brand.mirrored()).toContain("came");
  });
});

describe("dates can be finer than what is shown", () => {
  const fine = Array.from({ length: 60 }, (_, n) =>
    orderAt(
      `o${n}`,
      at(noon - n * 7_000_000 - n * 37).replace("Z", `${String((n * 13) % 1_000).padStart(3, "0")}Z`),
    ),
  );

  test.each(["everything", "milliseconds", "seconds", "days", "mixed"] as const)(
    "%s shown: every order is read, and a withdrawn one is found",
    async (shows) => {
      const brand = await nights({ orders: fine }, { mostPerPage: 20, shows });
      expect(await brand.sync()).toMatchObject({ failure: null, verified: true, rows_new: 60 });
      withdraw(brand, "o25");
      expect(await brand.sync("orders", { full: true })).toMatchObject({ failure: null, rows_removed: 1 });
      expect(brand.mirrored()).toEqual(listed(brand));
    },
  );

  test("orders within one second, shown to the second, are none of them called missing", async () => {
    const orders = Array.from({ length: 40 }, (_, n) => orderAt(`o${n}`, noon - hour - n * 130));
    const brand = await nights({ orders }, { mostPerPage: 12, shows: "seconds" });
    for (let night = 0; night < 3; night += 1) {
      expect(await brand.sync()).toMatchObject({ failure: null, verified: true, rows_removed: 0 });
      brand.pass(day);
    }
    expect(brand.mirrored()).toEqual(listed(brand));
  });

  test("how coarsely the API shows its dates is learned, and remembered", async () => {
    const brand = await nights({ orders: fine }, { mostPerPage: 20, shows: "seconds" });
    await brand.sync();
    expect(brand.sql("SELECT value FROM mirror_info WHERE name = 'resolution:orders'")).toEqual([
      { value: "1000" },
    ]);
  });
});

test.each(["dates", "attribution"] as const)(
  "a total that is capped makes no list whole that ends too soon (in the order of %s)",
  async (order) => {
    const capped = { order, mostPerPage: 20, mostCounted: 60 };
    const brand = await nights({ orders: ordersBefore(noon, 200, hour) }, capped);
    const { failure, verified } = await brand.sync();
    expect({ failure: String(failure), verified }).toEqual({
      failure: expect.stringContaining("has another number of records than its two halves"),
      verified: false,
    });
    expect((await brand.verify()).state).toBe("unproven");
  },
);

test("a list of records without dates only ends where it ends", async () => {
  const undated = [0, 1, 2].map((n) => orderAt(`u${n}`, null));
  const brand = await nights(
    { orders: undated },
    { mostPerPage: 2, undated: "everywhere", undatedStand: "first" },
  );
  expect(await brand.sync()).toMatchObject({ failure: null, verified: true });
  expect(brand.mirrored()).toEqual(["u0", "u1", "u2"]);
});

test("records without a date that stand last are read from the last page: nothing else is read as a list", async () => {
  const undated = [0, 1, 2].map((n) => orderAt(`u${n}`, null));
  const brand = await nights({ orders: [...ordersBefore(noon, 900, hour), ...undated] }, { mostPerPage: 50 });
  const { asked, failure, verified } = await brand.sync("orders", { audit: 0 });
  expect({ failure, verified }).toEqual({ failure: null, verified: true });
  expect(brand.mirrored()).toEqual(listed(brand));
  const pages = asked.map(({ query }) => query.page).filter((page) => page !== undefined && page !== "1");
  expect(pages).toEqual([String(Math.ceil(903 / 50))]);
});
