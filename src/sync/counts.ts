import { firstPageOf } from "../api/pages.js";
import { type Range, startOfDay } from "../lib/ranges.js";
import { dayMs } from "../lib/times.js";
import type { Count, Query } from "../resources/types.js";
import { rangeQuery } from "./first-page.js";
import { type DatedRun, pagesFor, type SyncRun } from "./run.js";

/** What is counted: all records, or those that a filter selects and that have its bit in the mirror. */
export interface Check extends Pick<Count, "name" | "query"> {
  flags: number;
}

/** A range in which the API counts another number than the mirror. */
export interface Difference extends Range {
  check: Check;
  api: number;
  mirror: number;
}

export const allRecords: Check = { name: "all", query: {}, flags: 0 };

/** `total_items` of a list: one request for one record. Source: the API document, "Pagination object". */
export async function countListed(
  { api, resource, signal }: Pick<SyncRun, "api" | "resource" | "signal">,
  query: Query,
): Promise<number> {
  const asked = { ...resource.query, ...query, page: 1, per_page: 1 };
  const answer = await api.get(resource.path, asked, { scope: resource.scope, signal });
  return firstPageOf(resource.path, answer).pagination.total_items;
}

/** How many records the API has of a range. */
export async function countItems(
  run: Pick<DatedRun, "api" | "resource" | "signal">,
  range: Range,
  query: Query = {},
): Promise<number> {
  return await countListed(run, { ...rangeQuery(run.resource.strategy, range), ...query });
}

/**
 * Whether the two parts of a range have as many records as the API says the whole of it has: a total that is capped does
 * not add up. Records without a date are in each range, or in none.
 * @param middle an instant that has records on both sides
 */
export async function addsUp(
  run: Pick<DatedRun, "api" | "resource" | "signal">,
  { from, to }: Range,
  middle: number,
  { total, undated }: { total: number; undated: number },
): Promise<boolean> {
  const lower = await countItems(run, { from, to: middle - 1 });
  const upper = await countItems(run, { from: middle, to });
  return Math.abs(lower + upper - total) === undated;
}

/** Compares one count over a range, away from records at its ends: the API may keep finer dates than it shows. */
export async function compare(run: DatedRun, range: Range, check: Check): Promise<Difference | null> {
  const quiet = run.state.quiet(range);
  if (quiet.from > quiet.to) return null;
  const api = await countItems(run, quiet, check.query);
  const mirror = run.state.count(quiet, check.flags);
  return api === mirror ? null : { ...quiet, check, api, mirror };
}

/**
 * Halves a range in which a count differs, newest first, until a part is small enough.
 * @param left requests that may still be spent; when there are none, the part at hand is as small as it gets
 * @param isEnough of a part, its days and the mirror's records in it: whether that is small enough; otherwise a day is
 */
export async function* narrow(
  run: DatedRun,
  difference: Difference,
  left: () => number,
  isEnough: (days: number, pages: number) => boolean = () => false,
): AsyncGenerator<Difference, void> {
  const { check, from, to } = difference;
  const { state } = run;
  const oldest = Number.isFinite(from) ? from : startOfDay(Math.min(state.oldest(difference) ?? to, to));
  const newest = Number.isFinite(to) ? to : Math.max(run.now, oldest);
  const days = Math.ceil((newest + 1 - oldest) / dayMs);
  const middle = startOfDay(oldest + (newest - oldest) / 2 + dayMs / 2);
  const isWhole = days <= 1 || middle <= oldest || middle > newest;
  if (isWhole || left() <= 0 || isEnough(days, pagesFor(state.count(difference)))) return yield difference;
  const upper = { from: middle, to };
  const inUpper = { api: await countItems(run, upper, check.query), mirror: state.count(upper, check.flags) };
  // The lower half is what is left. Asked for by itself, it could lack a date finer than a millisecond between the two.
  const inLower = { api: difference.api - inUpper.api, mirror: difference.mirror - inUpper.mirror };
  for (const half of [
    { ...upper, ...inUpper, check },
    { from, to: middle - 1, ...inLower, check },
  ])
    if (half.api !== half.mirror) yield* narrow(run, half, left, isEnough);
}

/** What can be compared: all records, and the filters that are not set aside. */
export function checksOf({ now, resource, state }: DatedRun): Check[] {
  const { counts = [] } = resource.strategy;
  const filters = counts.map(({ name, query }, bit) => ({ name, query, flags: 1 << bit }));
  return [allRecords, ...filters.filter(({ name }) => !state.isSetAside(name, now))];
}
