import { type ApiVariants, documentedBehaviour } from "./api-variants.js";
import { type Brand, dateText, day, type Host, hour } from "./brand.js";
import { toHost } from "./data/people-data.js";
import { hash } from "./data/random.js";
import { type InstantRange, ordersRange, selectRange } from "./listing.js";
import { instant, integer, oneOf, oneUuid, type ParsedQuery } from "./parameters.js";

export const members = ["orders", "tracked", "revenue", "subtotal", "buyNow", "visits"] as const;

/** Sales and traffic; amounts in hundredths. */
export type Activity = Record<(typeof members)[number], number>;

/** The figures of one host on one day. */
export interface HostDay extends Activity {
  /** The day's midnight (UTC), in milliseconds since 1970. */
  start: number;
  /** "" for the sales without a host. */
  hostId: string;
}

export function noActivity(): Activity {
  return { orders: 0, tracked: 0, revenue: 0, subtotal: 0, buyNow: 0, visits: 0 };
}

/**
 * Returns what happened in a range by `now`, and the days that the figures speak of. Sales follow from the orders, so a
 * refund moves its day.
 */
export function computeActivity(
  brand: Brand,
  range: InstantRange,
  hostId: string | null,
  variants: ApiVariants,
  now: number,
) {
  const byDay = new Map<number, Map<string, HostDay>>();
  const cellOf = (start: number, hostId: string): HostDay => {
    const ofDay = byDay.get(start) ?? new Map<string, HostDay>();
    const cell = ofDay.get(hostId) ?? { start, hostId, ...noActivity() };
    byDay.set(start, ofDay.set(hostId, cell));
    return cell;
  };
  const isAsked = (id: string) => hostId === null || id === hostId;
  const oldest = variants.dailyTotals === "recent" ? now - 90 * day : Number.NEGATIVE_INFINITY;
  const part = selectRange(brand.orders, "order_date", range, documentedBehaviour, 0);
  const orders = part.list.slice(part.start, part.end);
  for (const order of orders) {
    const id = order.host?.id ?? "";
    const start = midnight(Date.parse(order.order_date));
    if (Number.isNaN(start) || start < oldest || !isAsked(id)) continue;
    if (order.is_cancelled === true && variants.cancelled === "out") continue;
    const cell = cellOf(start, id);
    const refund = variants.revenue === "net" ? Number(order.refund_amount ?? 0) : 0;
    cell.orders += 1;
    if (order.attribution !== "manual") cell.tracked += 1;
    cell.revenue += Math.round(
      (Number(order.total_amount ?? 0) - refund) * 100 * rateOf(start, variants, now),
    );
    cell.subtotal += Math.round(Number(order.subtotal_amount ?? 0) * 100);
  }
  // Traffic begins with the first order of all: a month by itself shows the same days as the whole history does.
  const untilNow = selectRange(
    brand.orders,
    "order_date",
    { from: null, to: now * 1_000 },
    documentedBehaviour,
    0,
  );
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
  return { cells, days: variants.emptyDays === "zero" ? days : [] };
}

function midnight(ms: number): number {
  return Math.floor(ms / day) * day;
}

/** Four days in five have sales in a currency whose rate moves by the hour. */
function rateOf(start: number, { dailyTotalsDrift }: ApiVariants, now: number): number {
  if (!dailyTotalsDrift || hash(3, "rate", start / day) % 5 === 0) return 1;
  return 1 + (hash(4, "hour", Math.floor(now / hour)) % 1_000) / 20_000;
}

/** Returns the start of the bucket that a day lies in; weeks begin on Monday. */
export function bucketStart(start: number, bucket: "day" | "week" | "month"): string {
  const monday = start - ((Math.floor(start / day) + 3) % 7) * day;
  const date = dateText(bucket === "week" ? monday : start);
  return bucket === "month" ? `${date.slice(0, 7)}-01` : date;
}

export const clicksRules = {
  start_date: instant,
  end_date: instant,
  group_by: oneOf(["day", "week", "month"], "day"),
  host_id: oneUuid,
  limit: integer(20, 1, 100),
};

/** Returns the `data` of /analytics/clicks. */
export function createClicks(
  brand: Brand,
  query: ParsedQuery<typeof clicksRules>,
  variants: ApiVariants,
  now: number,
) {
  const { group_by, host_id, limit } = query;
  const range = ordersRange(query.start_date, query.end_date);
  const { cells, days } = computeActivity(brand, range, host_id, variants, now);
  const all = sumOf(cells);
  const byDay = grouped(cells, ({ start }) => start);
  const points = new Map<string, HostDay[]>();
  for (const start of [...new Set([...days, ...byDay.keys()])].sort((a, b) => a - b)) {
    const date = bucketStart(start, group_by);
    points.set(date, [...(points.get(date) ?? []), ...(byDay.get(start) ?? [])]);
  }
  const hosts = hostsOf(brand);
  return {
    summary: {
      ...shared(all),
      ...views(all),
      product_views: all.buyNow + all.visits * 2,
      opportunity_clicks: Math.floor(all.visits / 7),
      unique_users: Math.floor(sessionsOf(all) * 0.3),
      manual_orders: all.orders - all.tracked,
    },
    timeseries: [...points].map(([date, ofDate]) => {
      const figures = sumOf(ofDate);
      return { date, ...shared(figures), ...views(figures) };
    }),
    top_hosts: [...grouped(cells, (cell) => cell.hostId)]
      .map(([id, ofHost]) => ({ host: hosts.get(id) ?? null, ...shared(sumOf(ofHost)) }))
      .sort((a, b) => b.total_clicks - a.total_clicks)
      .slice(0, limit),
    top_products: topProducts(brand, all).slice(0, limit),
  };
}

/** Returns the rows of /analytics/hosts: all time, in the order of the sandbox's own. */
export function createHostRanking(brand: Brand, variants: ApiVariants, now: number) {
  const hosts = hostsOf(brand);
  const { cells } = computeActivity(brand, { from: null, to: null }, null, variants, now);
  return [...grouped(cells, ({ hostId }) => hostId)].map(([id, ofHost]) => {
    const { buyNow, visits, orders, revenue } = sumOf(ofHost);
    const host = hosts.get(id) ?? null;
    return { host, clicks: buyNow * 2 + visits, buy_now_clicks: buyNow, orders, sales: revenue / 100 };
  });
}

/** The sum of some cells, and on how many days they lie: all but unique counts add up. */
type Sum = Activity & { days: number };

function sumOf(cells: readonly HostDay[]): Sum {
  const sum = noActivity();
  for (const cell of cells) for (const member of members) sum[member] += cell[member];
  return { ...sum, days: new Set(cells.map(({ start }) => start)).size };
}

function grouped<K>(cells: readonly HostDay[], keyOf: (cell: HostDay) => K): Map<K, HostDay[]> {
  const groups = new Map<K, HostDay[]>();
  for (const cell of cells) {
    const key = keyOf(cell);
    const group = groups.get(key);
    if (group) group.push(cell);
    else groups.set(key, [cell]);
  }
  return groups;
}

/** The hosts of traffic and of orders, as they are called now. */
function hostsOf({ people, orders }: Brand): Map<string, Host> {
  const hosts = new Map<string, Host>();
  for (const { host } of orders) if (host) hosts.set(host.id, host);
  for (const person of people) hosts.set(person.profile.id, toHost(person));
  return hosts;
}

function views({ visits }: Sum) {
  return { profile_views: visits, list_views: visits * 2 };
}

function shared(figures: Sum) {
  const { buyNow, visits, orders, tracked, revenue, subtotal } = figures;
  return {
    total_clicks: buyNow * 2 + visits,
    product_clicks: buyNow + visits,
    buy_now_clicks: buyNow,
    unique_buy_now_clicks: unique(Math.ceil(buyNow * 0.8), figures),
    unique_sessions: sessionsOf(figures),
    orders,
    revenue: revenue / 100,
    subtotal_revenue: subtotal / 100,
    conversion_rate: buyNow === 0 ? 0 : Math.round((tracked / buyNow) * 10_000) / 10_000,
  };
}

function sessionsOf(figures: Sum): number {
  return unique(Math.ceil(figures.buyNow * 0.8) + Math.ceil(figures.visits * 0.7), figures);
}

/** People come back: a unique count of several days is less than the sum of the days. */
function unique(sum: number, { days }: Sum): number {
  return days <= 1 ? sum : Math.floor(sum * (0.6 + 0.4 / days));
}

/** Clicks are shared out among the products by their weights. */
function topProducts({ products, name }: Brand, { buyNow, visits }: Activity) {
  const all = products.reduce((sum, { weight }) => sum + weight, 0);
  return products
    .map(({ id, title, weight }) => {
      const part = (count: number) => Math.floor((count * weight) / all);
      return {
        product_id: id,
        title,
        brand_name: name,
        total_clicks: part(buyNow + visits) + part(buyNow),
        product_clicks: part(buyNow + visits),
        buy_now_clicks: part(buyNow),
        unique_buy_now_clicks: Math.ceil(part(buyNow) * 0.7),
      };
    })
    .filter((row) => row.total_clicks > 0)
    .sort((a, b) => b.total_clicks - a.total_clicks);
}
