import type { MonthFigures, Restatement, TriangleCell } from "../query/index.js";
import { chainLadder } from "./ladder.js";
import { dayName } from "./period.js";

/** What is still to be refunded of months that are young, by chain ladder. Amounts in the currency. */
export interface Outlook {
  currency: string | null;
  /** Since when this mirror sees refunds come, ISO 8601; null: no month was read to its end yet. */
  watched_since: string | null;
  /** The last month that was read to its end: refunds through it are what the prediction goes by. */
  through: string | null;
  /** The age in months up to which it looks; what comes later is not in it. */
  horizon: number;
  months: YoungMonth[];
  to_come: number;
  standard_error: number;
  /** Why nothing is predicted; null where something is. */
  why_none: string | null;
}

export interface YoungMonth {
  month: string;
  /** Refunded by the end of `through`. */
  refunded: number;
  /** What comes on top up to the horizon; null where nothing was refunded yet: the method multiplies what is there. */
  to_come: number | null;
  standard_error: number | null;
}

/** Each age is judged by at least so many months, and the prediction looks at least so many months ahead. */
const fewestMonths = 3;

/**
 * How much of a month was refunded at the end of each age: what is refunded now, less what was seen to come later. That
 * is known from when the mirror watched: a month's first complete read, or its beginning where it was watched by then.
 */
export function readOutlook(
  currency: string | null,
  months: readonly MonthFigures[],
  closed: readonly Restatement[],
  cells: readonly TriangleCell[],
): Outlook {
  const reported = new Map(closed.map(({ month, reported_at }) => [month, reported_at]));
  const through = [...reported.keys()].sort().at(-1) ?? null;
  const watched = [...reported.values()].sort()[0] ?? null;
  const none = {
    currency,
    watched_since: watched,
    through,
    horizon: 0,
    months: [],
    to_come: 0,
    standard_error: 0,
  };
  if (through === null || watched === null) return { ...none, why_none: "no month was read to its end yet" };
  const rows = months
    .filter((one) => one.currency === currency && one.month <= through)
    .flatMap((one) => {
      const at = reported.get(one.month);
      if (at === undefined) return [];
      const own = cells.filter((cell) => cell.currency === currency && cell.month === one.month);
      const from = knownFrom(one.month, at, watched);
      return [{ month: one.month, amounts: cumulative(one, own, from, monthsBetween(one.month, through)) }];
    });
  const horizon = horizonOf(rows.map(({ amounts }) => amounts));
  if (horizon < fewestMonths) {
    const since = `this mirror has watched refunds since ${dayName(watched)}`;
    const why = `${since}, and it takes ${fewestMonths} whole months or more of watching to tell how refunds grow`;
    return { ...none, why_none: why };
  }
  const ladder = chainLadder(rows.map(({ amounts }) => amounts.slice(0, horizon + 1)));
  const young = rows.flatMap(({ month, amounts }, index) => {
    const row = ladder.rows[index];
    if (!row || amounts.length > horizon) return [];
    const can = row.latest > 0;
    return [
      {
        month,
        refunded: cents(row.latest),
        to_come: can ? cents(row.reserve) : null,
        standard_error: can ? cents(row.standardError) : null,
      },
    ];
  });
  return {
    ...none,
    horizon,
    months: young,
    to_come: cents(ladder.total),
    standard_error: cents(ladder.totalError),
    why_none: null,
  };
}

/** The first age at whose end it was known what of a month is refunded. */
function knownFrom(month: string, reportedAt: string, watchedSince: string): number {
  const age = monthsBetween(month, reportedAt.slice(0, 7));
  return age <= 1 && watchedSince.slice(0, 7) <= month ? 0 : age;
}

function cumulative(
  { refunded_amount }: MonthFigures,
  cells: readonly TriangleCell[],
  from: number,
  to: number,
): (number | undefined)[] {
  return Array.from({ length: to + 1 }, (_, age) => {
    if (age < from) return undefined;
    const later = cells.filter(({ age_months }) => age_months > age);
    // Sums of cents are not exact: what is left over would be taken for money.
    return cents(refunded_amount - later.reduce((sum, cell) => sum + cell.refunded_amount, 0));
  });
}

/** How many ages in a row were seen to pass by enough months. */
function horizonOf(rows: readonly (readonly (number | undefined)[])[]): number {
  const passed = (age: number) =>
    rows.filter((row) => row[age] !== undefined && row[age + 1] !== undefined).length;
  let age = 0;
  while (passed(age) >= fewestMonths) age += 1;
  return age;
}

/** Calendar months from one to another, by their names. */
export function monthsBetween(from: string, to: string): number {
  const count = (month: string) => Number(month.slice(0, 4)) * 12 + Number(month.slice(5, 7));
  return count(to) - count(from);
}

/** A prediction has no more digits than a refund. */
function cents(amount: number): number {
  return Math.round(amount * 100) / 100;
}
