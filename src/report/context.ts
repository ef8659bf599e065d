import { dayOf } from "../lib/ranges.js";
import type { Mirror } from "../mirror/index.js";
import { type Days, type Figures, type Proof, readDays, readSums } from "../query/index.js";
import type { Numbers } from "./numbers.js";
import type { Period } from "./period.js";

/** What every section is made from. */
export interface Context {
  mirror: Mirror;
  period: Period;
  /** The days of the figures: the period's, as far as they are told. */
  days: Days;
  sums: { now: Figures[]; before: Figures[]; year_ago: Figures[] };
  /** Those of the period and the days before it, the one with the most orders first. */
  currencies: (string | null)[];
  /** How many more there are. */
  currencies_left_out: number;
  /** The end of what was read of the orders, milliseconds since 1970. */
  reached: number;
  proof: Proof;
  numbers: Numbers;
}

/** There are a few, unless the API sends any text as a currency. */
const mostCurrencies = 12;

export function openContext(
  mirror: Mirror,
  period: Period,
  { reached, proof, numbers }: Pick<Context, "reached" | "proof" | "numbers">,
): Context {
  const days = { since: period.since, until: period.through };
  const sums = {
    now: readSums(mirror, days),
    before: period.before ? readSums(mirror, period.before) : [],
    year_ago: period.year_ago ? readSums(mirror, period.year_ago) : [],
  };
  const orders = new Map<string | null, number>();
  for (const { currency, orders: count } of [...sums.now, ...sums.before])
    orders.set(currency, (orders.get(currency) ?? 0) + count);
  const name = (currency: string | null) => currency ?? "\uffff";
  const all = [...orders]
    .sort((a, b) => b[1] - a[1] || (name(a[0]) < name(b[0]) ? -1 : 1))
    .map(([currency]) => currency);
  const currencies = all.slice(0, mostCurrencies);
  const left = all.length - currencies.length;
  return { mirror, period, days, sums, currencies, currencies_left_out: left, reached, proof, numbers };
}

/** Returns the rows of one currency. */
export function of<Row extends { currency: string | null }>(
  rows: readonly Row[],
  currency: string | null,
): Row[] {
  return rows.filter((row) => row.currency === currency);
}

/** True if some order belongs to the period. */
export function hasOrders({ sums }: Context): boolean {
  return sums.now.length > 0;
}

/** Days without an order have no row: the chart needs them as zero. */
export function netByDay({ mirror }: Context, { since, until }: Days, currency: string | null): number[] {
  const rows = of(readDays(mirror, { since, until }), currency);
  const net = new Map(rows.map(({ day, net_amount }) => [day, net_amount]));
  const from = Date.parse(since);
  const count = (Date.parse(until) - from) / 86_400_000 + 1;
  return Array.from({ length: count }, (_, nth) => net.get(dayOf(from + nth * 86_400_000)) ?? 0);
}
