import { describe, expect, test } from "vitest";
import { createOrderBook, type OrderBook } from "../../src/sandbox/data/order-book.js";
import {
  hasStatus,
  type OrderStatus,
  orderId,
  orderIndex,
  orderStatuses,
  stateBits,
} from "../../src/sandbox/data/order-facts.js";
import { gather, scatter } from "../../src/sandbox/data/random.js";
import { createWorld, type World } from "../../src/sandbox/data/world.js";
import fc from "../support/property.js";
import { day, noon } from "./support.js";

interface Row {
  id: string;
  date: number;
  bits: number;
  /** Higher came later: the sequence among equal dates. */
  since: number;
}

/** The plainest model there is: an array, sorted whenever it is asked. */
function rowsOf(world: World, book: OrderBook): Row[] {
  return Array.from({ length: world.timeline.length }, (_, index) => {
    const date = world.timeline.dateOf(index);
    return { id: orderId(world, index), date, bits: book.facts({ index, date }).bits, since: index };
  });
}

function expected(rows: readonly Row[], from: number, to: number, status: OrderStatus): string[] {
  return rows
    .filter((row) => row.date >= from && row.date <= to && hasStatus(row.bits, status))
    .sort((a, b) => b.date - a.date || b.since - a.since)
    .map(({ id }) => id);
}

const instants = fc.integer({ min: -760, max: 30 }).map((days) => noon + Math.round(days * day * 0.97));
const nth = fc.nat({ max: 10_000 });
const action = fc.oneof(
  fc.record({ kind: fc.constant("insert" as const), at: instants }),
  fc.record({ kind: fc.constant("insertAtTie" as const), nth }),
  fc.record({ kind: fc.constant("remove" as const), nth }),
  fc.record({ kind: fc.constant("redate" as const), nth, at: instants }),
  fc.record({ kind: fc.constant("change" as const), nth, bits: fc.integer({ min: 0, max: 7 }) }),
  fc.record({
    kind: fc.constant("look" as const),
    from: instants,
    to: instants,
    /** Sets the range to the very instants of two orders. */
    exact: fc.option(fc.tuple(nth, nth), { nil: undefined }),
    status: fc.constantFrom(...orderStatuses),
    offset: fc.nat({ max: 80 }),
    limit: fc.integer({ min: 1, max: 40 }),
  }),
);

describe("the order book", () => {
  test("agrees with a plain array through any history of events, in counts, pages, filters and look-ups", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 700 }),
        fc.nat({ max: 5 }),
        fc.array(action, { maxLength: 60 }),
        (size, seed, actions) => {
          const world = createWorld(seed, "Model", size, noon);
          const book = createOrderBook(world);
          const rows = rowsOf(world, book);
          let since = size;
          const rowAt = (n: number) => rows[n % Math.max(1, rows.length)];
          for (const one of [...actions, ...finalLooks]) {
            if (one.kind === "insert" || one.kind === "insertAtTie") {
              const date = one.kind === "insert" ? one.at : (rowAt(one.nth)?.date ?? noon);
              rows.push({ id: book.insert(date, { bits: 0 }), date, bits: 0, since: since++ });
            } else if (one.kind === "look") {
              const [from, to] = one.exact?.map((n) => rowAt(n)?.date ?? noon) ?? [one.from, one.to];
              const range = { from: from ?? one.from, to: to ?? one.to };
              const ids = expected(rows, range.from, range.to, one.status);
              const page = book
                .page(range, one.status, one.offset, one.limit)
                .map(({ index }) => orderId(world, index));
              expect(page).toEqual(ids.slice(one.offset, one.offset + one.limit));
              expect(book.count(range, one.status)).toBe(ids.length);
            } else {
              const row = rowAt(one.nth);
              if (!row) continue;
              if (one.kind === "remove") {
                expect(book.remove(row.id)).toBe(true);
                expect([book.find(row.id), book.remove(row.id)]).toEqual([undefined, false]);
                rows.splice(rows.indexOf(row), 1);
              } else if (one.kind === "redate") {
                book.redate(row.id, one.at);
                Object.assign(row, { date: one.at, since: since++ });
                expect(book.find(row.id)?.date).toBe(one.at);
              } else {
                book.change(row.id, { bits: one.bits });
                row.bits = one.bits;
              }
            }
          }
        },
      ),
      { numRuns: 150 },
    );
  });

  const finalLooks = orderStatuses.flatMap((status) =>
    [0, 33].map((offset) => ({
      kind: "look" as const,
      from: noon - 800 * day,
      to: noon + 40 * day,
      status,
      offset,
      limit: 1000,
      exact: undefined,
    })),
  );

  test("dates never fall as the index grows, and ties occur", () => {
    const { timeline } = createWorld(3, "Model", 20_000, noon);
    let ties = 0;
    for (let index = 1; index < timeline.length; index++) {
      const [before, date] = [timeline.dateOf(index - 1), timeline.dateOf(index)];
      if (before > date || date >= noon || date % 1000 !== 0) throw new Error(`Out of order: ${index}.`);
      if (before === date) ties++;
    }
    expect(ties).toBeGreaterThan(100);
  });

  test("an id leads back to its index, and an invented one to nothing", () => {
    const world = createWorld(9, "Model", 100, noon);
    for (const index of [0, 1, 99, 2_999_999, 4_294_967_295]) {
      expect(gather(scatter(index))).toBe(index);
      expect(orderIndex(world, orderId(world, index))).toBe(index);
    }
    expect(orderIndex(world, "ord_0123456789abcdef")).toBeUndefined();
    expect(orderIndex(world, "nope")).toBeUndefined();
  });

  test("a partial refund is active, and cancelled and refunded overlap", () => {
    expect(orderStatuses.filter((status) => hasStatus(stateBits.partial, status))).toEqual(["all", "active"]);
    const both = stateBits.cancelled | stateBits.refunded;
    expect(orderStatuses.filter((status) => hasStatus(both, status))).toEqual([
      "all",
      "cancelled",
      "refunded",
    ]);
  });
});
