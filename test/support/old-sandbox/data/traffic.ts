import { hash, topics } from "./random.js";
import type { Sales } from "./sales.js";
import type { World } from "./world.js";

/** Clicks, views and sales of some hosts in some time. Amounts in hundredths. */
export interface Figures extends Sales {
  productClicks: number;
  productViews: number;
  buyNow: number;
  uniqueBuyNow: number;
  profileViews: number;
  listViews: number;
  opportunityClicks: number;
  sessions: number;
  /** Days with any activity: what makes unique counts fall short of the sum of their days. */
  days: number;
}

export function noFigures(): Figures {
  return {
    orders: 0,
    tracked: 0,
    manual: 0,
    revenue: 0,
    subtotal: 0,
    productClicks: 0,
    productViews: 0,
    buyNow: 0,
    uniqueBuyNow: 0,
    profileViews: 0,
    listViews: 0,
    opportunityClicks: 0,
    sessions: 0,
    days: 0,
  };
}

/**
 * Adds one host's day to each of `sums`. Human traffic depends on the day and the host; each tracked order had
 * at least one click through to the store. `share` is the part of the day that is asked for, or that has passed.
 */
export function addDay(
  sums: readonly [Figures, Figures],
  world: World,
  day: number,
  host: number,
  sales: Sales | undefined,
  share: number,
): void {
  const noise = hash(world.seed, topics.traffic, Math.imul(day, 1009) + host);
  // Asked for a place that is negative, an array is looked through as an object.
  const weight = host < 0 ? 0 : (world.hosts[host]?.weight ?? 0);
  const visits = Math.floor(((weight * (noise % 1000)) / 400) * share);
  if (visits === 0 && !sales) return;
  for (const sum of sums) addVisits(sum, noise, visits, sales);
}

function addVisits(sum: Figures, noise: number, visits: number, sales: Sales | undefined): void {
  const tracked = sales?.tracked ?? 0;
  const buyNow = tracked + Math.floor(tracked * ((noise >>> 10) % 8)) + Math.floor(visits / 3);
  const uniqueBuyNow = Math.ceil(buyNow * 0.8);
  const productClicks = buyNow + visits;
  sum.orders += sales?.orders ?? 0;
  sum.tracked += tracked;
  sum.manual += sales?.manual ?? 0;
  sum.revenue += sales?.revenue ?? 0;
  sum.subtotal += sales?.subtotal ?? 0;
  sum.buyNow += buyNow;
  sum.uniqueBuyNow += uniqueBuyNow;
  sum.productClicks += productClicks;
  sum.productViews += productClicks + Math.floor(visits / 2);
  sum.profileViews += Math.floor(visits / 4);
  sum.listViews += Math.floor(visits / 5);
  sum.opportunityClicks += visits > 0 ? (noise >>> 20) % 3 : 0;
  sum.sessions += Math.max(uniqueBuyNow, Math.ceil(productClicks * 0.7));
  if (productClicks + (sales?.orders ?? 0) > 0) sum.days++;
}

const names = Object.keys(noFigures()) as (keyof Figures)[];

export function addFigures(sum: Figures, other: Figures): void {
  for (const name of names) sum[name] += other[name];
}

export function totalClicks(figures: Figures): number {
  return figures.productClicks + figures.buyNow;
}

/** A unique count over several days: people come back, so it is less than the sum, and never more. */
export function unique(sum: number, days: number): number {
  return days <= 1 ? sum : Math.ceil(sum * (0.6 + 0.4 / days));
}

/** The names of a figure that every part of `/analytics/clicks` shares. */
export function sharedFigures(figures: Figures) {
  return {
    total_clicks: totalClicks(figures),
    product_clicks: figures.productClicks,
    buy_now_clicks: figures.buyNow,
    unique_buy_now_clicks: unique(figures.uniqueBuyNow, figures.days),
    unique_sessions: unique(figures.sessions, figures.days),
    orders: figures.orders,
    revenue: Math.round(figures.revenue) / 100,
    subtotal_revenue: Math.round(figures.subtotal) / 100,
    // Tracked orders over buy-now clicks, a ratio from 0 to 1.
    conversion_rate:
      figures.buyNow === 0 ? 0 : Math.round((figures.tracked / figures.buyNow) * 10_000) / 10_000,
  };
}
