import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/resources/types.js";
import {
  change,
  come,
  day,
  hour,
  type Nights,
  nights,
  noon,
  orderAt,
  ordersBefore,
  readsOf,
} from "../support/nights.js";

interface Closing {
  oldest_read_at: string;
  reread_within_days: number;
}

async function closing(brand: Nights): Promise<Closing> {
  const { out } = await brand.run("status --json");
  const { resources } = JSON.parse(out) as { resources: { closing: Closing }[] };
  const [orders] = resources;
  if (!orders) throw new Error("nothing was synced");
  return orders.closing;
}

test.each([
  ["the window of 30 days", {}],
  ["`--window 5d`", { windowMs: 5 * day }],
])(
  "over 200 nights with busy days, no record is older than `status` says: %s",
  async (_, options) => {
    const brand = await nights({ orders: ordersBefore(noon, 2_500, 6 * hour) }, { figures: "absent" });
    let bound = 0;
    let waiting: { id: string; since: number; within: number } | null = null;
    for (let night = 0; night < 200; night += 1) {
      const busy = night % 25 === 10 ? 220 : 3;
      come(
        brand,
        ...Array.from({ length: busy }, (_, n) => orderAt(`n${night}-${n}`, brand.now() - n * 90_000)),
      );
      expect((await brand.sync("orders", options)).failure).toBeNull();
      const { oldest_read_at, reread_within_days } = await closing(brand);
      // What was promised before more records came holds too.
      bound = Math.max(bound, reread_within_days);
      const age = (brand.now() - Date.parse(oldest_read_at)) / day;
      if (night > bound) expect(age, `night ${night}`).toBeLessThanOrEqual(reread_within_days + 0.5);
      // A partial refund that moves no figure and no count is found within as many nights.
      if (waiting && refundOf(brand, waiting.id) === 2) waiting = null;
      if (waiting) expect(night - waiting.since, `night ${night}`).toBeLessThan(waiting.within);
      else {
        const id = `o${(night * 37) % 2_500}`;
        if (refundOf(brand, id) === 0) {
          change(brand, id, { refund_amount: 2 });
          waiting = { id, since: night, within: reread_within_days };
        }
      }
      brand.pass(day);
    }
    expect(bound).toBeGreaterThan(4);
    expect(bound).toBeLessThan(15);
  },
  120_000,
);

function refundOf({ sql }: Nights, id: string): number | undefined {
  return sql<{ refund_amount: number }>("SELECT refund_amount FROM orders WHERE id = ?", id)[0]
    ?.refund_amount;
}

test("takes as many requests as it is given a night, and none with `--audit 0`", async () => {
  const brand = await nights({ orders: ordersBefore(noon, 2_000, 12 * hour) });
  await brand.sync();
  for (const audit of [0, 1, 3, 5]) {
    brand.pass(day);
    const { asked } = await brand.sync("orders", { audit });
    expect(readsOf(asked, "/orders")).toHaveLength(1 + audit);
  }
});

test("goes on where it stood, down to the beginning, and starts again at the top", async () => {
  const brand = await nights({ orders: ordersBefore(noon, 1_000, 12 * hour) }, { figures: "absent" });
  await brand.sync();
  const cursors: number[] = [];
  for (let night = 0; night < 8; night += 1) {
    brand.pass(day);
    await brand.sync("orders", { audit: 3 });
    const [row] = brand.sql<{ cursor_ms: number }>("SELECT cursor_ms FROM sync_state");
    cursors.push(row?.cursor_ms ?? 0);
  }
  const turns = cursors.filter((at, index) => index > 0 && at > (cursors[index - 1] ?? 0));
  expect(cursors[1]).toBeLessThan(cursors[0] ?? 0);
  expect(turns.length).toBeGreaterThanOrEqual(1);
});

test("a second sync right after the first reads nothing again", async () => {
  const brand = await nights({ orders: ordersBefore(noon, 1_000, 12 * hour) });
  await brand.sync();
  brand.pass(hour);
  const { asked } = await brand.sync();
  expect(readsOf(asked, "/orders")).toHaveLength(1);
});

describe("ranges that were read apart, with days between them that nobody asked for,", () => {
  const apart = [40, 140, 240];
  /** Of each range an order in its middle has changed since, with no figure and no count that would tell. */
  async function changed() {
    const brand = await nights(
      { orders: ordersBefore(noon, 600, 12 * hour) },
      { figures: "absent", mostPerPage: 20 },
    );
    for (const days of apart)
      await brand.sync("orders", { since: noon - days * day, until: noon - (days - 20) * day, audit: 0 });
    for (const days of apart) change(brand, `o${days * 2 - 20}`, { refund_amount: 2 });
    brand.pass(day);
    const again = (audit: number) =>
      brand.sync("orders", { since: noon - 25 * day, until: noon - 24 * day, audit });
    const read = () =>
      brand
        .sql<{ id: string }>("SELECT id FROM orders WHERE refund_amount = 2 ORDER BY order_date DESC")
        .map(({ id }) => id);
    return { brand, again, read };
  }

  test("are all read again in one night that has requests for them, and nothing between", async () => {
    const { brand, again, read } = await changed();
    const before = brand.mirrored();
    expect((await again(20)).failure).toBeNull();
    expect(read()).toEqual(["o60", "o260", "o460"]);
    expect(brand.mirrored()).toEqual(before);
  });

  test("are read again one after the other, from the newest down, by a few requests a night", async () => {
    const { brand, again, read } = await changed();
    const seen: string[][] = [];
    for (let night = 0; night < 9; night += 1) {
      await again(1);
      seen.push(read());
      brand.pass(day);
    }
    expect(seen.at(-1)).toEqual(["o60", "o260", "o460"]);
    expect(seen.map(({ length }) => length)).toEqual(seen.map(({ length }) => length).sort());
    expect(seen[0]?.length).toBeLessThan(2);
  });
});

test("begins below what the night has read anyway", async () => {
  const brand = await nights({ orders: ordersBefore(noon, 400, 12 * hour) });
  await brand.sync();
  brand.pass(day);
  const { asked } = await brand.sync("orders", { audit: 1 });
  const [, audited] = readsOf(asked, "/orders");
  expect(Date.parse(audited?.query.end_date ?? "")).toBeLessThan(noon - 29 * day);
});

test("without an audit `status` promises nothing", async () => {
  const brand = await nights({ orders: ordersBefore(noon, 500, 12 * hour) });
  await brand.sync("orders", { audit: 0 });
  expect((await closing(brand)).reread_within_days).toBeNull();
});

test("content is audited as orders are", async () => {
  const items = Array.from(
    { length: 600 },
    (_, n): JsonObject => ({
      id: `c${n}`,
      source: "upload",
      media_type: "image",
      created_at: new Date(noon - n * 12 * hour).toISOString(),
      host: null,
    }),
  );
  const brand = await nights({ content: items });
  await brand.sync("content");
  brand.api.records.content = items.map((one) => (one.id === "c450" ? { ...one, media_type: "video" } : one));
  for (let night = 0; night < 2; night += 1) {
    brand.pass(day);
    expect(await brand.sync("content", { audit: 3 })).toMatchObject({ failure: null, verified: true });
  }
  expect(brand.sql("SELECT media_type FROM content WHERE id = 'c450'")).toEqual([{ media_type: "video" }]);
});
