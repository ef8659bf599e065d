import type { JsonObject } from "../../../src/resources/types.js";
import type { Behaviour } from "./behaviour.js";
import { mixed, rangeOf } from "./dates.js";
import type { Asked, Entry } from "./lists.js";

const dayMs = 86_400_000;
const recentDays = 90;
const mostBuckets = 4_000;

/** What orders come to: of a bucket of the time series, of a host, or of all. */
export interface Figures {
  orders: number;
  revenue: number;
  subtotal_revenue: number;
}

const sales = { member: "order_date", from: "start_date", until: "end_date", end: "inclusive" } as const;
const noClicks = {
  total_clicks: 0,
  product_clicks: 0,
  buy_now_clicks: 0,
  unique_buy_now_clicks: 0,
  unique_sessions: 0,
};
const noViews = { profile_views: 0, list_views: 0 };

/** `data` of /analytics/clicks: its orders and revenue follow from the orders, nobody clicks. */
export function clicksOf(
  orders: readonly Entry[],
  asked: Asked,
  behaviour: Behaviour,
  now: number,
): JsonObject {
  const isInRange = rangeOf(asked, sales, behaviour);
  const counted = orders.filter(
    ({ at, value }) =>
      isInRange(at) &&
      (asked.host_id === undefined || hostIdOf(value) === asked.host_id) &&
      !(behaviour.cancelled === "out" && value.is_cancelled === true),
  );
  const buckets = bucketsOf(counted, asked, behaviour, now);
  return {
    summary: {
      ...noClicks,
      ...noViews,
      product_views: 0,
      opportunity_clicks: 0,
      unique_users: 0,
      ...sumOf(counted, behaviour, now),
      conversion_rate: 0,
      manual_orders: counted.filter(({ value }) => value.attribution === "manual").length,
    },
    timeseries: buckets.map(([date, figures]) => ({
      date,
      ...noClicks,
      ...noViews,
      ...figures,
      conversion_rate: 0,
    })),
    top_hosts: topHosts(counted, behaviour, now).slice(0, Number(asked.limit ?? 20)),
    top_products: [],
  };
}

function bucketsOf(
  counted: readonly Entry[],
  asked: Asked,
  behaviour: Behaviour,
  now: number,
): [string, Figures & JsonObject][] {
  const start = (ms: number) => startOf(ms, asked.group_by ?? "day");
  const oldest = behaviour.figures === "recent" ? now - recentDays * dayMs : Number.NEGATIVE_INFINITY;
  const groups = new Map<number, Entry[]>();
  for (const entry of counted) {
    const bucket = start(entry.at / 1_000);
    if (!Number.isNaN(bucket) && bucket >= oldest) groups.set(bucket, [...(groups.get(bucket) ?? []), entry]);
  }
  if (behaviour.emptyDays === "zero" && groups.size > 0) {
    const first = Math.max(Math.min(...groups.keys()), now - mostBuckets * dayMs);
    for (let day = first; day <= now; day += dayMs) if (!groups.has(start(day))) groups.set(start(day), []);
  }
  return [...groups]
    .sort(([a], [b]) => a - b)
    .map(([bucket, entries]) => [isoDay(bucket), { ...sumOf(entries, behaviour, now) }]);
}

/** The start of the bucket that holds an instant; weeks begin on Mondays. */
function startOf(ms: number, group: string): number {
  const day = Math.floor(ms / dayMs) * dayMs;
  if (group === "day" || Number.isNaN(day)) return day;
  const date = new Date(day);
  if (group === "month") return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
  return day - ((date.getUTCDay() + 6) % 7) * dayMs;
}

function sumOf(entries: readonly Entry[], behaviour: Behaviour, now: number): Figures {
  const sum = { orders: entries.length, revenue: 0, subtotal_revenue: 0 };
  for (const { at, value } of entries) {
    const refund = behaviour.revenue === "net" ? Number(value.refund_amount ?? 0) : 0;
    const rate = rateOf(at, behaviour, now);
    sum.revenue += rate * (Number(value.total_amount ?? 0) - refund);
    sum.subtotal_revenue += rate * Math.max(0, Number(value.subtotal_amount ?? 0) - refund);
  }
  return { ...sum, revenue: inCents(sum.revenue), subtotal_revenue: inCents(sum.subtotal_revenue) };
}

/** Four days in five have sales in a currency whose rate moves by the hour. */
function rateOf(at: number, { rates }: Behaviour, now: number): number {
  const day = isoDay(at / 1_000);
  if (rates === "fixed" || mixed(day, 3) % 5 === 0) return 1;
  return 1 + (mixed("rate", Math.floor(now / 3_600_000)) % 1_000) / 20_000;
}

function topHosts(counted: readonly Entry[], behaviour: Behaviour, now: number): JsonObject[] {
  const groups = new Map<string | null, Entry[]>();
  for (const entry of counted)
    groups.set(hostIdOf(entry.value), [...(groups.get(hostIdOf(entry.value)) ?? []), entry]);
  return [...groups.values()].map((entries) => ({
    host: entries[0]?.value.host ?? null,
    ...noClicks,
    ...sumOf(entries, behaviour, now),
    conversion_rate: 0,
  }));
}

function hostIdOf({ host }: JsonObject): string | null {
  return typeof host === "object" && host !== null && !Array.isArray(host) ? String(host.id) : null;
}

function isoDay(ms: number): string {
  return Number.isFinite(ms) ? new Date(ms).toISOString().slice(0, 10) : "";
}

function inCents(amount: number): number {
  return Math.round(amount * 100) / 100;
}
