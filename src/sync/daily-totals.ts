import { ApiUnavailable, BrandapiError, ResponseRejected, UnexpectedResponse } from "../errors.js";
import type { DailyTotals } from "../resources/resource.js";
import { isFirstNotice } from "../store/columns.js";
import { valueAt } from "../store/values.js";
import { amountsEqual } from "../util/amounts.js";
import type { Json } from "../util/json-value.js";
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
import { readRange } from "./read.js";
import { affectsAllResources, type DailyPoints, type DatedRun, maxPerPage, type SyncRun } from "./session.js";
import { changesOf } from "./write.js";

/**
 * Requests a resource's daily totals: one request for the complete history. Call it before anything is read, so that a
 * change in the middle of the run shows the next time.
 * @returns each day's totals as text, without days that have none; null if the API does not return any
 */
export async function requestDailyTotals(run: DatedRun): Promise<ReadonlyMap<string, string> | null> {
  const { reporter, resource, state } = run;
  const { dailyTotals: declared } = resource.strategy;
  if (!declared) return null;
  try {
    const days = new Map<string, string>();
    for (const [day, point] of await requestDailyPoints(run, declared)) {
      const names = [declared.count, ...declared.amounts];
      const totals = names.map((name) => Number(valueAt(point, [name])) || 0);
      if (totals.some(Boolean)) days.set(day, JSON.stringify(totals));
    }
    return days;
  } catch (error) {
    const isDown = error instanceof ApiUnavailable && error.everywhere;
    const isRefused = error instanceof ResponseRejected || affectsAllResources(error);
    if (!(error instanceof BrandapiError) || isDown || isRefused) throw error;
    const level = state.dailyTotals().size > 0 ? "warn" : "note";
    reporter[level](
      `${resource.name}: the API gave no figures by day: a late change to an old record shows only when it is read again in turn (${error.message})`,
    );
    return null;
  }
}

/** Returns the points of every day by its name (`2026-01-31`). Resources that go by the same points ask once a run. */
export async function requestDailyPoints(run: SyncRun, declared: DailyTotals): Promise<DailyPoints> {
  const points = run.dailyPoints.get(declared) ?? fetchDailyPoints(run, declared);
  run.dailyPoints.set(declared, points);
  return await points;
}

async function fetchDailyPoints(
  { api, now, resource }: SyncRun,
  declared: DailyTotals,
): Promise<DailyPoints> {
  const query = { ...declared.query, end_date: formatInstant(now) };
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

/** Drops the figures of the days that changed: if only a part of a day was read, its records are not those of its figures. */
export function dropDailyTotals({ state }: DatedRun, changed: Range): void {
  state.replaceDailyTotals(daysOf(changed), new Map());
}

/** Keeps the figures of the days that this run has read whole, in the transaction that covers what made them whole. */
export function storeDailyTotals({ dailyTotals, row, state }: DatedRun, covers: Range): void {
  const read = mergeRanges(state.coverage().filter(({ runId }) => runId === row.run_id));
  const around = read.filter((one) => overlaps(one, covers));
  const [part] = clipRanges(around, daysOf(covers));
  if (dailyTotals && part) state.replaceDailyTotals(clipToCompleteDays(part), dailyTotals);
}

function daysOf({ from, to }: Range): Range {
  return { from: startOfDay(from), to: startOfDay(to) + dayMs - 1 };
}

/** Returns the covered days whose totals differ from those stored at their last reading, oldest first. */
export function changedDays({
  dailyTotals,
  ignoresAmounts,
  state,
}: Pick<DatedRun, "dailyTotals" | "ignoresAmounts" | "state">): string[] {
  if (!dailyTotals) return [];
  const stored = state.dailyTotals();
  const covered = mergeRanges(state.coverage());
  const differs = (day: string) => {
    const difference = compareTotals(stored.get(day), dailyTotals.get(day));
    return difference.count || (difference.amounts && !ignoresAmounts);
  };
  const days = [...new Set([...stored.keys(), ...dailyTotals.keys()])];
  return days.filter((day) => differs(day) && contains(covered, dayRange(day))).sort();
}

/** Tells what differs between a day's stored totals and the API's; undefined for a day without totals. */
export function compareTotals(
  a: string | undefined,
  b: string | undefined,
): { count: boolean; amounts: boolean } {
  if (a === b) return { count: false, amounts: false };
  const [count = 0, ...amounts] = parseTotals(a);
  const [otherCount = 0, ...others] = parseTotals(b);
  const length = Math.max(amounts.length, others.length);
  const isSame = (nth: number) => amountsEqual(amounts[nth] ?? 0, others[nth] ?? 0);
  const nths = Array.from({ length }, (_, nth) => nth);
  return { count: count !== otherCount, amounts: !nths.every(isSame) };
}

function parseTotals(text: string | undefined): number[] {
  return text === undefined ? [] : (JSON.parse(text) as number[]);
}

/** Returns days as ranges, oldest reading first. Days whose records fit on one page are read together. */
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

/** The days whose amounts changed since they were read, although their number of records did not. */
export interface AmountDrift {
  days: string[];
  /** How many days have totals of both readings. */
  compared: number;
}

/** A sample of old days has at most this many records, but at least one day. */
const maxSampledRecords = 500;

/**
 * Returns the days of which only the amounts changed, if they are more than half of all days that can be compared;
 * otherwise null. Amounts converted from another currency change on every day at once, without a change of records.
 */
export function findAmountDrift({ dailyTotals, state }: DatedRun): AmountDrift | null {
  const covered = mergeRanges(state.coverage());
  const days: string[] = [];
  let compared = 0;
  for (const [day, stored] of state.dailyTotals()) {
    const now = dailyTotals?.get(day);
    if (now === undefined || !contains(covered, dayRange(day))) continue;
    compared += 1;
    const { amounts, count } = compareTotals(stored, now);
    if (amounts && !count) days.push(day);
  }
  return days.length > compared / 2 ? { days: days.sort(), compared } : null;
}

/** Returns the oldest of some days as ranges: old records rarely change, so a change of all amounts at once shows there. */
export function sampleOldest(run: DatedRun, days: readonly string[]): Range[] {
  const sample: string[] = [];
  let records = 0;
  for (const day of days) {
    records += run.state.count(dayRange(day));
    if (sample.length > 0 && records > maxSampledRecords) break;
    sample.push(day);
  }
  return groupDays(run, sample);
}

/**
 * Reads the oldest days whose amounts changed. If no record of them changed, the amounts say nothing about records: the
 * run then compares the number of records of each day, and no amounts.
 * @param drift what `findAmountDrift` returned before the run read anything
 * @param left requests that may still be spent
 */
export async function ignoreDrift(run: DatedRun, drift: AmountDrift, left: () => number): Promise<void> {
  const { clock, mirror, reporter, resource } = run;
  const stillChanged = new Set(changedDays(run));
  const days = drift.days.filter((day) => stillChanged.has(day));
  if (days.length === 0) return;
  const ranges = sampleOldest(run, days);
  const before = differencesIn(run);
  for (const range of ranges) await readRange(run, range, left);
  const unread = changedDays(run).filter((day) => stillChanged.has(day));
  const isSampleRead = !unread.some((day) => contains(ranges, dayRange(day)));
  if (unread.length === 0 || !isSampleRead || differencesIn(run) !== before) return;
  run.ignoresAmounts = true;
  const { name } = resource;
  const at = formatInstant(clock.now());
  if (mirror.transaction(() => isFirstNotice(mirror, `drift:${name}`, at)))
    reporter.warn(
      `${name}: the API's amounts changed on ${drift.days.length} of ${pluralize(drift.compared, "day")} at once, but no record of the oldest of these days did. Amounts that are converted from another currency change like this. Such runs compare counts instead, and find a change of an old amount when they read it again in turn (\`--audit\`)`,
    );
}

/** Says why amounts were not compared, as a clause. */
export function driftText({ compared, days }: AmountDrift): string {
  return `amounts were not compared: they changed on ${days.length} of ${pluralize(compared, "day")} at once, without a change of records in the oldest of them`;
}

function differencesIn(run: DatedRun): number {
  return changesOf(run) + run.state.missing.all().length;
}
