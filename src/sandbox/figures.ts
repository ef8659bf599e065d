import type { Brand } from "./brand.js";
import { hash } from "./data/random.js";
import { inRange, type Range } from "./dated.js";
import { type Doubts, documented } from "./doubts.js";
import { dateText, day, hour } from "./time.js";

export const members = ["orders", "tracked", "revenue", "subtotal", "buyNow", "visits"] as const;

/** Sales and traffic; amounts in hundredths. */
export type Figures = Record<(typeof members)[number], number>;

/** The figures of one host on one day. */
export interface Cell extends Figures {
  /** The day's midnight (UTC), in milliseconds since 1970. */
  start: number;
  /** "" for the sales without a host. */
  hostId: string;
}

export function noFigures(): Figures {
  return { orders: 0, tracked: 0, revenue: 0, subtotal: 0, buyNow: 0, visits: 0 };
}

/**
 * Returns what happened in a range by `now`, and the days that the figures speak of. Sales follow from the orders, so a
 * refund moves its day.
 */
export function figuresOf(brand: Brand, range: Range, hostId: string | null, doubts: Doubts, now: number) {
  const byDay = new Map<number, Map<string, Cell>>();
  const cellOf = (start: number, hostId: string): Cell => {
    const ofDay = byDay.get(start) ?? new Map<string, Cell>();
    const cell = ofDay.get(hostId) ?? { start, hostId, ...noFigures() };
    byDay.set(start, ofDay.set(hostId, cell));
    return cell;
  };
  const isAsked = (id: string) => hostId === null || id === hostId;
  const oldest = doubts.figures === "recent" ? now - 90 * day : Number.NEGATIVE_INFINITY;
  const part = inRange(brand.orders, "order_date", range, documented, 0);
  const orders = part.list.slice(part.start, part.end);
  for (const order of orders) {
    const id = order.host?.id ?? "";
    const start = midnight(Date.parse(order.order_date));
    if (Number.isNaN(start) || start < oldest || !isAsked(id)) continue;
    if (order.is_cancelled === true && doubts.cancelled === "out") continue;
    const cell = cellOf(start, id);
    const refund = doubts.revenue === "net" ? Number(order.refund_amount ?? 0) : 0;
    cell.orders += 1;
    if (order.attribution !== "manual") cell.tracked += 1;
    cell.revenue += Math.round((Number(order.total_amount ?? 0) - refund) * 100 * rateOf(start, doubts, now));
    cell.subtotal += Math.round(Number(order.subtotal_amount ?? 0) * 100);
  }
  // Traffic begins with the first order of all: a month by itself shows the same days as the whole history does.
  const untilNow = inRange(brand.orders, "order_date", { from: null, to: now * 1_000 }, documented, 0);
  const first = midnight(Date.parse(untilNow.list[untilNow.end - 1]?.order_date ?? "") || now);
  const last = Math.max(now, Date.parse(orders[0]?.order_date ?? "") || 0);
  const from = range.from === null ? first : Math.max(first, range.from / 1_000);
  const to = Math.min(last, (range.to ?? Number.POSITIVE_INFINITY) / 1_000);
  const days: number[] = [];
  for (let start = midnight(Math.max(from, oldest)); start <= to; start += day) {
    days.push(start);
    const share = Math.max(0, Math.min(to + 1, now, start + day) - Math.max(from, start)) / day;
    for (const { profile, weight } of brand.people) {
      if (!isAsked(profile.id)) continue;
      // Human traffic depends on the day and the host.
      const visits = Math.floor((weight * share * (hash(brand.seed, profile.id, start / day) % 1_000)) / 400);
      if (visits > 0) cellOf(start, profile.id).visits = visits;
    }
  }
  // Each tracked order had at least one click through to the store.
  const cells = [...byDay.values()].flatMap((ofDay) => [...ofDay.values()]);
  for (const cell of cells) cell.buyNow = cell.tracked * 3 + Math.floor(cell.visits / 3);
  return { cells, days: doubts.emptyDays === "zero" ? days : [] };
}

function midnight(ms: number): number {
  return Math.floor(ms / day) * day;
}

/** Four days in five have sales in a currency whose rate moves by the hour. */
function rateOf(start: number, { drift }: Doubts, now: number): number {
  if (!drift || hash(3, "rate", start / day) % 5 === 0) return 1;
  return 1 + (hash(4, "hour", Math.floor(now / hour)) % 1_000) / 20_000;
}

/** Returns the start of the bucket that a day lies in; weeks begin on Monday. */
export function bucketOf(start: number, bucket: "day" | "week" | "month"): string {
  const monday = start - ((Math.floor(start / day) + 3) % 7) * day;
  const date = dateText(bucket === "week" ? monday : start);
  return bucket === "month" ? `${date.slice(0, 7)}-01` : date;
}
