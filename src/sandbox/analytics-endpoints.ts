import { startOfDay, utcDay } from "../util/time-ranges.js";
import { dayMs } from "../util/timestamps.js";
import type { Brand } from "./brand.js";
import {
  type Endpoint,
  type EndpointContext,
  type InstantRange,
  instant,
  integerParameter,
  oneOf,
  paging,
  parseQuery,
  respondWithPage,
  selectRange,
  toRange,
  uuid,
} from "./endpoint.js";
import type { Order } from "./orders-endpoint.js";
import { type Host, toHost } from "./people.js";
import { createHasher } from "./random.js";

/** Counts and amounts for a period. Amounts are in hundredths of a currency unit and are summed across currencies. */
type Activity = Record<"orders" | "tracked" | "revenue" | "subtotal" | "buyNow" | "visits", number>;

/** One host's activity on one day. `hostId` is empty for orders without a host. */
type HostDay = Activity & { hostId: string };

interface Day {
  start: number;
  hosts: readonly HostDay[];
}

const access = { scope: "analytics:read", needsAnalyticsPlan: true };

export const analyticsEndpoints: readonly Endpoint[] = [
  { path: "/analytics/clicks", ...access, handle: getClicks },
  { path: "/analytics/hosts", ...access, handle: listHosts },
];

const clicksParameters = {
  start_date: instant,
  end_date: instant,
  group_by: oneOf(["day", "week", "month"], "day"),
  host_id: uuid,
  limit: integerParameter(20, 1, 100),
};

function getClicks({ brand, query, now }: EndpointContext) {
  const { start_date, end_date, group_by, host_id, limit } = parseQuery(clicksParameters, query);
  const days = computeDays(brand, toRange(start_date, end_date), host_id, now);
  const total = sumDays(days);
  const buckets = groupBy(days, ({ start }) => bucketStart(start, group_by));
  const hosts = collectHosts(brand);
  const data = {
    summary: {
      ...commonFigures(total),
      ...viewFigures(total),
      product_views: total.buyNow + total.visits * 2,
      opportunity_clicks: Math.floor(total.visits / 7),
      unique_users: Math.floor(countSessions(total) * 0.3),
      manual_orders: total.orders - total.tracked,
    },
    timeseries: [...buckets].map(([date, bucket]) => {
      const sum = sumDays(bucket);
      return { date, ...commonFigures(sum), ...viewFigures(sum) };
    }),
    top_hosts: sumHosts(days)
      .map(([id, sum]) => ({ host: hosts.get(id) ?? null, ...commonFigures(sum) }))
      .sort((a, b) => b.total_clicks - a.total_clicks)
      .slice(0, limit),
    top_products: rankProducts(brand, total).slice(0, limit),
  };
  return { data };
}

function listHosts({ brand, query, now }: EndpointContext) {
  const { sort, order, ...page } = parseQuery(
    {
      ...paging,
      sort: oneOf(["clicks", "buy_now_clicks", "actions", "sale_amount"], "sale_amount"),
      order: oneOf(["asc", "desc"], "desc"),
    },
    query,
  );
  const hosts = collectHosts(brand);
  const rows = sumHosts(computeDays(brand, { from: null, to: null }, null, now)).map(([id, sum]) => {
    const { buyNow, visits, orders, revenue } = sum;
    const host = hosts.get(id) ?? null;
    return { host, clicks: buyNow * 2 + visits, buy_now_clicks: buyNow, orders, sales: revenue / 100 };
  });
  const field = sort === "actions" ? "orders" : sort === "sale_amount" ? "sales" : sort;
  const sign = order === "asc" ? 1 : -1;
  return respondWithPage(
    rows.sort((a, b) => sign * (a[field] - b[field])),
    page,
  );
}

/**
 * Returns the activity on all days in a range, up to `now`. Sales are computed from the orders, so a refund changes the
 * sales on the day of the order.
 */
function computeDays(brand: Brand, range: InstantRange, hostId: string | null, now: number): Day[] {
  const orders = selectRange(brand.orders, "order_date", range);
  // Traffic starts on the day of the brand's first order, even if the requested range starts earlier.
  const upToNow = selectRange(brand.orders, "order_date", { from: null, to: now * 1_000 });
  const first = startOfDay(Date.parse(upToNow.at(-1)?.order_date ?? "") || now);
  const last = Math.max(now, Date.parse(orders[0]?.order_date ?? "") || 0);
  const from = range.from === null ? first : Math.max(first, range.from / 1_000);
  const to = Math.min(last, (range.to ?? Number.POSITIVE_INFINITY) / 1_000);

  const isIncluded = (id: string) => hostId === null || id === hostId;
  const counted = orders.filter(({ host, is_cancelled }) => !is_cancelled && isIncluded(host?.id ?? ""));
  const ordersByDay = groupBy(counted, ({ order_date }) => startOfDay(Date.parse(order_date)));
  const visitors = brand.people
    .filter(({ profile }) => isIncluded(profile.id))
    .map(({ profile: { id }, weight }) => ({ id, weight, hashOf: createHasher(brand.seed, id) }));
  const days: Day[] = [];
  for (let start = startOfDay(from); start <= to; start += dayMs) {
    const hosts = new Map<string, HostDay>();
    const hostDay = (hostId: string) => {
      const added = hosts.get(hostId) ?? {
        hostId,
        orders: 0,
        tracked: 0,
        revenue: 0,
        subtotal: 0,
        buyNow: 0,
        visits: 0,
      };
      hosts.set(hostId, added);
      return added;
    };
    for (const order of ordersByDay.get(start) ?? []) {
      addOrder(hostDay(order.host?.id ?? ""), order);
    }
    const share = Math.max(0, Math.min(to + 1, now, start + dayMs) - Math.max(from, start)) / dayMs;
    for (const { id, weight, hashOf } of visitors) {
      const visits = Math.floor((weight * share * (hashOf(start / dayMs) % 1_000)) / 400);
      if (visits > 0) hostDay(id).visits = visits;
    }
    // Every tracked order needs at least one buy-now click.
    for (const host of hosts.values()) host.buyNow = host.tracked * 3 + Math.floor(host.visits / 3);
    days.push({ start, hosts: [...hosts.values()] });
  }
  return days;
}

function addOrder(activity: Activity, order: Order): void {
  activity.orders += 1;
  if (order.attribution !== "manual") activity.tracked += 1;
  activity.revenue += Math.round((Number(order.total_amount ?? 0) - Number(order.refund_amount ?? 0)) * 100);
  activity.subtotal += Math.round(Number(order.subtotal_amount ?? 0) * 100);
}

/** Weeks start on Monday. */
function bucketStart(start: number, bucket: "day" | "week" | "month"): string {
  const monday = start - ((Math.floor(start / dayMs) + 3) % 7) * dayMs;
  const date = utcDay(bucket === "week" ? monday : start);
  return bucket === "month" ? `${date.slice(0, 7)}-01` : date;
}

function noActivity(): Activity {
  return { orders: 0, tracked: 0, revenue: 0, subtotal: 0, buyNow: 0, visits: 0 };
}

type ActivitySum = Activity & { days: number };

function sumDays(days: readonly Day[]): ActivitySum {
  const sum = noActivity();
  for (const { hosts } of days) for (const host of hosts) addActivity(sum, host);
  return { ...sum, days: days.filter(({ hosts }) => hosts.length > 0).length };
}

function sumHosts(days: readonly Day[]): (readonly [hostId: string, ActivitySum])[] {
  const sums = new Map<string, ActivitySum>();
  for (const host of days.flatMap(({ hosts }) => hosts)) {
    const sum = sums.get(host.hostId) ?? { ...noActivity(), days: 0 };
    sums.set(host.hostId, sum);
    addActivity(sum, host);
    sum.days += 1;
  }
  return [...sums];
}

function addActivity(sum: Activity, added: Activity): void {
  sum.orders += added.orders;
  sum.tracked += added.tracked;
  sum.revenue += added.revenue;
  sum.subtotal += added.subtotal;
  sum.buyNow += added.buyNow;
  sum.visits += added.visits;
}

function groupBy<T, K>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

function collectHosts({ people, orders }: Brand): Map<string, Host> {
  const hosts = new Map<string, Host>();
  for (const { host } of orders) if (host) hosts.set(host.id, host);
  for (const person of people) hosts.set(person.profile.id, toHost(person));
  return hosts;
}

function commonFigures(sum: ActivitySum) {
  const { buyNow, visits, orders, tracked, revenue, subtotal } = sum;
  return {
    total_clicks: buyNow * 2 + visits,
    product_clicks: buyNow + visits,
    buy_now_clicks: buyNow,
    unique_buy_now_clicks: estimateUnique(Math.ceil(buyNow * 0.8), sum),
    unique_sessions: countSessions(sum),
    orders,
    revenue: revenue / 100,
    subtotal_revenue: subtotal / 100,
    conversion_rate: buyNow === 0 ? 0 : Math.round((tracked / buyNow) * 10_000) / 10_000,
  };
}

function viewFigures({ visits }: ActivitySum) {
  return { profile_views: visits, list_views: visits * 2 };
}

function countSessions(sum: ActivitySum): number {
  return estimateUnique(Math.ceil(sum.buyNow * 0.8) + Math.ceil(sum.visits * 0.7), sum);
}

/**
 * Estimates the number of unique visitors or sessions, which is lower than the sum of the daily numbers because people
 * return.
 */
function estimateUnique(count: number, { days }: ActivitySum): number {
  return days <= 1 ? count : Math.floor(count * (0.6 + 0.4 / days));
}

function rankProducts({ products, name }: Brand, { buyNow, visits }: Activity) {
  const totalWeight = products.reduce((sum, { weight }) => sum + weight, 0);
  return products
    .map(({ id, title, weight }) => {
      const share = (count: number) => Math.floor((count * weight) / totalWeight);
      return {
        product_id: id,
        title,
        brand_name: name,
        total_clicks: share(buyNow + visits) + share(buyNow),
        product_clicks: share(buyNow + visits),
        buy_now_clicks: share(buyNow),
        unique_buy_now_clicks: Math.ceil(share(buyNow) * 0.7),
      };
    })
    .filter((row) => row.total_clicks > 0)
    .sort((a, b) => b.total_clicks - a.total_clicks);
}
