import type { Brand } from "./brand.js";
import { keyOfRecord } from "./changes.js";
import { historyDays } from "./data/orders.js";
import { between, chance, type Draws, draws, next, pick } from "./data/random.js";
import { type Happenings, happeningsOf } from "./happenings.js";
import type { Order } from "./records.js";
import { day, hour, second, timeText } from "./time.js";

/** How something goes when its time has come. */
type Course = (d: Draws, happenings: Happenings, brand: Brand, at: number) => unknown;

/** One thing that is to happen at an instant. */
interface Due {
  at: number;
  d: Draws;
  happen: Course;
}

export interface Pace {
  /** Orders an hour: everything about orders follows from it. */
  ordersPerHour: number;
  /** How many times as often as in life everything else happens. */
  speed: number;
}

/** Returns the pace of the last days of a history of so many orders, `speed` times as fast. */
export function naturalPace(orders: number, speed = 1): Pace {
  // A third above the average of the history: it grows.
  return { ordersPerHour: ((4 / 3) * orders * speed) / (historyDays * 24), speed };
}

/** Lets everything happen that happens after `from` and until `to`: the same for the same brand and pace. */
export function passTime(brand: Brand, from: number, to: number, pace: Pace): void {
  let moment = from;
  const happenings = happeningsOf(brand, () => moment);
  for (let start = Math.floor(from / hour) * hour; start <= to; start += hour) {
    for (const { at, d, happen } of dueIn(start, brand.seed, pace)) {
      if (at <= from || at > to) continue;
      moment = at;
      happen(d, happenings, brand, at);
    }
  }
}

function dueIn(start: number, seed: number, { ordersPerHour, speed }: Pace): Due[] {
  const due: Due[] = [];
  for (const [kind, [perOrder, perDay, happen]] of courses.entries()) {
    const d = draws(seed + kind, "live", start / hour);
    const expected = perOrder * ordersPerHour + (perDay * speed) / 24;
    const count = Math.floor(expected + next(d));
    for (let n = 0; n < count; n += 1) {
      const at = Math.floor((start + next(d) * hour) / second) * second;
      due.push({ at, d: draws(seed + kind, "course", at / second + n), happen });
    }
  }
  return due.sort((a, b) => a.at - b.at);
}

/** What happens by itself: how often for each order, and on each day. */
const courses: readonly (readonly [perOrder: number, perDay: number, happen: Course])[] = [
  [1, 0, (_, { order }) => order()],
  [0.03, 0, (d, { attributeLate }, _, at) => attributeLate(secondsAt(at - ageOf(d, 45, 300)))],
  [0.06, 0, refundSome],
  [0.02, 0, cancelSome],
  [0.002, 0, (d, { withdraw }, brand, at) => withOrder(d, brand, at, (id) => withdraw(id))],
  [0.002, 0, (d, { loseHost }, brand, at) => withOrder(d, brand, at, (id) => loseHost(id))],
  [0, 0.15, (d, { leave }, { roster }) => roster.length > 1 && leave(pick(d, roster).host.id)],
  [0, 0.2, (_, { join }) => join()],
  [0, 0.1, agreeSome],
  [0, 0.3, moveSome],
  [0, 0.05, (_, { propose }) => propose()],
  [0, 1.5, workSome],
  [0, 0.6, (_, { addContent }) => addContent()],
  [
    0,
    0.05,
    (d, { remove }, { content }) =>
      content.length > 0 && remove("content", keyOfRecord("content", pick(d, content))),
  ],
  [0, 0.1, (_, { addGift }) => addGift()],
  [0, 0.05, (_, { addCode }) => addCode()],
];

/** Some days to months: in milliseconds, `typical` days on average and at most `most`. */
function ageOf(d: Draws, typical: number, most: number): number {
  return Math.min(most, 0.3 - Math.log(1 - next(d)) * typical) * day;
}

function secondsAt(ms: number): number {
  return Math.floor(ms / second) * second;
}

/** Finds the last order that was placed before some time ago, if it is neither cancelled nor refunded. */
function withOrder(d: Draws, { orders }: Brand, at: number, then: (id: string, total: number) => void): void {
  const date = new Date(at - ageOf(d, 25, 200)).toISOString();
  let last: Order | undefined;
  for (const order of orders)
    if (order.order_date <= date && order.order_date > (last?.order_date ?? "")) last = order;
  if (last && !last.is_cancelled && !last.is_refunded) then(last.id, last.total_amount ?? 0);
}

function refundSome(d: Draws, { refund }: Happenings, brand: Brand, at: number): void {
  withOrder(d, brand, at, (id, total) =>
    refund(id, chance(d, 0.45) ? total * (0.1 + 0.6 * next(d)) : undefined),
  );
}

function cancelSome(d: Draws, { cancel, refund }: Happenings, brand: Brand, at: number): void {
  withOrder(d, brand, at, (id) => {
    cancel(id);
    if (chance(d, 0.25)) refund(id);
  });
}

function agreeSome(d: Draws, { agreeRate }: Happenings, { roster }: Brand): void {
  if (roster.length > 0) agreeRate(pick(d, roster).host.id, chance(d, 0.2) ? null : between(d, 5, 25));
}

/** The state that follows another, of a campaign or of an assignment. */
const after: Record<string, string> = {
  DRAFT: "READY",
  READY: "PROPOSED",
  PROPOSED: "ACTIVE",
  ACTIVE: "COMPLETED",
};

function moveSome(d: Draws, { moveCampaign }: Happenings, { opportunities }: Brand): void {
  const next = opportunities.filter(({ status }) => after[status]);
  if (next.length === 0) return;
  const { id, status } = pick(d, next);
  moveCampaign(id, after[status] ?? status);
}

/** An assignment goes one step further; the brand then pays for work that is done. */
function workSome(d: Draws, { changeAssignment }: Happenings, { opportunities }: Brand, at: number): void {
  const open = opportunities.flatMap(({ assignments }) =>
    assignments.filter((one) => after[one.status] || one.brand_payment_state === "NOT_INVOICED"),
  );
  if (open.length === 0) return;
  const { id, status } = pick(d, open);
  const [next, date] = [after[status], timeText(at)];
  if (next === "ACTIVE") changeAssignment(id, { status: next, accepted_at: date });
  else if (next === "COMPLETED") changeAssignment(id, { status: next, completed_at: date });
  else changeAssignment(id, next ? { status: next } : { brand_payment_state: "PAID" });
}
