import { maxPerPage } from "../api/pagination.js";
import { BrandapiError, failureScope, UnexpectedResponse, UnsafeResponse } from "../errors.js";
import type { DatedStrategy, TotalsSource } from "../resources/resource.js";
import { countCurrent, openRecordComparison, recordKey } from "../store/records.js";
import { addNotice } from "../store/schema-issues.js";
import type { DayTotals, SyncState, TotalsByDay } from "../store/sync-state.js";
import { pluralize } from "../util/format-text.js";
import { type Json, valueAt } from "../util/json-value.js";
import { amountsEqual } from "../util/numbers.js";
import { contains, dayRange, mergeRanges, overlaps, type TimeRange } from "../util/time-ranges.js";
import { daysSince1970, formatInstant } from "../util/timestamps.js";
import { rangeQuery } from "./dates.js";
import { readList } from "./read-list.js";
import type { DatedRun, DatedSession, RawTotalsByDay, ResourceRun, ResourceSession } from "./run.js";

interface DailyTotalsResponse {
  apiTotals: TotalsByDay | null;
  error: BrandapiError | null;
}

/**
 * Requests the daily totals for the whole history. Must be called before any record is read, so that the next run
 * detects changes made during this run.
 */
export async function requestDailyTotals(session: DatedSession): Promise<DailyTotalsResponse> {
  const { totalsSource } = session.resource.strategy;
  if (!totalsSource) return { apiTotals: null, error: null };
  try {
    const totals = [...(await requestRawTotals(session, totalsSource))].map(
      ([day, raw]): [string, DayTotals] => [day, readTotals(raw, totalsSource)],
    );
    const active = totals.filter(([, { amounts, count }]) => count !== 0 || amounts.some(Boolean));
    return { apiTotals: new Map(active), error: null };
  } catch (error) {
    if (!(error instanceof BrandapiError) || error instanceof UnsafeResponse) throw error;
    if (failureScope(error) !== "resource") throw error;
    return { apiTotals: null, error };
  }
}

/** @throws UnexpectedResponse if a day's object has no count, because the day would otherwise look idle */
function readTotals(raw: Json, { amountFields, countField, path }: TotalsSource): DayTotals {
  const count = Number(valueAt(raw, [countField]));
  if (Number.isNaN(count))
    throw new UnexpectedResponse(`The API's response to ${path} has a day without \`${countField}\`.`);
  return { count, amounts: amountFields.map((name) => Number(valueAt(raw, [name])) || 0) };
}

/**
 * Warns that the API returned no daily totals. If the API has never returned any, prints a note instead of a warning.
 */
export function warnOfMissingTotals(
  { reporter, resource, state }: DatedSession,
  { message }: BrandapiError,
): void {
  const level = state.storedTotals.all().size > 0 ? "warn" : "note";
  reporter[level](
    `${resource.name}: the API returned no daily totals, so a late change to an old record is found only when the audit re-reads the record (${message})`,
  );
}

/** Returns the daily totals as the API returns them, from the session's cache if possible. */
export async function requestRawTotals(
  { api, cachedTotals, readUntil, resource }: ResourceSession,
  totalsSource: TotalsSource,
): Promise<RawTotalsByDay> {
  const { path, totalsField } = totalsSource;
  const cached = cachedTotals.get(path);
  if (cached) return cached;
  const query = { ...totalsSource.query, end_date: formatInstant(readUntil) };
  const { data } = await api.get(path, query, resource.scope);
  const list = valueAt(data, [totalsField]);
  if (!Array.isArray(list))
    throw new UnexpectedResponse(`The API's response to ${path} has no \`${totalsField}\`.`);
  const days = list.map((raw: Json): [string, Json] => [readDay(raw, totalsSource), raw]);
  const rawTotals = new Map(days.filter(([day]) => daysSince1970(day) !== undefined));
  cachedTotals.set(path, rawTotals);
  return rawTotals;
}

export function readDay(raw: Json, { dayField }: TotalsSource): string {
  return String(valueAt(raw, [dayField])).slice(0, "2026-01-31".length);
}

/**
 * Returns the covered days whose totals have changed since they were last read, oldest first.
 * @param options.ignoresAmounts true to compare only record counts, because the amounts have drifted on most days
 */
export function findChangedDays(
  state: SyncState,
  apiTotals: TotalsByDay | null,
  { ignoresAmounts }: { ignoresAmounts: boolean },
): string[] {
  if (!apiTotals) return [];
  const stored = state.storedTotals.all();
  const covered = mergeRanges(state.coverage());
  const isChanged = (day: string) => {
    // A day without stored totals is treated as idle. If the API reports activity on that day, the day counts as
    // changed until a run has read all of it and stored its totals.
    const [before, now] = [stored.get(day), apiTotals.get(day)];
    return !hasSameCount(before, now) || (!ignoresAmounts && !hasSameAmounts(before, now));
  };
  const days = [...new Set([...stored.keys(), ...apiTotals.keys()])];
  return days.filter((day) => isChanged(day) && contains(covered, dayRange(day))).sort();
}

function hasSameCount(a: DayTotals | undefined, b: DayTotals | undefined): boolean {
  return (a?.count ?? 0) === (b?.count ?? 0);
}

function hasSameAmounts(a: DayTotals | undefined, b: DayTotals | undefined): boolean {
  const [first, second] = [a?.amounts ?? [], b?.amounts ?? []];
  const longer = first.length > second.length ? first : second;
  return longer.every((_, index) => amountsEqual(first[index] ?? 0, second[index] ?? 0));
}

/**
 * Groups days into ranges, so that reading them takes fewer requests: adjacent days, and days whose records fit on one
 * page. The least recently read ranges come first.
 */
export function groupDays(state: SyncState, days: readonly string[]): TimeRange[] {
  const ranges: TimeRange[] = [];
  for (const day of days.map(dayRange)) {
    const last = ranges.at(-1);
    const joined = { from: last?.from ?? day.from, to: day.to };
    if (last && (day.from - last.to <= 1 || state.count(joined) < maxPerPage)) last.to = day.to;
    else ranges.push(day);
  }
  const coverage = state.coverage();
  const readAt = (range: TimeRange) =>
    Math.min(...coverage.flatMap((part) => (overlaps(part, range) ? part.readAt : [])));
  return ranges.sort((a, b) => readAt(a) - readAt(b));
}

/**
 * A change in the amounts for most days, but not in the record counts. This happens when the API converts amounts from
 * another currency and the exchange rate moves. If no record in a sample of these days has changed, the run stops
 * comparing amounts.
 */
export interface AmountDrift {
  days: string[];
  /** The number of days whose totals were compared. */
  compared: number;
}

/** The maximum number of records in a sample. A sample of a single day may have more. */
const maxSampledRecords = 500;

export function findAmountDrift(state: SyncState, apiTotals: TotalsByDay | null): AmountDrift | null {
  const covered = mergeRanges(state.coverage());
  const days: string[] = [];
  let compared = 0;
  for (const [day, stored] of state.storedTotals.all()) {
    const now = apiTotals?.get(day);
    if (now === undefined || !contains(covered, dayRange(day))) continue;
    compared += 1;
    if (hasSameCount(stored, now) && !hasSameAmounts(stored, now)) days.push(day);
  }
  // If the amounts changed on only a few days, the cause may be changed records.
  return days.length > compared / 2 ? { days: days.sort(), compared } : null;
}

/** Selects the oldest of the given days, because old records rarely change. */
export function selectOldest(state: SyncState, days: readonly string[]): TimeRange[] {
  const sample: string[] = [];
  let records = 0;
  for (const day of days) {
    records += state.count(dayRange(day));
    if (sample.length > 0 && records > maxSampledRecords) break;
    sample.push(day);
  }
  return groupDays(state, sample);
}

/**
 * Returns true if the amounts changed although the records did not. To find out, compares a sample: the oldest of the
 * drifting days that this run has not read yet. Returns false at once if the sample would contain all of these days,
 * because the caller can then re-read them like any other changed days.
 */
export async function confirmDrift(run: DatedRun, drift: AmountDrift): Promise<boolean> {
  const { apiTotals, state } = run;
  // The days that this run has read no longer differ, because their new totals have been stored.
  const stillDiffering = new Set(findChangedDays(state, apiTotals, { ignoresAmounts: false }));
  const days = drift.days.filter((day) => stillDiffering.has(day));
  const sample = selectOldest(state, days);
  if (days.every((day) => contains(sample, dayRange(day)))) return false;
  return await isSampleUnchanged(run, sample);
}

/** True if the API and the mirror have the same records in the given ranges. Writes nothing. */
export async function isSampleUnchanged(
  run: ResourceRun<DatedStrategy>,
  sample: readonly TimeRange[],
): Promise<boolean> {
  const { mirror, resource } = run;
  const compare = openRecordComparison(mirror, resource);
  for (const range of sample) {
    const list = await readList(run, { query: rangeQuery(resource.strategy, range) });
    const records = [...list.records.values()].map(({ record }) => record);
    const isSame = records.every(
      (record, position) => compare(record, recordKey(resource, record, position)) === "same",
    );
    if (!list.isComplete || !isSame || records.length !== countCurrent(mirror, resource.name, range))
      return false;
  }
  return true;
}

export function warnOfDrift(
  { clock, mirror, reporter, resource }: DatedRun,
  { compared, days }: AmountDrift,
): void {
  const at = formatInstant(clock.now());
  if (mirror.transaction(() => addNotice(mirror, `drift:${resource.name}`, at)))
    reporter.warn(
      `${resource.name}: the API's amounts for ${days.length} of ${pluralize(compared, "day")} changed at once, although no ` +
        "record from the oldest of these days has changed. This happens when the API converts amounts from another currency. " +
        "Runs then compare counts instead, and detect a change to an old amount only when the audit re-reads the record " +
        "(`--audit`)",
    );
}

export function describeDrift({ compared, days }: AmountDrift): string {
  return `amounts were not compared, because those for ${days.length} of ${pluralize(compared, "day")} changed at once, although no record from the oldest of these days has changed`;
}
