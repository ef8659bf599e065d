import {
  fateOf,
  hasStatus,
  type OrderChange,
  type OrderFacts,
  type OrderStatus,
  orderFacts,
  orderId,
  orderIndex,
  orderStatuses,
} from "./order-facts.js";
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

/** Every attributed order. Newest first; of equal dates, the order that came into being last is first. */
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
  /**
   * Indexes of the orders, oldest first; of equal dates, in the sequence in which they came into being. Those of a
   * status are made when they are first asked for, and again after an order's state changed.
   */
  const all = Array.from({ length: timeline.length }, (_, index) => index);
  const lists = new Map<OrderStatus, number[]>([["all", all]]);
  /** Dates of the orders that events placed, by index: those of the others are the timeline's. */
  const dates = new Map<number, number>();
  const changes = new Map<number, OrderChange>();
  let touched = new Set<number>();
  let next = timeline.length;

  function dateOf(index: number): number {
    return dates.get(index) ?? timeline.dateOf(index);
  }

  function bitsOf(index: number): number {
    return changes.get(index)?.bits ?? fateOf(world, index);
  }

  function listOf(status: OrderStatus): number[] {
    const list = lists.get(status) ?? all.filter((index) => hasStatus(bitsOf(index), status));
    lists.set(status, list);
    return list;
  }

  function listsOf(index: number): number[][] {
    return [...lists].filter(([status]) => hasStatus(bitsOf(index), status)).map(([, list]) => list);
  }

  /** The first position in `list` whose order was placed at or after `date`. */
  function firstAt(list: readonly number[], date: number): number {
    let low = 0;
    let high = list.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (dateOf(list[middle] as number) < date) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  function positionIn(list: readonly number[], { index, date }: OrderPlace): number {
    const end = firstAt(list, date + 1);
    for (let n = firstAt(list, date); n < end; n++) if (list[n] === index) return n;
    return -1;
  }

  function count(range: Range, status: OrderStatus): number {
    const list = listOf(status);
    return Math.max(0, firstAt(list, range.to + 1) - firstAt(list, range.from));
  }

  function page(range: Range, status: OrderStatus, offset: number, limit: number): OrderPlace[] {
    const list = listOf(status);
    const end = firstAt(list, range.to + 1) - offset;
    const start = Math.max(firstAt(list, range.from), end - limit);
    const found = list.slice(start, Math.max(start, end)).reverse();
    return found.map((index) => ({ index, date: dateOf(index) }));
  }

  function find(id: string): OrderPlace | undefined {
    const index = orderIndex(world, id);
    if (index === undefined) return undefined;
    const place = { index, date: dateOf(index) };
    return positionIn(all, place) < 0 ? undefined : place;
  }

  function facts({ index, date }: OrderPlace): OrderFacts {
    return orderFacts(world, index, date, changes.get(index));
  }

  function put(place: OrderPlace): void {
    for (const list of listsOf(place.index)) list.splice(firstAt(list, place.date + 1), 0, place.index);
    dates.set(place.index, place.date);
    touch(place);
  }

  function take(place: OrderPlace): void {
    for (const list of listsOf(place.index)) list.splice(positionIn(list, place), 1);
    touch(place);
  }

  function touch({ date }: OrderPlace): void {
    touched.add(Math.floor(date / day));
  }

  function insert(date: number, change: OrderChange = {}): string {
    const index = next++;
    changes.set(index, change);
    put({ index, date });
    return orderId(world, index);
  }

  function remove(id: string): boolean {
    const place = find(id);
    if (place) take(place);
    return place !== undefined;
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
    const before = bitsOf(place.index);
    changes.set(place.index, { ...changes.get(place.index), ...patch });
    for (const status of orderStatuses)
      if (hasStatus(before, status) !== hasStatus(bitsOf(place.index), status)) lists.delete(status);
    touch(place);
    return true;
  }

  function takeTouchedDays(): Set<number> {
    const days = touched;
    touched = new Set();
    return days;
  }

  return { count, page, find, facts, insert, remove, redate, change, takeTouchedDays };
}
