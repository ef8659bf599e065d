import { expect } from "vitest";
import type { JsonObject } from "../../src/util/json-value.js";
import type { TestBrand } from "../support/brand.js";
import { at } from "../support/records.js";

/** Dates near the end of a month, in various formats, and their days in UTC. */
export const monthBorders = [
  ["2026-09-30T23:59:59.999Z", "2026-09-30"],
  ["2026-09-30T23:59:59.9999Z", "2026-09-30"],
  ["2026-10-01T00:00:00.000Z", "2026-10-01"],
  ["2026-10-01T00:00:00Z", "2026-10-01"],
  ["2026-10-01T01:30:00+02:00", "2026-09-30"],
  ["2026-09-30T23:59:59.9999+00:00", "2026-09-30"],
  ["2026-09-30T22:30:00.5-02:00", "2026-10-01"],
  ["2026-09-30T22:30:00-0200", "2026-10-01"],
  ["2026-10-01T00:59+01:00", "2026-09-30"],
  ["2026-09-30T23:59Z", "2026-09-30"],
  ["2026-09-30 23:59:59Z", "2026-09-30"],
  ["2026-10-15", "2026-10-15"],
  ["2027-01-01T01:00:00+05:30", "2026-12-31"],
  ["2026-02-28T23:30:00-01:00", "2026-03-01"],
] as const;

const currencies = ["EUR", "USD", "GBP", "JPY", "SEK", "KWD", null];

/** Returns orders with unusual dates, amounts, currencies and hosts. Calls with the same count return the same orders. */
export function unusualOrders(count: number): JsonObject[] {
  return Array.from({ length: count }, (_, n) => {
    const pick = (what: string, of: number) => hash(what, n + 1) % of;
    const cents = (what: string, most: number) => pick(what, most) / 100;
    const total = pick("none", 12) === 0 ? null : n === 7 ? 1_234_567_890.12 : cents("total", 50_000);
    const border = monthBorders[n];
    return {
      id: `o${n}`,
      order_number: `#0${n}`,
      order_date: border
        ? border[0]
        : new Date(Date.UTC(2026, 7, 20) + pick("at", 90 * 86_400) * 1_000 + pick("ms", 999)).toISOString(),
      currency: currencies[pick("currency", currencies.length)] ?? null,
      total_amount:
        pick("odd", 40) === 0
          ? n % 2 === 0
            ? "12.00"
            : "12 EUR"
          : pick("mill", 9) === 0 && total !== null
            ? total + 0.001
            : total,
      refund_amount: pick("refund", 3) === 0 ? cents("back", 5_000) : pick("null", 2) === 0 ? null : 0,
      is_cancelled: pick("cancelled", 7) === 0 || (pick("unknown", 9) === 0 ? null : false),
      is_refunded: false,
      commission_amount: pick("unpaid", 8) === 0 ? null : cents("commission", 9_999),
      attribution: "tracked",
      host:
        pick("nobody", 6) === 0 ? null : { id: `h${pick("host", 5)}`, username: `host ${pick("host", 5)}` },
      product: null,
      line_items: [],
    };
  });
}

export function hash(text: string, salt: number): number {
  let hash = Math.imul(salt, 2_654_435_761) >>> 0;
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 16_777_619) >>> 0;
  return Math.imul(hash ^ (hash >>> 15), 2_246_822_519) >>> 0;
}

export async function syncOrders(
  brand: TestBrand,
  flags: readonly string[] = [],
): Promise<{ started_at: string; finished_at: string }> {
  await brand.run(["sync", "orders", ...flags]);
  const { outcome, started_at, finished_at } = brand.lastRun();
  expect(outcome).toBe("done");
  return { started_at: String(started_at), finished_at: String(finished_at) };
}

export const sinceFlag = (ms: number): string[] => ["--since", at(ms)];
export const untilFlag = (ms: number): string[] => ["--until", at(ms)];
export const findAllChanges = ["--full", "--accept-removals"];
