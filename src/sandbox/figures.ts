import type { Brand } from "./brand.js";
import { hash } from "./data/random.js";
import { inRange, type Range } from "./dated.js";
import type { Doubts } from "./doubts.js";
import type { Order } from "./records.js";
import { dateText, day, hour } from "./time.js";

/**
 * Sales and traffic of some hosts in some time; amounts in hundredths. `days` are those on which anything happened: they
 * make unique counts fall short of the sum of their days. All the others add up.
 */
const members = ["orders", "tracked", "revenue", "subtotal", "buyNow", "visits", "days"] as const;
export type Figures = Record<(typeof members)[number], number>;

export interface Sums {
  /** By the milliseconds of the day's midnight (UTC), rising. */
  byDay: Map<number, Figures>;
  /** By host id; "" for the sales without a host. */
  byHost: Map<string, Figures>;
}

export function noFigures(): Figures {
  return { orders: 0, tracked: 0, revenue: 0, subtotal: 0, buyNow: 0, visits: 0, days: 0 };
}

export function addFigures(sum: Figures, other: Figures): void {
  for (const member of members) sum[member] += other[member];
}

const recentDays = 90;
/** Traffic reaches back as far as the orders do, but no further than this. */
const mostDays = 4_000;

/** Adds up what happened in a range by `now`: sales follow from the orders, so a refund moves its day. */
export function addUp(brand: Brand, range: Range, hostId: string | null, doubts: Doubts, now: number): Sums {
  const sums: Sums = { byDay: new Map(), byHost: new Map() };
  const sorted = { ...doubts, order: "date", belowRange: false, undated: "apart" } as const;
  const ordersOf = (range: Range) => inRange(brand.orders, (order) => order.order_date, range, sorted, 0);
  const orders = ordersOf(range);
  const datesOf = (found: readonly Order[]) => found.map(({ order_date }) => Date.parse(order_date));
  // Traffic begins with the first order of all: a month by itself shows the same days as the whole history does.
  const all = ordersOf({ from: null, to: now * 1_000 });
  const first = Math.max(midnight(datesOf(all.slice(-1))[0] ?? now), now - mostDays * day);
  const last = Math.max(now, datesOf(orders.slice(0, 1))[0] ?? 0);
  const [from, to] = [fromOf(range, first), Math.min(last, (range.to ?? Number.POSITIVE_INFINITY) / 1_000)];
  const cells = new Map<string, Figures>();
  const oldest = doubts.figures === "recent" ? now - recentDays * day : Number.NEGATIVE_INFINITY;
  for (const order of orders) {
    const id = order.host?.id ?? "";
    const start = midnight(Date.parse(order.order_date));
    if (Number.isNaN(start) || start < oldest || (hostId !== null && id !== hostId)) continue;
    if (order.is_cancelled === true && doubts.cancelled === "out") continue;
    const cell = cellOf(cells, `${start} ${id}`);
    const refund = doubts.revenue === "net" ? Number(order.refund_amount ?? 0) : 0;
    cell.orders += 1;
    if (order.attribution !== "manual") cell.tracked += 1;
    cell.revenue += Math.round((Number(order.total_amount ?? 0) - refund) * 100 * rateOf(start, doubts, now));
    cell.subtotal += Math.round(Number(order.subtotal_amount ?? 0) * 100);
  }
  for (let start = midnight(Math.max(from, oldest)); start <= to; start += day) {
    if (doubts.emptyDays === "zero") cellOf(sums.byDay, start);
    const share = Math.max(0, Math.min(to + 1, now, start + day) - Math.max(from, start)) / day;
    for (const { profile, weight } of brand.people)
      if (hostId === null || profile.id === hostId)
        addTraffic(cells, brand.seed, start, profile.id, weight * share);
  }
  for (const [key, cell] of cells) place(sums, key, cell);
  sums.byDay = new Map([...sums.byDay].sort(([a], [b]) => a - b));
  return sums;
}

/** A range without a lower end begins where the orders do. */
function fromOf({ from }: Range, first: number): number {
  return from === null ? first : Math.max(first, from / 1_000);
}

function midnight(ms: number): number {
  return Math.floor(ms / day) * day;
}

function cellOf<K>(cells: Map<K, Figures>, key: K): Figures {
  const cell = cells.get(key) ?? noFigures();
  cells.set(key, cell);
  return cell;
}

/** Four days in five have sales in a currency whose rate moves by the hour. */
function rateOf(start: number, { drift }: Doubts, now: number): number {
  if (!drift || hash(3, "rate", start / day) % 5 === 0) return 1;
  return 1 + (hash(4, "hour", Math.floor(now / hour)) % 1_000) / 20_000;
}

/** Human traffic depends on the day and the host. */
function addTraffic(
  cells: Map<string, Figures>,
  seed: number,
  start: number,
  id: string,
  weight: number,
): void {
  const visits = Math.floor((weight * (hash(seed, id, start / day) % 1_000)) / 400);
  if (visits > 0) cellOf(cells, `${start} ${id}`).visits += visits;
}

/** Each tracked order had at least one click through to the store. */
function place(sums: Sums, key: string, cell: Figures): void {
  const [start = "", id = ""] = key.split(" ");
  cell.buyNow = cell.tracked * 3 + Math.floor(cell.visits / 3);
  const ofDay = cellOf(sums.byDay, Number(start));
  addFigures(ofDay, cell);
  ofDay.days = 1;
  cell.days = 1;
  addFigures(cellOf(sums.byHost, id), cell);
}

/** Returns the start of the bucket that a day lies in; weeks begin on Monday. */
export function bucketOf(start: number, bucket: "day" | "week" | "month"): string {
  const monday = start - ((Math.floor(start / day) + 3) % 7) * day;
  const date = dateText(bucket === "week" ? monday : start);
  return bucket === "month" ? `${date.slice(0, 7)}-01` : date;
}
