import type { Brand } from "./brand.js";
import { keyOfRecord } from "./changes.js";
import { historyDays } from "./data/orders.js";
import { between, chance, type Draws, draws, next, pick } from "./data/random.js";
import { type Happenings, happeningsOf } from "./happenings.js";
import type { Order } from "./records.js";
import { day, hour, second, timeText } from "./time.js";

/** The random numbers and the brand of one course of events. */
interface Moment {
  d: Draws;
  brand: Brand;
  happen: Happenings;
  /** When it happens, in milliseconds since 1970. */
  at: number;
}

type Course = (moment: Moment) => unknown;

export interface Pace {
  /** Orders an hour: everything about orders follows from it. */
  ordersPerHour: number;
  /** The factor by which everything else happens more often than in life. */
  speed: number;
}

/** Returns the pace of the last days of a history of `orders`, `speed` times as fast. */
export function naturalPace(orders: number, speed = 1): Pace {
  // A third above the average of the history: it grows.
  return { ordersPerHour: ((4 / 3) * orders * speed) / (historyDays * 24), speed };
}

/** Lets everything happen that happens after `from` and until `to`: the same for the same brand and pace. */
export function passTime(brand: Brand, from: number, to: number, pace: Pace): void {
  let moment = from;
  const happen = happeningsOf(brand, () => moment);
  for (let start = Math.floor(from / hour) * hour; start <= to; start += hour) {
    for (const { at, d, course } of dueIn(start, brand.seed, pace)) {
      if (at <= from || at > to) continue;
      moment = at;
      course({ d, brand, happen, at });
    }
  }
}

/** Returns what is to happen in the hour that begins at `start`, in its order. */
function dueIn(start: number, seed: number, { ordersPerHour, speed }: Pace) {
  const due = courses.flatMap(([perOrder, perDay, course], kind) => {
    const d = draws(seed + kind, "live", start / hour);
    const count = Math.floor(perOrder * ordersPerHour + (perDay * speed) / 24 + next(d));
    return Array.from({ length: count }, (_, n) => {
      const at = secondOf(start + next(d) * hour);
      return { at, d: draws(seed + kind, "course", at / second + n), course };
    });
  });
  return due.sort((a, b) => a.at - b.at);
}

/** Events that happen by themselves: how often for each order, and on each day. */
const courses: readonly (readonly [perOrder: number, perDay: number, course: Course])[] = [
  [1, 0, ({ happen }) => happen.order()],
  [0.03, 0, ({ at, d, happen }) => happen.attributeLate(secondOf(at - ageOf(d, 45, 300)))],
  [0.06, 0, refundSome],
  [0.02, 0, cancelSome],
  [0.002, 0, (moment) => withOrder(moment, ({ id }) => moment.happen.withdraw(id))],
  [0.002, 0, (moment) => withOrder(moment, ({ id }) => moment.happen.loseHost(id))],
  [0, 0.15, ({ brand, d, happen }) => brand.roster.length > 1 && happen.leave(pick(d, brand.roster).host.id)],
  [0, 0.2, ({ happen }) => happen.join()],
  [0, 0.1, agreeSome],
  [0, 0.6, ({ happen }) => happen.addContent()],
  [0, 0.05, removeSome],
  [0, 0.1, ({ happen }) => happen.addGift()],
  [0, 0.05, ({ happen }) => happen.addCode()],
];

/** Some days to months: in milliseconds, `typical` days on average and at most `most`. */
function ageOf(d: Draws, typical: number, most: number): number {
  return Math.min(most, 0.3 - Math.log(1 - next(d)) * typical) * day;
}

function secondOf(ms: number): number {
  return Math.floor(ms / second) * second;
}

/** Finds the last order that was placed before some time ago, if it is neither cancelled nor refunded. */
function withOrder({ at, brand, d }: Moment, then: (order: Order) => void): void {
  const date = timeText(at - ageOf(d, 25, 200));
  let last: Order | undefined;
  for (const order of brand.orders)
    if (order.order_date <= date && order.order_date > (last?.order_date ?? "")) last = order;
  if (last && !last.is_cancelled && !last.is_refunded) then(last);
}

function refundSome(moment: Moment): void {
  const { d, happen } = moment;
  withOrder(moment, ({ id, total_amount }) =>
    happen.refund(id, chance(d, 0.45) ? Number(total_amount) * (0.1 + 0.6 * next(d)) : undefined),
  );
}

function cancelSome(moment: Moment): void {
  withOrder(moment, ({ id }) => {
    moment.happen.cancel(id);
    if (chance(moment.d, 0.25)) moment.happen.refund(id);
  });
}

function agreeSome({ brand, d, happen }: Moment): void {
  if (brand.roster.length === 0) return;
  happen.agreeRate(pick(d, brand.roster).host.id, chance(d, 0.2) ? null : between(d, 5, 25));
}

function removeSome({ brand, d, happen }: Moment): void {
  if (brand.content.length > 0) happen.remove("content", keyOfRecord("content", pick(d, brand.content)));
}
