import { readInfo, writeInfo } from "../../mirror/info.js";
import type { Query } from "../../resources/types.js";
import { countConfirmed } from "../../state/removals.js";
import { countUndated } from "../../state/undated.js";
import { dayMs } from "../../times.js";
import type { SyncContext } from "../context.js";
import type { Goal } from "../plan.js";
import { countItems } from "../walk.js";
import { countsItsMember } from "./filter-meaning.js";

/**
 * Count probes: `total_items` of a range and a filter is one small request, and the mirror knows what it should be.
 * Where the two differ, the range is halved until the day is found.
 */

/** One filter to count by: all records, or those that a flag of the mirror should select. */
export interface CountCheck {
  name: string;
  query: Query;
  /** The bit of `records.flags`; 0 for all. */
  flags: number;
  /** The member that says of a record whether the filter should select it; null for all. */
  member: string | null;
}

/** A range in which the API's count is not the mirror's. */
export interface Difference extends Goal {
  check: string;
  api: number;
  mirror: number;
}

/** The check that every resource has. */
export const allRecords: CountCheck = { name: "all", query: {}, flags: 0, member: null };

/** The checks of a resource; those whose filter turned out to mean something else are left out. */
export function countChecks({ mirror, resource }: Pick<SyncContext, "mirror" | "resource">): CountCheck[] {
  const { strategy } = resource;
  if (strategy.kind !== "window") return [allRecords];
  const filters = strategy.counts.map(({ name, query, member }, bit) => ({
    name,
    query,
    flags: 1 << bit,
    member,
  }));
  return [
    allRecords,
    ...filters.filter(({ name }) => readInfo(mirror, unusable(resource.name, name)) === null),
  ];
}

/**
 * Compares the counts over a range, and finds the days where they differ. A filter that does not count what the API's
 * own records say means something else, and is not asked again.
 * @param isToRead the differences are to be read: a range that is read with fewer requests than its days are found with
 * is not divided further
 */
export async function findDifferences(
  context: SyncContext,
  range: Goal,
  checks: readonly CountCheck[] = countChecks(context),
  isToRead = false,
): Promise<Difference[]> {
  const found: Difference[] = [];
  for (const check of checks) {
    const api = await countItems(context, range.from, range.to, check.query);
    const mirror = countHere(context, range, check);
    if (api === mirror) continue;
    if (!(await meansItsFlag(context, check, range))) continue;
    found.push(...(await bisect(context, { check, isToRead }, range, { api, mirror })));
  }
  return found;
}

/**
 * Days on which a check differs, below a range whose counts are known already. What is not in the upper half is in the
 * lower one, on both sides: an end between the two would lose a date finer than its milliseconds.
 */
async function bisect(
  context: SyncContext,
  by: { check: CountCheck; isToRead: boolean },
  range: Goal,
  { api, mirror }: { api: number; mirror: number },
): Promise<Difference[]> {
  const { check, isToRead } = by;
  if (api === mirror) return [];
  const oldest = Number.isFinite(range.from) ? range.from : oldestDay(context, range);
  const days = Math.round((range.to + 1 - oldest) / dayMs);
  const pages = Math.ceil(countHere(context, range, allRecords) / 100);
  if (days <= 1 || (isToRead && pages <= Math.log2(days)))
    return [{ ...range, check: check.name, api, mirror }];
  const middle = startOfDay(oldest + Math.floor(days / 2) * dayMs);
  const lower = { from: range.from, to: middle - 1 };
  const upper = { from: middle, to: range.to };
  const inUpper = {
    api: await countItems(context, upper.from, upper.to, check.query),
    mirror: countHere(context, upper, check),
  };
  return [
    ...(await bisect(context, by, upper, inUpper)),
    ...(await bisect(context, by, lower, {
      api: api - inUpper.api,
      mirror: mirror - inUpper.mirror,
    })),
  ];
}

/** Whether the newest records of a range are counted by a filter as their own members say. */
async function meansItsFlag(context: SyncContext, check: CountCheck, range: Goal): Promise<boolean> {
  if (check.member === null || (await countsItsMember(context, check.query, check.member, range)))
    return true;
  setAside(context, check);
  return false;
}

/** A filter that means something else than its member proves nothing: it is not asked again, and a person is told once. */
export function setAside(context: SyncContext, check: CountCheck): void {
  context.reporter.note(
    `${context.resource.name}: the API's filter \`${check.name}\` does not count what its records say: it is not used as a proof`,
  );
  writeInfo(context.mirror, unusable(context.resource.name, check.name), "1");
}

function unusable(resource: string, check: string): string {
  return `unusable-count:${resource}:${check}`;
}

/** How many records the API should count in a range, by what the mirror holds. */
export function countHere(
  { mirror, resource }: SyncContext,
  range: Goal,
  { flags }: Pick<CountCheck, "flags">,
): number {
  // An exclusive end is sent a millisecond later: all of the last one is inside.
  const to = resource.strategy.kind === "increment" ? range.to + lastOfMs : range.to;
  const dated = countConfirmed(mirror, resource.name, { from: range.from, to }, flags);
  const isAll = !Number.isFinite(range.from) && !Number.isFinite(range.to);
  return isAll ? dated : dated + countUndated(mirror, resource.name, flags);
}

/** From a millisecond to its last instant, as finely as a number of milliseconds since 1970 tells. */
const lastOfMs = 0.9995;

/** Where bisecting begins when a range has no beginning: records older than any mirrored one are in its first half. */
function oldestDay({ mirror, resource }: SyncContext, range: Goal): number {
  const oldest = mirror.db
    .prepare("SELECT min(dated_at) FROM records WHERE resource = ? AND dated_at IS NOT NULL")
    .pluck()
    .get(resource.name) as number | null;
  return startOfDay(Math.min(oldest ?? range.to, range.to));
}

function startOfDay(ms: number): number {
  return Math.floor(ms / dayMs) * dayMs;
}
