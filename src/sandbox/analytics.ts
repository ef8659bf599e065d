import type { Brand } from "./brand.js";
import { hostOf } from "./data/people.js";
import type { Range } from "./dated.js";
import type { Doubts } from "./doubts.js";
import { addFigures, addUp, bucketOf, type Figures, noFigures } from "./figures.js";
import type { Host } from "./records.js";

export interface ClicksQuery {
  range: Range;
  groupBy: "day" | "week" | "month";
  hostId: string | null;
  limit: number;
}

/** Returns the `data` of /analytics/clicks. */
export function clicksOf(
  brand: Brand,
  { range, groupBy, hostId, limit }: ClicksQuery,
  doubts: Doubts,
  now: number,
) {
  const { byDay, byHost } = addUp(brand, range, hostId, doubts, now);
  const all = noFigures();
  const points = new Map<string, Figures>();
  for (const [start, figures] of byDay) {
    addFigures(all, figures);
    const date = bucketOf(start, groupBy);
    const point = points.get(date) ?? noFigures();
    addFigures(point, figures);
    points.set(date, point);
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
    timeseries: [...points].map(([date, figures]) => ({ date, ...shared(figures), ...views(figures) })),
    top_hosts: [...byHost]
      .map(([id, figures]) => ({ host: hosts.get(id) ?? null, ...shared(figures) }))
      .sort((a, b) => b.total_clicks - a.total_clicks)
      .slice(0, limit),
    top_products: topProducts(brand, all).slice(0, limit),
  };
}

/** Returns the rows of /analytics/hosts: all time, in the order of the sandbox's own. */
export function hostRows(brand: Brand, doubts: Doubts, now: number) {
  const hosts = hostsOf(brand);
  const { byHost } = addUp(brand, { from: null, to: null }, null, doubts, now);
  return [...byHost].map(([id, figures]) => ({
    host: hosts.get(id) ?? null,
    clicks: figures.buyNow * 2 + figures.visits,
    buy_now_clicks: figures.buyNow,
    orders: figures.orders,
    sales: figures.revenue / 100,
  }));
}

/** The hosts of orders, collected once for each list of orders. */
const ofOrders = new WeakMap<Brand["orders"], Map<string, Host>>();

/** The hosts of traffic and of orders, as they are called now. */
function hostsOf({ people, orders }: Brand): Map<string, Host> {
  const hosts = ofOrders.get(orders) ?? new Map<string, Host>();
  if (!ofOrders.has(orders)) for (const { host } of orders) if (host) hosts.set(host.id, host);
  ofOrders.set(orders, hosts);
  return new Map([...hosts, ...people.map((person) => [person.profile.id, hostOf(person)] as const)]);
}

function views({ visits }: Figures) {
  return { profile_views: visits, list_views: visits * 2 };
}

function shared(figures: Figures) {
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

function sessionsOf(figures: Figures): number {
  return unique(Math.ceil(figures.buyNow * 0.8) + Math.ceil(figures.visits * 0.7), figures);
}

/** People come back: a unique count of several days is less than the sum of the days. */
function unique(sum: number, { days }: Figures): number {
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
