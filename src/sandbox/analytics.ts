import type { Brand } from "./brand.js";
import { hostOf } from "./data/people.js";
import type { Doubts } from "./doubts.js";
import { bucketOf, type Cell, type Figures, figuresOf, members, noFigures } from "./figures.js";
import { ordersRange } from "./lists.js";
import { instant, integer, oneOf, oneUuid, type Query } from "./parameters.js";
import type { Host } from "./records.js";

export const clicksRules = {
  start_date: instant,
  end_date: instant,
  group_by: oneOf(["day", "week", "month"], "day"),
  host_id: oneUuid,
  limit: integer(20, 1, 100),
};

/** Returns the `data` of /analytics/clicks. */
export function clicksOf(brand: Brand, query: Query<typeof clicksRules>, doubts: Doubts, now: number) {
  const { group_by, host_id, limit } = query;
  const range = ordersRange(query.start_date, query.end_date);
  const { cells, days } = figuresOf(brand, range, host_id, doubts, now);
  const all = sumOf(cells);
  const byDay = grouped(cells, ({ start }) => start);
  const points = new Map<string, Cell[]>();
  for (const start of [...new Set([...days, ...byDay.keys()])].sort((a, b) => a - b)) {
    const date = bucketOf(start, group_by);
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
export function hostRows(brand: Brand, doubts: Doubts, now: number) {
  const hosts = hostsOf(brand);
  const { cells } = figuresOf(brand, { from: null, to: null }, null, doubts, now);
  return [...grouped(cells, ({ hostId }) => hostId)].map(([id, ofHost]) => {
    const { buyNow, visits, orders, revenue } = sumOf(ofHost);
    const host = hosts.get(id) ?? null;
    return { host, clicks: buyNow * 2 + visits, buy_now_clicks: buyNow, orders, sales: revenue / 100 };
  });
}

/** The sum of some cells, and on how many days they lie: all but unique counts add up. */
type Sum = Figures & { days: number };

function sumOf(cells: readonly Cell[]): Sum {
  const sum = noFigures();
  for (const cell of cells) for (const member of members) sum[member] += cell[member];
  return { ...sum, days: new Set(cells.map(({ start }) => start)).size };
}

function grouped<K>(cells: readonly Cell[], keyOf: (cell: Cell) => K): Map<K, Cell[]> {
  const groups = new Map<K, Cell[]>();
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
  for (const person of people) hosts.set(person.profile.id, hostOf(person));
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
function topProducts({ products, name }: Brand, { buyNow, visits }: Figures) {
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
