import { maxPerPage } from "../api/pagination.js";
import { BrandapiError, failureScope, UnexpectedResponse, UnsafeResponse } from "../errors.js";
import type { TotalsSource } from "../resources/resource.js";
import type { DayTotals, SyncState, TotalsByDay } from "../store/sync-state.js";
import { type Json, valueAt } from "../util/json-value.js";
import { amountsEqual } from "../util/numbers.js";
import { dayRange, isWithinOneOf, mergeRanges, overlaps, type TimeRange } from "../util/time-ranges.js";
import { formatInstant, isCalendarDate } from "../util/timestamps.js";
import type { DatedSession, RawTotalsByDay, ResourceSession } from "./session.js";

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
      ([day, raw]): [string, DayTotals] => [day, parseTotals(raw, totalsSource)],
    );
    const active = totals.filter(([, { amounts, count }]) => count !== 0 || amounts.some(Boolean));
    return { apiTotals: new Map(active), error: null };
  } catch (error) {
    if (!(error instanceof BrandapiError) || error instanceof UnsafeResponse) throw error;
    if (failureScope(error) !== "resource") throw error;
    return { apiTotals: null, error };
  }
}

/** @throws UnexpectedResponse if a day's object has no count, because the day would otherwise be treated as idle */
function parseTotals(raw: Json, { amountFields, countField, path }: TotalsSource): DayTotals {
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
  const level = state.storedTotals.load().size > 0 ? "warn" : "note";
  reporter[level](
    `${resource.name}: the API returned no daily totals, so a late change to an old record is found only when the audit re-reads the record (${message})`,
  );
}

/**
 * Returns the daily totals in the API's format, from the session's cache if possible. The cached totals may end
 * slightly earlier than this resource's date range. In that case, the next run finds that the last day has changed.
 */
export async function requestRawTotals(
  { api, cachedTotals, readableUntil, resource }: ResourceSession,
  totalsSource: TotalsSource,
): Promise<RawTotalsByDay> {
  const { path, totalsField } = totalsSource;
  const cached = cachedTotals.get(path);
  if (cached) return cached;
  const query = { ...totalsSource.query, end_date: formatInstant(readableUntil) };
  const { data } = await api.get(path, query, resource.scope);
  const list = valueAt(data, [totalsField]);
  if (!Array.isArray(list))
    throw new UnexpectedResponse(`The API's response to ${path} has no \`${totalsField}\`.`);
  const days = list.map((raw: Json): [string, Json] => [parseDay(raw, totalsSource), raw]);
  const rawTotals = new Map(days.filter(([day]) => isCalendarDate(day)));
  cachedTotals.set(path, rawTotals);
  return rawTotals;
}

export function parseDay(raw: Json, { dayField }: TotalsSource): string {
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
  const stored = state.storedTotals.load();
  const covered = mergeRanges(state.loadCoverage());
  const isChanged = (day: string) => {
    // A day without stored totals is treated as idle. If the API reports activity on that day, the day counts as
    // changed until a run has read all of it and stored its totals.
    const [before, now] = [stored.get(day), apiTotals.get(day)];
    return !hasSameCount(before, now) || (!ignoresAmounts && !hasSameAmounts(before, now));
  };
  const days = [...new Set([...stored.keys(), ...apiTotals.keys()])];
  return days.filter((day) => isChanged(day) && isWithinOneOf(dayRange(day), covered)).sort();
}

export function hasSameCount(a: DayTotals | undefined, b: DayTotals | undefined): boolean {
  return (a?.count ?? 0) === (b?.count ?? 0);
}

export function hasSameAmounts(a: DayTotals | undefined, b: DayTotals | undefined): boolean {
  const [first, second] = [a?.amounts ?? [], b?.amounts ?? []];
  const longer = first.length > second.length ? first : second;
  return longer.every((_, index) => amountsEqual(first[index] ?? 0, second[index] ?? 0));
}

/**
 * Groups days into ranges, so that reading them takes fewer requests. Days are grouped if they are adjacent or if all
 * records in the resulting range fit on one page. Returns the least recently read ranges first.
 */
export function groupDays(state: SyncState, days: readonly string[]): TimeRange[] {
  const ranges: TimeRange[] = [];
  for (const day of days.map(dayRange)) {
    const last = ranges.at(-1);
    const joined = { from: last?.from ?? day.from, to: day.to };
    if (last && (day.from - last.to <= 1 || state.count(joined) < maxPerPage)) last.to = day.to;
    else ranges.push(day);
  }
  const coverage = state.loadCoverage();
  const oldestRead = (range: TimeRange) =>
    Math.min(...coverage.flatMap((part) => (overlaps(part, range) ? part.requestedAt : [])));
  return ranges.sort((a, b) => oldestRead(a) - oldestRead(b));
}
