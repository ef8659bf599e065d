import {
  fateOf,
  type OrderChange,
  type OrderFacts,
  orderFacts,
  orderId,
  orderIndex,
  stateBits,
} from "./order-facts.js";
import { createTally, hasStatus, type OrderStatus, type Tally } from "./tally.js";
import { day } from "./timeline.js";
import type { World } from "./world.js";

/** Where an order stands: `index` is who it is, `date` when it was placed. */
export interface OrderPlace {
  index: number;
  date: number;
}

/** An inclusive range of instants. */
export interface Range {
  from: number;
  to: number;
}

export const always: Range = { from: Number.MIN_SAFE_INTEGER, to: Number.MAX_SAFE_INTEGER - 1 };

/**
 * Every attributed order: the computed history, and over it the few that events inserted, moved, changed or
 * withdrew. Counts, filters and pages stay exact and quick at any size. Newest first; of equal dates, the order
 * that came into being last is first.
 */
export interface OrderBook {
  count(range: Range, status: OrderStatus): number;
  page(range: Range, status: OrderStatus, offset: number, limit: number): OrderPlace[];
  find(id: string): OrderPlace | undefined;
  facts(place: OrderPlace): OrderFacts;
  /** Places an order that was not there, and returns its id. */
  insert(date: number, change?: OrderChange): string;
  /** False where there is no such order. */
  remove(id: string): boolean;
  redate(id: string, date: number): boolean;
  change(id: string, change: OrderChange): boolean;
  /** Days (whole numbers since 1970) whose orders changed since the last call. */
  takeTouchedDays(): Set<number>;
}

export function createOrderBook(world: World): OrderBook {
  const { timeline } = world;
  const changes = new Map<number, OrderChange>();
  /** Oldest first; of equal dates, in the sequence of insertion. */
  const inserted: OrderPlace[] = [];
  /** Dates of the orders in `inserted`, by index. */
  const moved = new Map<number, number>();
  let touched = new Set<number>();
  let next = timeline.length;
  let removals = 0;
  let tally: Tally | undefined;

  /** One byte per order, built when a filter or an event first needs it. */
  function states(): Tally {
    tally ??= createTally(timeline.length, (index) => changes.get(index)?.bits ?? fateOf(world, index));
    return tally;
  }

  function bitsOf(index: number): number {
    return changes.get(index)?.bits ?? fateOf(world, index);
  }

  function before(end: number, status: OrderStatus): number {
    return status === "all" && removals === 0 ? end : states().before(end, status);
  }

  function isListed(index: number, status: OrderStatus): boolean {
    return status === "all" && removals === 0 ? true : hasStatus(states().bitsOf(index), status);
  }

  /** The inserted orders of a range and status, oldest first, without copying them where nothing is filtered. */
  function insertedIn(
    range: Range,
    status: OrderStatus,
  ): { length: number; newest(n: number): OrderPlace | undefined } {
    const start = firstInserted(range.from);
    const end = firstInserted(range.to + 1);
    if (status === "all")
      return { length: end - start, newest: (n) => (n < end - start ? inserted[end - 1 - n] : undefined) };
    const within = inserted.slice(start, end).filter((place) => hasStatus(bitsOf(place.index), status));
    return { length: within.length, newest: (n) => within[within.length - 1 - n] };
  }

  /** The first place in `inserted` at or after `date`. */
  function firstInserted(date: number): number {
    return lowest(inserted.length, (n) => (inserted[n]?.date ?? 0) >= date);
  }

  function count(range: Range, status: OrderStatus): number {
    if (range.from > range.to) return 0;
    const computed =
      before(timeline.firstAtOrAfter(range.to + 1), status) -
      before(timeline.firstAtOrAfter(range.from), status);
    return computed + insertedIn(range, status).length;
  }

  function page(range: Range, status: OrderStatus, offset: number, limit: number): OrderPlace[] {
    if (range.from > range.to) return [];
    const low = timeline.firstAtOrAfter(range.from);
    const high = timeline.firstAtOrAfter(range.to + 1);
    const beforeHigh = before(high, status);
    const extras = insertedIn(range, status);
    // An inserted order comes before the computed ones of its own instant, and after those that are newer.
    const skipped = lowest(extras.length, (n) => {
      const newer = beforeHigh - before(timeline.firstAtOrAfter((extras.newest(n)?.date ?? 0) + 1), status);
      return n + newer >= offset;
    });
    const rank = beforeHigh - 1 - (offset - skipped);
    let index = rank < 0 ? -1 : status === "all" && removals === 0 ? rank : states().select(rank, status);
    let extra = skipped;
    const found: OrderPlace[] = [];
    while (found.length < limit) {
      while (index >= low && !isListed(index, status)) index--;
      const place = extras.newest(extra);
      const date = index >= low ? timeline.dateOf(index) : undefined;
      if (place && (date === undefined || place.date >= date)) {
        found.push(place);
        extra++;
      } else if (date !== undefined) {
        found.push({ index, date });
        index--;
      } else break;
    }
    return found;
  }

  function find(id: string): OrderPlace | undefined {
    const index = orderIndex(world, id);
    if (index === undefined) return undefined;
    const date = moved.get(index);
    if (date !== undefined) return { index, date };
    if (index >= timeline.length || bitsOf(index) & stateBits.removed) return undefined;
    return { index, date: timeline.dateOf(index) };
  }

  function write(index: number, change: OrderChange): void {
    changes.set(index, { ...changes.get(index), ...change });
    if (change.bits !== undefined && index < timeline.length && !moved.has(index))
      tally?.set(index, change.bits);
  }

  function put(place: OrderPlace): void {
    inserted.splice(firstInserted(place.date + 1), 0, place);
    moved.set(place.index, place.date);
    touch(place.date);
  }

  function insert(date: number, change: OrderChange = {}): string {
    const index = next++;
    changes.set(index, change);
    put({ index, date });
    return orderId(world, index);
  }

  /** Takes an order out of where it stands; its changes stay with it. */
  function take(place: OrderPlace): void {
    touch(place.date);
    if (moved.delete(place.index)) {
      const first = firstInserted(place.date);
      inserted.splice(
        inserted.findIndex((other, n) => n >= first && other.index === place.index),
        1,
      );
      return;
    }
    states().set(place.index, bitsOf(place.index) | stateBits.removed);
    removals++;
  }

  function remove(id: string): boolean {
    const place = find(id);
    if (!place) return false;
    take(place);
    if (place.index < timeline.length) {
      changes.set(place.index, {
        ...changes.get(place.index),
        bits: bitsOf(place.index) | stateBits.removed,
      });
    }
    return true;
  }

  function redate(id: string, date: number): boolean {
    const place = find(id);
    if (!place) return false;
    take(place);
    put({ index: place.index, date });
    return true;
  }

  function change(id: string, patch: OrderChange): boolean {
    const place = find(id);
    if (!place) return false;
    write(place.index, patch);
    touch(place.date);
    return true;
  }

  function touch(date: number): void {
    touched.add(Math.floor(date / day));
  }

  function takeTouchedDays(): Set<number> {
    const days = touched;
    touched = new Set();
    return days;
  }

  function facts(place: OrderPlace): OrderFacts {
    return orderFacts(world, place.index, place.date, changes.get(place.index));
  }

  return { count, page, find, facts, insert, remove, redate, change, takeTouchedDays };
}

/** The first number in [0, end) for which `holds` is true (it stays true from there on), or `end`. */
function lowest(end: number, holds: (n: number) => boolean): number {
  let low = 0;
  let high = end;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
