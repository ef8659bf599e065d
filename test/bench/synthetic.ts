import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import type { Mirror } from "../../src/mirror/mirror.js";
import { openMirror } from "../../src/query/open.js";
import { openRecords } from "../../src/records/index.js";
import { orders } from "../../src/resources/orders.js";
import type { JsonObject } from "../../src/resources/types.js";

/**
 * Fills a mirror with believable orders through the mirror's own code, for measuring.
 * About 1,000 bytes an order: host, product, gear list, one to three line items.
 */
export async function writeSyntheticMirror(path: string, count: number): Promise<void> {
  mkdirSync(dirname(path), { recursive: true });
  const mirror = await openMirror(path);
  try {
    fill(mirror, count);
  } finally {
    mirror.db.close();
  }
}

function fill(mirror: Mirror, count: number): void {
  const records = openRecords(mirror, orders, { runId: 1, coverage: [], complain: () => {} });
  const page = 5_000;
  for (let from = 0; from < count; from += page)
    mirror.db.transaction(() => {
      const values = Array.from({ length: Math.min(page, count - from) }, (_, i) => order(from + i));
      records.write(values, { readAt: "2026-11-01T00:00:00.000Z" });
    })();
}

const names = ["Ada", "Bo", "Chloé", "Dmitri", "Elif", "Finn"];
const titles = ["Trail shoe", "Rain jacket, light", 'Bottle 24"', "Headlamp", "Wool socks", "Running vest"];

function order(n: number): JsonObject {
  const random = mulberry32(n + 1);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const host = Math.floor(random() * 5_000);
  const items = Array.from({ length: 1 + Math.floor(random() * 3) }, () => ({
    title: pick(titles),
    variant_title: random() < 0.3 ? null : pick(["S / blue", "M / black", "42"]),
    sku: `SKU-${Math.floor(random() * 10_000)}`,
    quantity: 1 + Math.floor(random() * 3),
    price: cents(20 + random() * 180),
  }));
  const subtotal = cents(items.reduce((sum, { quantity, price }) => sum + quantity * price, 0));
  const refunded = random() < 0.1;
  return {
    id: uuid(random),
    external_order_id: `${5_000_000_000 + n}`,
    order_number: `#${10_000 + n}`,
    order_date: new Date(1_767_225_600_000 - n * 61_000).toISOString(),
    currency: pick(["USD", "EUR", "GBP"]),
    total_amount: cents(subtotal * 1.19),
    subtotal_amount: subtotal,
    refund_amount: refunded ? cents(subtotal * random()) : 0,
    financial_status: refunded ? "partially_refunded" : "paid",
    fulfillment_status: random() < 0.2 ? null : "fulfilled",
    is_cancelled: random() < 0.03,
    is_refunded: false,
    commission_rate: pick([8, 10, 12.5]),
    commission_amount: cents(subtotal * 0.1),
    attribution: random() < 0.9 ? "tracked" : "manual",
    host:
      random() < 0.02
        ? null
        : {
            id: uuid(mulberry32(host)),
            username: `host_${host}`,
            first_name: names[host % names.length] ?? null,
            last_name: `Walker ${host % 97}`,
            profile_photo: `https://cdn.example.com/photos/${host}.jpg`,
          },
    product:
      random() < 0.2
        ? null
        : {
            id: `${host % 300}`,
            title: pick(titles),
            cover_photo: `https://cdn.example.com/p/${host % 300}.jpg`,
          },
    gear_list: random() < 0.5 ? null : { id: `${host % 900}`, title: "What I carry on long runs" },
    line_items: items,
  };
}

function cents(amount: number): number {
  return Math.round(amount * 100) / 100;
}

function uuid(random: () => number): string {
  const hex = (digits: number) =>
    Array.from({ length: digits }, () => Math.floor(random() * 16).toString(16)).join("");
  return `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`;
}

/** A small seeded generator: the same order for the same number, always. */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
