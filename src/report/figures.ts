import { ConfigurationError } from "../errors.js";
import { dayOf, dayRange } from "../lib/ranges.js";
import { dayMs, formatInstant } from "../lib/times.js";
import { type Mirror, readInfo, type UnderWay } from "../mirror/index.js";
import {
  type Campaign,
  type Clicks,
  countHosts,
  type DayFigures,
  type Days,
  type Delivered,
  type Figures,
  layDays,
  layOrders,
  type MonthFigures,
  type Proof,
  type RestatedOrder,
  type Restatement,
  type RosterChange,
  readCampaigns,
  readClickCoverage,
  readClicks,
  readClosedMonths,
  readCovered,
  readDays,
  readDelivered,
  readMonths,
  readProof,
  readReached,
  readRestatedOrders,
  readRosterChanges,
  readShares,
  readSums,
  readTriangle,
  type Share,
  type ShownRange,
  type TriangleCell,
} from "../query/index.js";
import { type Outlook, readOutlook } from "./outlook.js";
import { choosePeriod, daysOfMonth, isRead, type Period } from "./period.js";

/** How the brand does, in a few figures. Times are ISO 8601, days UTC. */
export interface Sales {
  /** Up to when the mirror read the orders. */
  reached: string;
  period: Period;
  /** The one with the most orders first, and how many there are besides. */
  currencies: (string | null)[];
  currencies_untold: number;
  sales: { now: Figures[]; before: Figures[] };
}

/** All that a report tells: what the page, the text and `--json` are made of; its currencies are those of all months. */
export interface Report extends Sales {
  brand: string | null;
  made_at: string;
  /** None where there are more than anybody reads. */
  days: { now: DayFigures[]; before: DayFigures[] };
  /** The last thirteen, the period's last month included. */
  months: (MonthFigures & { is_read: boolean })[];
  restated: { since: string; months: Restatement[]; orders: RestatedOrder[] };
  triangle: TriangleCell[];
  outlook: Outlook[];
  hosts: {
    counts: { currency: string | null; hosts: number }[];
    made: Share[];
    moved: Share[];
    roster: RosterChange[];
  };
  products: Share[];
  clicks: { now: Clicks | null; before: Clicks | null };
  campaigns: Campaign[];
  content: Delivered[];
  /** Whether all was read that these are told of: what was not is no zero. */
  is_read: { clicks: boolean; campaigns: boolean; content: boolean };
  proof: Proof;
}

export const monthsTold = 13;
const daysTold = 93;
/** There are a few, unless what should be a currency is anything. */
const currenciesTold = 12;
/** The views have all of them: hosts and products of each currency, restated orders of all together. */
const most = { hosts: 8, products: 6, orders: 16 };

/**
 * Of the month of the last whole day that was read; null where no order was. Call it inside `withSnapshot`, as the other:
 * all figures are of one state of the mirror.
 */
export function salesOf(mirror: Mirror): Sales | null {
  const reached = readReached(mirror);
  if (reached === null) return null;
  layDays(mirror);
  const { covered } = readProof(mirror, reached, null);
  const period = choosePeriod({ since: undefined, until: undefined }, Date.parse(reached), covered);
  return readSales(mirror, period, reached);
}

/**
 * @param asked milliseconds since 1970, as is `now`
 * @param underWay the run that holds the mirror
 * @throws ConfigurationError where no order was ever read, or none of that time
 */
export function reportOf(
  mirror: Mirror,
  asked: { since: number | undefined; until: number | undefined },
  now: number,
  underWay: UnderWay | null,
): Report {
  const reached = readReached(mirror);
  if (reached === null)
    throw new ConfigurationError(`The mirror holds no orders yet: ${mirror.path}`, {
      hint: "run `brandapi sync orders` first",
    });
  const proof = readProof(mirror, reached, underWay);
  const period = choosePeriod(asked, Date.parse(reached), proof.covered);
  if (period.since > dayOf(Date.parse(reached)))
    throw new ConfigurationError(
      `Orders were read through ${reached.slice(0, 10)}: nothing is known from ${period.since} on.`,
      {
        hint: "ask for an earlier time, or run `brandapi sync orders` first",
      },
    );
  layDays(mirror);
  layOrders(mirror, period, period.before);
  return readReport(mirror, readSales(mirror, period, reached), proof, formatInstant(now));
}

function readSales(mirror: Mirror, period: Period, reached: string): Sales {
  const { before } = period;
  const sales = { now: readSums(mirror, period), before: before.is_read ? readSums(mirror, before) : [] };
  return { reached, period, ...currenciesOf([...sales.now, ...sales.before], []), sales };
}

function readReport(mirror: Mirror, inShort: Sales, proof: Proof, madeAt: string): Report {
  const { period, sales, reached } = inShort;
  const all = readMonths(mirror);
  const since = monthsBefore(period.until, monthsTold - 1);
  const months = all
    .filter(({ month }) => month >= since && month <= period.until.slice(0, 7))
    .map((one) => ({ ...one, is_read: isRead(proof.covered, daysOfMonth(one.month), Date.parse(reached)) }));
  const closed = readClosedMonths(mirror);
  const triangle = readTriangle(mirror);
  const told = currenciesOf([...sales.now, ...sales.before], months);
  const { currencies } = told;
  // What else is synced is read before the orders are.
  const isReadBy = (covered: ShownRange[], days: Days) => isRead(covered, days, Date.parse(reached) - dayMs);
  const clicksRead = readClickCoverage(mirror);
  const wasRead = {
    clicks: isReadBy(clicksRead, period),
    campaigns: proof.read.some(({ resource, at }) => resource === "opportunities" && at !== null),
    content: isReadBy(readCovered(mirror, "content"), period),
  };
  const hasDays = daysBetween(period.since, period.through) <= daysTold;
  return {
    ...inShort,
    ...told,
    brand: readInfo(mirror, "brand_name"),
    made_at: madeAt,
    days: hasDays
      ? {
          now: readDays(mirror, period),
          before: period.before.is_read ? readDays(mirror, period.before) : [],
        }
      : { now: [], before: [] },
    months,
    restated: {
      since,
      months: closed.filter(
        ({ month, currency, difference }) =>
          month >= since && difference !== 0 && currencies.includes(currency),
      ),
      orders: readRestatedOrders(mirror, since, Math.max(3, Math.floor(most.orders / currencies.length))),
    },
    triangle: triangle.filter(({ month }) => month >= since),
    outlook: currencies.map((currency) => readOutlook(currency, all, closed, triangle)),
    hosts: {
      counts: countHosts(mirror),
      made: readShares(mirror, "hosts", "made", most.hosts),
      moved: period.before.is_read ? readShares(mirror, "hosts", "moved", most.hosts) : [],
      roster: readRosterChanges(mirror, period),
    },
    products: readShares(mirror, "products", "made", most.products),
    clicks: {
      now: readClicks(mirror, period),
      before:
        wasRead.clicks && isReadBy(clicksRead, period.before) ? readClicks(mirror, period.before) : null,
    },
    campaigns: readCampaigns(mirror),
    content: readDelivered(mirror, period),
    is_read: wasRead,
    proof,
  };
}

function currenciesOf(
  sums: readonly Figures[],
  months: readonly MonthFigures[],
): Pick<Sales, "currencies" | "currencies_untold"> {
  const orders = new Map<string | null, number>();
  for (const { currency } of months) orders.set(currency, 0);
  for (const { currency, orders: count } of sums) orders.set(currency, (orders.get(currency) ?? 0) + count);
  const byName = ([one]: [string | null, number], [other]: [string | null, number]) =>
    (one ?? "\uffff") < (other ?? "\uffff") ? -1 : 1;
  const all = [...orders].sort((a, b) => b[1] - a[1] || byName(a, b)).map(([currency]) => currency);
  const currencies = all.slice(0, currenciesTold);
  return { currencies, currencies_untold: all.length - currencies.length };
}

function daysBetween(since: string, until: string): number {
  return (dayRange(until).to + 1 - dayRange(since).from) / dayMs;
}

/** The month so many months before a day's. */
export function monthsBefore(day: string, count: number): string {
  const at = new Date(`${day.slice(0, 7)}-01T00:00:00.000Z`);
  at.setUTCMonth(at.getUTCMonth() - count);
  return at.toISOString().slice(0, 7);
}

/** The currencies of the period and the time before it. */
export function currenciesNow({ currencies, sales }: Sales): (string | null)[] {
  return currencies.filter((currency) => of([...sales.now, ...sales.before], currency).length > 0);
}

/** The rows of one currency. */
export function of<Row extends { currency: string | null }>(
  rows: readonly Row[],
  currency: string | null,
): Row[] {
  return rows.filter((row) => row.currency === currency);
}
