import {
  affectsAllResources,
  BrandapiError,
  isOutage,
  UnexpectedResponse,
  UnsafeResponse,
} from "../errors.js";
import type { DailyTotals } from "../resources/resource.js";
import type { DayTotals, TotalsByDay } from "../store/state/stored-totals.js";
import { amountsEqual } from "../util/amounts.js";
import { type Json, valueAt } from "../util/json-value.js";
import {
  clipRanges,
  clipToCompleteDays,
  contains,
  mergeRanges,
  overlaps,
  type Range,
  startOfDay,
} from "../util/ranges.js";
import { pluralize } from "../util/text.js";
import { dayMs, dayRange, formatInstant } from "../util/times.js";
import { daysSince1970 } from "../util/timestamp.js";
import { maxPerPage } from "./budget.js";
import type { DailyPoints, DatedRun, DatedSync, SyncRun } from "./session.js";

/** The response to the request for daily totals. */
export interface DailyTotalsResponse {
  /** The totals of the days with activity; null if the API returned none. */
  dailyTotals: TotalsByDay | null;
  /** The error of the request; null if it succeeded, or the API has no totals for this resource. */
  error: BrandapiError | null;
}

/**
 * Requests a resource's daily totals: one request for the complete history. Call it before anything is read, so that the
 * next run notices a change in the middle of the run.
 */
export async function requestDailyTotals(run: DatedRun): Promise<DailyTotalsResponse> {
  const { dailyTotals: declared } = run.resource.strategy;
  if (!declared) return { dailyTotals: null, error: null };
  try {
    const totals = [...(await requestDailyPoints(run, declared))].map(([day, point]): [string, DayTotals] => [
      day,
      totalsOf(point, declared),
    ]);
    const active = totals.filter(([, { amounts, count }]) => count !== 0 || amounts.some(Boolean));
    return { dailyTotals: new Map(active), error: null };
  } catch (error) {
    const isRefused = error instanceof UnsafeResponse || affectsAllResources(error);
    if (!(error instanceof BrandapiError) || isOutage(error) || isRefused) throw error;
    return { dailyTotals: null, error };
  }
}

function totalsOf(point: Json, declared: DailyTotals): DayTotals {
  const numberAt = (name: string) => Number(valueAt(point, [name])) || 0;
  return { count: numberAt(declared.count), amounts: declared.amounts.map(numberAt) };
}

/**
 * Warns that the API returned no daily totals; prints a note instead if it never has. Call it after the resource was
 * read.
 */
export function warnOfMissingTotals(
  { reporter, resource, state }: DatedRun,
  { message }: BrandapiError,
): void {
  const level = state.dailyTotals.all().size > 0 ? "warn" : "note";
  reporter[level](
    `${resource.name}: the API returned no daily totals, so a late change to an old record is found only when the audit reads it again (${message})`,
  );
}

/** Returns each day's point, keyed by day (`2026-01-31`). Resources that use the same points share one request. */
export async function requestDailyPoints(run: SyncRun, declared: DailyTotals): Promise<DailyPoints> {
  const points = run.dailyPoints.get(declared) ?? fetchDailyPoints(run, declared);
  run.dailyPoints.set(declared, points);
  return await points;
}

async function fetchDailyPoints(
  { api, readUntil, resource }: SyncRun,
  declared: DailyTotals,
): Promise<DailyPoints> {
  const query = { ...declared.query, end_date: formatInstant(readUntil) };
  const { data } = await api.get(declared.path, query, resource.scope);
  const list = valueAt(data, [declared.points]);
  if (!Array.isArray(list))
    throw new UnexpectedResponse(`The API's response to ${declared.path} has no \`${declared.points}\`.`);
  const days = list.map((point: Json): [string, Json] => [dayOfPoint(point, declared), point]);
  return new Map(days.filter(([day]) => daysSince1970(day) !== undefined));
}

/** Returns the day of a point: `2026-01-31`. */
export function dayOfPoint(point: Json, { day }: DailyTotals): string {
  return String(valueAt(point, [day])).slice(0, "2026-01-31".length);
}

/** Deletes the stored daily totals of changed days: after a partial read of a day, they no longer match its records. */
export function dropDailyTotals({ state }: DatedRun, changed: Range): void {
  state.dailyTotals.replace(daysOf(changed), new Map());
}

/** Stores the daily totals of the days that this run has read completely. Call it in the transaction that completes them. */
export function storeDailyTotals({ dailyTotals, id, state }: DatedSync, coveredRange: Range): void {
  const read = mergeRanges(state.coverage().filter(({ runId }) => runId === id));
  const around = read.filter((one) => overlaps(one, coveredRange));
  const [part] = clipRanges(around, daysOf(coveredRange));
  if (dailyTotals && part) state.dailyTotals.replace(clipToCompleteDays(part), dailyTotals);
}

function daysOf({ from, to }: Range): Range {
  return { from: startOfDay(from), to: startOfDay(to) + dayMs - 1 };
}

/** The API's daily totals, and which of them a run compares. */
export interface ComparedTotals {
  /** Null if the API returned none. */
  dailyTotals: TotalsByDay | null;
  /** True if the amounts of most days changed at once but no record did: then only the numbers of records are compared. */
  ignoresAmounts: boolean;
}

/** Returns the covered days whose totals differ from those stored at their last reading, oldest first. */
export function changedDays(
  { state }: Pick<DatedRun, "state">,
  { dailyTotals, ignoresAmounts }: ComparedTotals,
): string[] {
  if (!dailyTotals) return [];
  const stored = state.dailyTotals.all();
  const covered = mergeRanges(state.coverage());
  const isChanged = (day: string) => {
    const [before, now] = [stored.get(day), dailyTotals.get(day)];
    return !hasSameCount(before, now) || (!ignoresAmounts && !hasSameAmounts(before, now));
  };
  const days = [...new Set([...stored.keys(), ...dailyTotals.keys()])];
  return days.filter((day) => isChanged(day) && contains(covered, dayRange(day))).sort();
}

/** A day without totals has no records. */
function hasSameCount(a: DayTotals | undefined, b: DayTotals | undefined): boolean {
  return (a?.count ?? 0) === (b?.count ?? 0);
}

function hasSameAmounts(a: DayTotals | undefined, b: DayTotals | undefined): boolean {
  const [first, second] = [a?.amounts ?? [], b?.amounts ?? []];
  const longer = first.length > second.length ? first : second;
  return longer.every((_, index) => amountsEqual(first[index] ?? 0, second[index] ?? 0));
}

/** Merges days into ranges, least recently read first. Adjacent days whose records fit on one page become one range. */
export function groupDays({ state }: Pick<DatedRun, "state">, days: readonly string[]): Range[] {
  const ranges = days.map(dayRange).reduce<Range[]>((joined, day) => {
    const last = joined.at(-1);
    const isNear =
      last && (day.from - last.to <= 1 || state.count({ from: last.from, to: day.to }) < maxPerPage);
    if (isNear) last.to = day.to;
    else joined.push(day);
    return joined;
  }, []);
  const readAt = (range: Range) =>
    Math.min(...state.coverage().flatMap((one) => (overlaps(one, range) ? one.readAt : [])));
  return ranges.sort((a, b) => readAt(a) - readAt(b));
}

/** The days whose amounts changed since they were read, but whose number of records did not. */
export interface AmountDrift {
  days: string[];
  /** The number of days that have both stored and current totals. */
  compared: number;
}

/** The maximum number of records in a sample of old days, which has at least one day. */
const maxSampledRecords = 500;

/**
 * Returns the days on which only the amounts changed if they are more than half of the comparable days; otherwise null.
 * Amounts converted from another currency change on every day at once, while the records stay the same.
 */
export function findAmountDrift(
  { state }: Pick<DatedRun, "state">,
  dailyTotals: TotalsByDay | null,
): AmountDrift | null {
  const covered = mergeRanges(state.coverage());
  const days: string[] = [];
  let compared = 0;
  for (const [day, stored] of state.dailyTotals.all()) {
    const now = dailyTotals?.get(day);
    if (now === undefined || !contains(covered, dayRange(day))) continue;
    compared += 1;
    if (hasSameCount(stored, now) && !hasSameAmounts(stored, now)) days.push(day);
  }
  return days.length > compared / 2 ? { days: days.sort(), compared } : null;
}

/**
 * Returns the oldest of these days as ranges, because old records rarely change but drifting amounts change everywhere.
 */
export function sampleOldest(run: Pick<DatedRun, "state">, days: readonly string[]): Range[] {
  const sample: string[] = [];
  let records = 0;
  for (const day of days) {
    records += run.state.count(dayRange(day));
    if (sample.length > 0 && records > maxSampledRecords) break;
    sample.push(day);
  }
  return groupDays(run, sample);
}

/** Returns why amounts were not compared, as a clause. */
export function driftText({ compared, days }: AmountDrift): string {
  return `amounts were not compared: they changed on ${days.length} of ${pluralize(compared, "day")} at once, without a change of records in the oldest of them`;
}
