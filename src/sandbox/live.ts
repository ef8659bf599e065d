import { type Brand, day, hour, type ListName, type Lists, type Order, second, timeText } from "./brand.js";
import { historyDays } from "./data/order-data.js";
import { chance, createRandom, pick, type RandomStream, randomFloat, randomInteger } from "./data/random.js";
import { type BrandEvents, createBrandEvents } from "./events.js";

type RecordOf<L extends ListName> = Lists[L][number];

/** The member by which each list names its records; a library file is `source/id`. */
export function recordKey(list: ListName, record: RecordOf<ListName>): string {
  if (list === "content") return `${record.source}/${record.id}`;
  if (list === "recommendations") return (record as RecordOf<"recommendations">).host.id;
  return String(list === "roster" ? record.relationship_id : record.id);
}

/** The three ways in which a brand's lists change: each puts another array where the old one was. */
export function createListEdits(brand: Brand) {
  /** Puts another array in a list's place: each kind of record has its own list. */
  function put<L extends ListName>(list: L, records: readonly RecordOf<L>[]): void {
    brand[list] = records as unknown as Brand[L];
  }

  /** A record comes: it stands first, as the last that came. */
  function add<L extends ListName>(list: L, ...records: RecordOf<L>[]): void {
    put(list, [...records, ...brand[list]]);
  }

  /** Replaces the record whose key this is by another form of itself. */
  function change<L extends ListName>(
    list: L,
    key: string,
    to: Partial<RecordOf<L>> | ((record: RecordOf<L>) => RecordOf<L>),
  ): void {
    const records: readonly RecordOf<L>[] = brand[list];
    const place = records.findIndex((record) => recordKey(list, record) === key);
    const record = records[place];
    if (!record) throw new RangeError(`${list} has no ${key}.`);
    put(list, records.with(place, typeof to === "function" ? to(record) : { ...record, ...to }));
  }

  /** Takes records out, and returns them: `add` brings them back. */
  function remove<L extends ListName>(list: L, ...keys: string[]): RecordOf<L>[] {
    const records: readonly RecordOf<L>[] = brand[list];
    const gone = records.filter((record) => keys.includes(recordKey(list, record)));
    if (gone.length < keys.length) throw new RangeError(`${list} has no ${keys.join(", ")}.`);
    put(
      list,
      records.filter((record) => !gone.includes(record)),
    );
    return gone;
  }

  return { add, change, remove };
}

/** The random numbers and the brand of one course of events. */
interface Moment {
  d: RandomStream;
  brand: Brand;
  happen: BrandEvents;
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
export function simulateActivity(brand: Brand, from: number, to: number, pace: Pace): void {
  let moment = from;
  const happen = createBrandEvents(brand, () => moment);
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
    const d = createRandom(seed + kind, "live", start / hour);
    const count = Math.floor(perOrder * ordersPerHour + (perDay * speed) / 24 + randomFloat(d));
    return Array.from({ length: count }, (_, n) => {
      const at = secondOf(start + randomFloat(d) * hour);
      return { at, d: createRandom(seed + kind, "course", at / second + n), course };
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
function ageOf(d: RandomStream, typical: number, most: number): number {
  return Math.min(most, 0.3 - Math.log(1 - randomFloat(d)) * typical) * day;
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
    happen.refund(id, chance(d, 0.45) ? Number(total_amount) * (0.1 + 0.6 * randomFloat(d)) : undefined),
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
  happen.agreeRate(pick(d, brand.roster).host.id, chance(d, 0.2) ? null : randomInteger(d, 5, 25));
}

function removeSome({ brand, d, happen }: Moment): void {
  if (brand.content.length > 0) happen.remove("content", recordKey("content", pick(d, brand.content)));
}
