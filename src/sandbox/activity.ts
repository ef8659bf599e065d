import { startOfSecond } from "../util/time-ranges.js";
import { dayMs, formatInstant, hourMs, secondMs } from "../util/timestamps.js";
import type { Brand, ListName, Lists } from "./brand.js";
import { createContent } from "./content-endpoints.js";
import {
  cancelOrder,
  createOrderFactory,
  historyDays,
  type Order,
  refundOrder,
  withCommission,
} from "./orders-endpoint.js";
import { createPerson, defaultRate } from "./people.js";
import { chance, createRandom, pick, type RandomStream, randomFloat, randomInteger } from "./random.js";
import { createRosterEntry } from "./roster-endpoint.js";
import { createCode, createGift } from "./undocumented-endpoints.js";

interface Pace {
  /**
   * The number of new orders per hour, which also determines how often refunds, cancellations and late attributions
   * occur.
   */
  ordersPerHour: number;
  /** A multiplier for the frequency of all other events. With 1, they are as frequent as for a real brand. */
  speed: number;
}

/** Returns the pace for a brand with `orders` past orders. `speed` multiplies the frequency of all events. */
export function naturalPace(orders: number, speed = 1): Pace {
  // By the end of the history, the number of orders per day has grown to a third above the average.
  return { ordersPerHour: ((4 / 3) * orders * speed) / (historyDays * 24), speed };
}

/** Applies the events in a time range, excluding `from`. The same brand and pace always produce the same events. */
export function simulateActivity(brand: Brand, from: number, to: number, pace: Pace): void {
  let now = from;
  const events = createBrandEvents(brand, () => now);
  for (let start = Math.floor(from / hourMs) * hourMs; start <= to; start += hourMs) {
    for (const { at, random, apply } of scheduleHour(start, brand.seed, pace)) {
      if (at <= from || at > to) continue;
      now = at;
      apply({ random, brand, events, at });
    }
  }
}

interface SimulatedEvent {
  random: RandomStream;
  brand: Brand;
  events: BrandEvents;
  at: number;
}

/** A kind of event, and how often it occurs per order or per day. */
interface EventKind {
  perOrder?: number;
  perDay?: number;
  apply(event: SimulatedEvent): unknown;
}

const eventKinds: readonly EventKind[] = [
  { perOrder: 1, apply: ({ events }) => events.order() },
  { perOrder: 0.03, apply: attributeLate },
  { perOrder: 0.06, apply: refundOldOrder },
  { perOrder: 0.02, apply: cancelOldOrder },
  { perOrder: 0.002, apply: withdrawOldOrder },
  { perOrder: 0.002, apply: loseHostOfOldOrder },
  { perDay: 0.15, apply: removeHostFromRoster },
  { perDay: 0.2, apply: ({ events }) => events.join() },
  { perDay: 0.1, apply: changeHostRate },
  { perDay: 0.6, apply: ({ events }) => events.addContent() },
  { perDay: 0.05, apply: removeFile },
  { perDay: 0.1, apply: ({ events }) => events.addGift() },
  { perDay: 0.05, apply: ({ events }) => events.addCode() },
];

function scheduleHour(start: number, seed: number, { ordersPerHour, speed }: Pace) {
  const scheduled = eventKinds.flatMap(({ perOrder = 0, perDay = 0, apply }, kind) => {
    const times = createRandom(seed + kind, "live", start / hourMs);
    const count = Math.floor(perOrder * ordersPerHour + (perDay * speed) / 24 + randomFloat(times));
    return Array.from({ length: count }, (_, n) => {
      const at = startOfSecond(start + randomFloat(times) * hourMs);
      return { at, random: createRandom(seed + kind, "course", at / secondMs + n), apply };
    });
  });
  return scheduled.sort((a, b) => a.at - b.at);
}

/** Returns a random age in milliseconds, with an average of about `typical` days and a maximum of `most` days. */
function randomAge(random: RandomStream, typical: number, most: number): number {
  return Math.min(most, 0.3 - Math.log(1 - randomFloat(random)) * typical) * dayMs;
}

/** Returns the newest order that is older than a random age, or undefined if that order is cancelled or refunded. */
function pickOldOrder({ at, brand, random }: SimulatedEvent): Order | undefined {
  const date = formatInstant(at - randomAge(random, 25, 200));
  let newest: Order | undefined;
  for (const order of brand.orders)
    if (order.order_date <= date && order.order_date > (newest?.order_date ?? "")) newest = order;
  return newest?.is_cancelled || newest?.is_refunded ? undefined : newest;
}

function attributeLate({ at, random, events }: SimulatedEvent): void {
  events.attributeLate(startOfSecond(at - randomAge(random, 45, 300)));
}

function refundOldOrder(event: SimulatedEvent): void {
  const { random, events } = event;
  const order = pickOldOrder(event);
  if (!order) return;
  const isPartial = chance(random, 0.45);
  const amount = isPartial ? Number(order.total_amount) * (0.1 + 0.6 * randomFloat(random)) : undefined;
  events.refund(order.id, amount);
}

function cancelOldOrder(event: SimulatedEvent): void {
  const order = pickOldOrder(event);
  if (!order) return;
  event.events.cancel(order.id);
  if (chance(event.random, 0.25)) event.events.refund(order.id);
}

function withdrawOldOrder(event: SimulatedEvent): void {
  const order = pickOldOrder(event);
  if (order) event.events.withdraw(order.id);
}

function loseHostOfOldOrder(event: SimulatedEvent): void {
  const order = pickOldOrder(event);
  if (order) event.events.loseHost(order.id);
}

function removeHostFromRoster({ brand, random, events }: SimulatedEvent): void {
  if (brand.roster.length > 1) events.leave(pick(random, brand.roster).host.id);
}

function changeHostRate({ brand, random, events }: SimulatedEvent): void {
  if (brand.roster.length === 0) return;
  const { id } = pick(random, brand.roster).host;
  events.agreeRate(id, chance(random, 0.2) ? null : randomInteger(random, 5, 25));
}

function removeFile({ brand, random, events }: SimulatedEvent): void {
  if (brand.content.length > 0)
    events.remove("content", sandboxRecordKey("content", pick(random, brand.content)));
}

export type BrandEvents = ReturnType<typeof createBrandEvents>;

/**
 * Returns functions that simulate events by changing a brand's lists. Each function throws a `RangeError` for an
 * unknown ID. Arrays and records are replaced rather than changed, so a shallow copy of a brand is a snapshot.
 */
export function createBrandEvents(brand: Brand, now: () => number) {
  const { add, change, remove } = createListEdits(brand);

  function addOrder(date: number, isManual: boolean, fields: Partial<Order> = {}): string {
    const order = { ...createOrderFactory(brand)(brand.nextNumber++, date, isManual), ...fields };
    add("orders", order);
    return order.id;
  }

  return {
    add,
    change,
    remove,
    /** Adds an order that is attributed immediately. Returns the order's ID. */
    order: (fields?: Partial<Order>, at = now()) => addOrder(at, false, fields),
    /** Adds an order that was placed at `date` but attributed manually just now. Returns the order's ID. */
    attributeLate: (date: number, fields?: Partial<Order>) => addOrder(date, true, fields),
    /** Adds a refund to an order, by default for the full amount. */
    refund: (id: string, amount?: number) => change("orders", id, (order) => refundOrder(order, amount)),
    cancel: (id: string) => change("orders", id, cancelOrder),
    /** Withdraws the attribution of orders. The API then no longer returns them. */
    withdraw: (...ids: string[]) => remove("orders", ...ids),
    /** Removes the host from an order, as if the host's account had been deleted. */
    loseHost: (id: string) => change("orders", id, { host: null }),
    changeRate: (id: string, rate: number) =>
      change("orders", id, (order) => withCommission({ ...order, commission_rate: rate })),
    /** Adds a new host to the roster. Returns the host's ID. */
    join(): string {
      const person = createPerson(brand.seed, brand.nextNumber++);
      brand.people = [...brand.people, person];
      add("roster", createRosterEntry(brand, person, now()));
      return person.profile.id;
    },
    /** Removes a host from the roster. Returns the ID of the roster entry. */
    leave(hostId: string): string {
      const id = brand.roster.find(({ host }) => host.id === hostId)?.relationship_id ?? hostId;
      remove("roster", id);
      return id;
    },
    /** Sets a host's rate in percent, or restores the default if `rate` is null. Existing orders keep their rate. */
    agreeRate(hostId: string, rate: number | null) {
      brand.people = brand.people.map((person) =>
        person.profile.id === hostId ? { ...person, rate } : person,
      );
      const commission_rate = rate ?? defaultRate;
      brand.roster = brand.roster.map((entry) =>
        entry.host.id === hostId ? { ...entry, commission_rate } : entry,
      );
    },
    addContent: () => add("content", createContent(brand, brand.nextNumber++, now())),
    addGift: () => add("gifts", createGift(brand, brand.nextNumber++, now())),
    addCode: () => add("codes", createCode(brand, brand.nextNumber++, now())),
  };
}

type RecordOf<L extends ListName> = Lists[L][number];

function createListEdits(brand: Brand) {
  function replace<L extends ListName>(list: L, records: readonly RecordOf<L>[]): void {
    brand[list] = records as unknown as Brand[L];
  }

  function add<L extends ListName>(list: L, ...records: RecordOf<L>[]): void {
    replace(list, [...records, ...brand[list]]);
  }

  function change<L extends ListName>(
    list: L,
    key: string,
    to: Partial<RecordOf<L>> | ((record: RecordOf<L>) => RecordOf<L>),
  ): void {
    const records: readonly RecordOf<L>[] = brand[list];
    const index = records.findIndex((record) => sandboxRecordKey(list, record) === key);
    const record = records[index];
    if (!record) throw new RangeError(`${list} has no ${key}.`);
    replace(list, records.with(index, typeof to === "function" ? to(record) : { ...record, ...to }));
  }

  function remove<L extends ListName>(list: L, ...keys: string[]): RecordOf<L>[] {
    const records: readonly RecordOf<L>[] = brand[list];
    const removed = records.filter((record) => keys.includes(sandboxRecordKey(list, record)));
    if (removed.length < keys.length) throw new RangeError(`${list} has no ${keys.join(", ")}.`);
    replace(
      list,
      records.filter((record) => !removed.includes(record)),
    );
    return removed;
  }

  return { add, change, remove };
}

/**
 * Returns the key that identifies a record in its list: `source/id` for library files, and the ID for all other
 * records.
 */
export function sandboxRecordKey(list: ListName, record: RecordOf<ListName>): string {
  if (list === "content") return `${record.source}/${record.id}`;
  if (list === "recommendations") return (record as RecordOf<"recommendations">).host.id;
  return String(list === "roster" ? record.relationship_id : record.id);
}
