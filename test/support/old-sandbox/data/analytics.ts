import { type HostRecord, hostRecord } from "./hosts.js";
import { always, type OrderBook, type Range } from "./order-book.js";
import { vanishedHosts } from "./order-facts.js";
import { topics, unit } from "./random.js";
import type { SalesBook } from "./sales.js";
import { day, historyDays } from "./timeline.js";
import {
  addDay,
  addFigures,
  type Figures,
  noFigures,
  sharedFigures,
  totalClicks,
  unique,
} from "./traffic.js";
import type { World } from "./world.js";

export const buckets = ["day", "week", "month"] as const;
export type Bucket = (typeof buckets)[number];
export const hostSorts = ["clicks", "buy_now_clicks", "actions", "sale_amount"] as const;
export type HostSort = (typeof hostSorts)[number];

export interface ClicksQuery {
  from: number | undefined;
  to: number | undefined;
  groupBy: Bucket;
  /** A host's id; undefined: all hosts. */
  host: string | undefined;
  limit: number;
}

/** `/analytics/clicks` and `/analytics/hosts`: traffic that fits the orders, computed per day. */
export interface Analytics {
  clicks(query: ClicksQuery): ReturnType<typeof clicksAnswer>;
  hosts(sort: HostSort, order: "asc" | "desc"): HostRow[];
}

export interface HostRow {
  host: HostRecord | null;
  clicks: number;
  buy_now_clicks: number;
  orders: number;
  sales: number;
}

interface Totals {
  byDay: Map<number, Figures>;
  byHost: Map<number, Figures>;
}

/** A sync asks for the whole history, and for each of its months. */
const mostKnown = 40;

/** `now` is the instant up to which there is traffic. */
export function createAnalytics(
  world: World,
  book: OrderBook,
  sales: SalesBook,
  now: () => number,
): Analytics {
  let allTime: { stamp: string; rows: HostRow[] } | undefined;
  const known = { stamp: "", totals: new Map<string, Totals>() };

  /** What was asked for before, and has not changed since, is not added up again. */
  function totals(query: Pick<ClicksQuery, "from" | "to" | "host">): Totals {
    const stamp = `${sales.version()} ${now()} ${world.hosts.length}`;
    if (known.stamp !== stamp || known.totals.size >= mostKnown) known.totals.clear();
    known.stamp = stamp;
    const range = activeRange(query);
    const asked = `${range.from} ${range.to} ${query.host}`;
    const found = known.totals.get(asked) ?? addUp(range, query.host);
    known.totals.set(asked, found);
    return found;
  }

  function addUp(range: Range, hostId: string | undefined): Totals {
    const wanted = hostId === undefined ? undefined : world.hosts.findIndex((host) => host.id === hostId);
    const hosts =
      wanted === undefined ? [...world.hosts.keys(), ...vanishedHosts] : wanted < 0 ? [] : [wanted];
    const byDay = new Map<number, Figures>();
    const rows = hosts.map((host) => ({ host, figures: noFigures() }));
    for (let number = Math.floor(range.from / day); number * day <= range.to; number++) {
      const part = {
        from: Math.max(range.from, number * day),
        to: Math.min(range.to, (number + 1) * day - 1),
      };
      const share = trafficShare(part);
      const sold = sales.ofDay(part);
      const sum = noFigures();
      for (const { host, figures } of rows)
        addDay([sum, figures], world, number, host, sold.get(host), share);
      sum.days = 1;
      byDay.set(number, sum);
    }
    return { byDay, byHost: new Map(rows.map(({ host, figures }) => [host, figures])) };
  }

  /** What was asked for, cut to the time in which anything happened. */
  function activeRange({ from, to }: Pick<ClicksQuery, "from" | "to">): Range {
    const count = book.count(always, "all");
    const newest = book.page(always, "all", 0, 1)[0]?.date ?? now();
    const oldest = book.page(always, "all", count - 1, 1)[0]?.date ?? now();
    return {
      from: Math.max(from ?? Number.NEGATIVE_INFINITY, Math.min(oldest, world.anchor - historyDays * day)),
      to: Math.min(to ?? Number.POSITIVE_INFINITY, Math.max(newest, now())),
    };
  }

  function trafficShare({ from, to }: Range): number {
    const start = Math.max(from, world.anchor - historyDays * day);
    return Math.max(0, Math.min(to + 1, now()) - start) / day;
  }

  function clicks(query: ClicksQuery) {
    return clicksAnswer(world, query, totals(query));
  }

  function hosts(sort: HostSort, order: "asc" | "desc"): HostRow[] {
    const stamp = `${sales.version()} ${now()}`;
    if (allTime?.stamp !== stamp)
      allTime = { stamp, rows: hostRows(totals({ from: undefined, to: undefined, host: undefined })) };
    const field = (
      { clicks: "clicks", buy_now_clicks: "buy_now_clicks", actions: "orders", sale_amount: "sales" } as const
    )[sort];
    const sign = order === "asc" ? 1 : -1;
    return [...allTime.rows].sort((a, b) => sign * (a[field] - b[field]));
  }

  function hostRows({ byHost }: Totals): HostRow[] {
    const rows: HostRow[] = [];
    for (const [place, figures] of byHost) {
      if (totalClicks(figures) + figures.orders === 0) continue;
      const host = world.hosts[place];
      rows.push({
        host: host ? hostRecord(host) : null,
        clicks: totalClicks(figures),
        buy_now_clicks: figures.buyNow,
        orders: figures.orders,
        sales: Math.round(figures.revenue) / 100,
      });
    }
    return rows;
  }

  return { clicks, hosts };
}

function clicksAnswer(world: World, query: ClicksQuery, { byDay, byHost }: Totals) {
  const whole = noFigures();
  const points = new Map<string, Figures>();
  for (const [number, figures] of byDay) {
    addFigures(whole, figures);
    const date = bucketStart(number * day, query.groupBy);
    const point = points.get(date) ?? noFigures();
    addFigures(point, figures);
    points.set(date, point);
  }
  return {
    summary: summaryRecord(whole),
    timeseries: [...points].map(([date, figures]) => pointRecord(date, figures)),
    top_hosts: topHosts(world, byHost).slice(0, query.limit),
    top_products: topProducts(world, whole, query.host).slice(0, query.limit),
  };
}

/** The first date of a bucket: weeks begin on Monday. */
function bucketStart(at: number, bucket: Bucket): string {
  const date = new Date(bucket === "week" ? at - ((Math.floor(at / day) + 3) % 7) * day : at).toISOString();
  return bucket === "month" ? `${date.slice(0, 7)}-01` : date.slice(0, 10);
}

function summaryRecord(figures: Figures) {
  const sessions = unique(figures.sessions, figures.days);
  return {
    ...sharedFigures(figures),
    product_views: figures.productViews,
    profile_views: figures.profileViews,
    list_views: figures.listViews,
    opportunity_clicks: figures.opportunityClicks,
    unique_users: Math.floor(sessions * 0.3),
    manual_orders: figures.manual,
  };
}

function pointRecord(date: string, figures: Figures) {
  return {
    date,
    ...sharedFigures(figures),
    profile_views: figures.profileViews,
    list_views: figures.listViews,
  };
}

function topHosts(world: World, byHost: Map<number, Figures>) {
  return [...byHost]
    .filter(([, figures]) => totalClicks(figures) + figures.orders > 0)
    .sort(([, a], [, b]) => totalClicks(b) - totalClicks(a))
    .map(([place, figures]) => {
      const host = world.hosts[place];
      return { host: host ? hostRecord(host) : null, ...sharedFigures(figures) };
    });
}

function topProducts(world: World, figures: Figures, host: string | undefined) {
  const weights = world.catalog.products.map(
    (product, place) =>
      product.weight *
      (0.5 + unit(world.seed, topics.productShare, place + (host ? host.charCodeAt(0) * 50 : 0))),
  );
  const all = weights.reduce((sum, weight) => sum + weight, 0);
  return world.catalog.products
    .map((product, place) => {
      const part = (count: number) => Math.floor((count * (weights[place] ?? 0)) / all);
      const [productClicks, buyNow] = [part(figures.productClicks), part(figures.buyNow)];
      return {
        product_id: product.id,
        title: product.title,
        brand_name: product.brandName,
        total_clicks: productClicks + buyNow,
        product_clicks: productClicks,
        buy_now_clicks: buyNow,
        unique_buy_now_clicks: Math.min(buyNow, unique(part(figures.uniqueBuyNow), figures.days)),
      };
    })
    .filter((row) => row.total_clicks > 0)
    .sort((a, b) => b.total_clicks - a.total_clicks);
}
