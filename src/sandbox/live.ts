import { startOfSecond } from "../util/ranges.js";
import { formatInstant } from "../util/times.js";
import { dayMs, hourMs, secondMs } from "../util/timestamp.js";
import type { Brand, Order } from "./brand.js";
import { historyDays } from "./data/order-data.js";
import { chance, createRandom, pick, type RandomStream, randomFloat, randomInteger } from "./data/random.js";
import { type BrandEvents, createBrandEvents, sandboxRecordKey } from "./events.js";

export interface Pace {
  /** Determines the rate of new orders, refunds, cancellations and late attributions. */
  ordersPerHour: number;
  /** Multiplies the frequency of all other events. The speed of a real brand is 1. */
  speed: number;
}

/** Returns the pace of a brand that has a history of `orders` orders. `speed` multiplies the frequency of all events. */
export function naturalPace(orders: number, speed = 1): Pace {
  // At the end of the history, the number of orders per day is a third above average.
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

/** The kinds of events, with their frequency per order and per day. */
const eventKinds: readonly (readonly [
  perOrder: number,
  perDay: number,
  apply: (event: SimulatedEvent) => unknown,
])[] = [
  [1, 0, ({ events }) => events.order()],
  [0.03, 0, ({ at, random, events }) => events.attributeLate(startOfSecond(at - randomAge(random, 45, 300)))],
  [0.06, 0, refundAnOrder],
  [0.02, 0, cancelAnOrder],
  [0.002, 0, (event) => withAnOrder(event, ({ id }) => event.events.withdraw(id))],
  [0.002, 0, (event) => withAnOrder(event, ({ id }) => event.events.loseHost(id))],
  [
    0,
    0.15,
    ({ brand, random, events }) =>
      brand.roster.length > 1 && events.leave(pick(random, brand.roster).host.id),
  ],
  [0, 0.2, ({ events }) => events.join()],
  [0, 0.1, agreeARate],
  [0, 0.6, ({ events }) => events.addContent()],
  [0, 0.05, removeAFile],
  [0, 0.1, ({ events }) => events.addGift()],
  [0, 0.05, ({ events }) => events.addCode()],
];

function scheduleHour(start: number, seed: number, { ordersPerHour, speed }: Pace) {
  const scheduled = eventKinds.flatMap(([perOrder, perDay, apply], kind) => {
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

/** Picks the newest order that is older than a random age. Calls `apply` unless this order is cancelled or refunded. */
function withAnOrder({ at, brand, random }: SimulatedEvent, apply: (order: Order) => void): void {
  const date = formatInstant(at - randomAge(random, 25, 200));
  let newest: Order | undefined;
  for (const order of brand.orders)
    if (order.order_date <= date && order.order_date > (newest?.order_date ?? "")) newest = order;
  if (newest && !newest.is_cancelled && !newest.is_refunded) apply(newest);
}

function refundAnOrder(event: SimulatedEvent): void {
  const { random, events } = event;
  withAnOrder(event, ({ id, total_amount }) =>
    events.refund(
      id,
      chance(random, 0.45) ? Number(total_amount) * (0.1 + 0.6 * randomFloat(random)) : undefined,
    ),
  );
}

function cancelAnOrder(event: SimulatedEvent): void {
  withAnOrder(event, ({ id }) => {
    event.events.cancel(id);
    if (chance(event.random, 0.25)) event.events.refund(id);
  });
}

function agreeARate({ brand, random, events }: SimulatedEvent): void {
  if (brand.roster.length === 0) return;
  const { id } = pick(random, brand.roster).host;
  events.agreeRate(id, chance(random, 0.2) ? null : randomInteger(random, 5, 25));
}

function removeAFile({ brand, random, events }: SimulatedEvent): void {
  if (brand.content.length > 0)
    events.remove("content", sandboxRecordKey("content", pick(random, brand.content)));
}
