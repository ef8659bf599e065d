import type { JsonObject } from "../../src/resources/types.js";
import type { Behaviour } from "../support/fake/behaviour.js";
import { clicksOf } from "../support/fake/figures.js";
import { isDated } from "./brand.js";
import { type Claims, type Range, readsOfDay } from "./claims.js";
import { isMisled, wasMisinformed } from "./misled.js";
import type { Version } from "./truth.js";
import type { RunEnd, World } from "./world.js";

const dayMs = 86_400_000;

/** How coarse a date is shown: where a record stands within this is not known to the reader. */
export function resolutionMs({ shows }: Behaviour): number {
  if (shows === "days" || shows === "mixed") return dayMs;
  if (shows === "minutes") return 60_000;
  return shows === "seconds" ? 1_000 : 1;
}

/** Whether there may be more than the API's totals say. */
export function isCapped({ mostCounted }: Behaviour): boolean {
  return Number.isFinite(mostCounted);
}

/** Whether what a run counted first can be of the instant at which the run before it ended. */
export function areTotalsLate({ api }: World): boolean {
  return api.behaviour.lags === "totals" || api.behaviour.lags === "both";
}

/** Whether the API's figures by day count this record, with its day among those they show. */
export function isShownByDay({ api, watched, now }: World, { keptAt, record }: Version): boolean {
  const { figures, cancelled } = api.behaviour;
  if (watched !== "orders" || figures === "absent") return false;
  if (cancelled === "out" && record.is_cancelled === true) return false;
  return figures === "all" || keptAt / 1_000 > now() - 89 * dayMs;
}

/**
 * A run that ends verified has seen all that the API offers as evidence: its counts of what is covered, and the
 * figures of days that moved since they were read. What moves neither is legitimately unseen.
 */
export function unseenEvidence(world: World, end: RunEnd, claims: Claims): string[] {
  if (!isDated(world.watched) || isMisled(world, end)) return [];
  return [...unseenCounts(world, end, claims), ...unseenFigures(world, end, claims)];
}

/** Filters whose meaning is that of the members; elsewhere what they count is not known. */
function countsOf({ watched, api }: World): [name: string, counts: (record: JsonObject) => boolean][] {
  const all: [string, (record: JsonObject) => boolean] = ["all", () => true];
  if (watched !== "orders") return [all];
  const { refunded, statuses } = api.behaviour;
  const isPlain = refunded === "fully" && statuses !== "partition";
  return [
    all,
    ["cancelled", (record) => record.is_cancelled === true],
    ...(isPlain ? [["refunded", (record) => record.is_refunded === true] satisfies typeof all] : []),
  ];
}

/**
 * How many records of a range nobody can place: without a date while the API lists those in every range, and one came,
 * got a date, lost it or left, so that no total moved; or where an end of the range cuts their date as it is shown.
 */
function unplaced(world: World, versions: readonly Version[], range: Range): number {
  const isUndated = ({ json, keptAt }: Version) => json !== null && Number.isNaN(keptAt);
  const wasAlways = (all: readonly Version[]) =>
    all.every(isUndated) && all[0]?.from === Number.NEGATIVE_INFINITY;
  const moved = [...world.truth.versions.values()].filter((all) => all.some(isUndated) && !wasAlways(all));
  const onTheEdge = new Set(
    versions.filter((version) => isOnTheEdge(world, version, range)).map(({ record }) => record.id),
  );
  return onTheEdge.size + (world.api.behaviour.undated === "everywhere" ? moved.length : 0);
}

function unseenCounts(world: World, end: RunEnd, { stretches, held }: Claims): string[] {
  const { truth, runs } = world;
  // Nothing else speaks of what a count that is wrong says as the mirror does.
  if (end.wrong.some(({ isCount }) => isCount)) return [];
  const before = areTotalsLate(world) ? [runs.at(-2)?.endedAt ?? Number.NEGATIVE_INFINITY] : [];
  const states = [...before, end.startedAt, ...changesIn(world, end)].map((at) => [...truth.at(at).values()]);
  const mine = present(held);
  const found: string[] = [];
  for (const range of stretches) {
    const { from, to } = range;
    // No count speaks of a stretch in which each instant is close to a record's, as it is shown.
    const shown = resolutionMs(world.api.behaviour);
    if (shown <= 1_000 && to - from < 4 * shown) continue;
    const isInside = ({ keptAt }: Version) => keptAt >= from * 1_000 && keptAt <= to * 1_000;
    const allowed = unplaced(world, [...mine, ...states.flat()], range);
    for (const [name, counts] of countsOf(world)) {
      const count = (versions: Version[]) =>
        versions.filter((version) => isInside(version) && counts(version.record)).length;
      const known = (state: Version[]) => Math.min(count(state), world.api.behaviour.mostCounted);
      if (!states.some((state) => Math.abs(known(state) - count(mine)) <= allowed))
        found.push(`verified, with ${count(mine)} ${name} where the API counts ${states.map(count)}`);
    }
  }
  return found;
}

/** Whether the API's filters and the date that is shown place a record on different sides of an end. */
export function isOnTheEdge({ api }: World, { keptAt }: Version, { from, to }: Range): boolean {
  const micros = resolutionMs(api.behaviour) * 1_000;
  const lowest = Math.floor(keptAt / micros) * micros;
  const isExact = micros === 1_000 && keptAt === lowest;
  return !isExact && [from * 1_000, to * 1_000].some((end) => lowest <= end && end < lowest + micros);
}

/**
 * A day whose figures moved after it was read, and of which the mirror still has what it had. `verify` can ask for those
 * of the last day up to where it was read.
 */
function unseenFigures(world: World, end: RunEnd, { readAt, held, stretches }: Claims): string[] {
  const { api, truth, runs } = world;
  const { figures, lags } = api.behaviour;
  if (world.watched !== "orders" || figures === "absent" || end.isBlind) return [];
  // What is shown first may be of before the change.
  if (lags === "figures" || lags === "both" || wasMisinformed(world, end)) return [];
  const last = end.job === "sync" ? Number.POSITIVE_INFINITY : (stretches.at(-1)?.to ?? 0);
  const isAsked = ({ keptAt }: Version) => keptAt <= last * 1_000;
  const at = (instant: number) => figuresOf(world, [...truth.at(instant).values()].filter(isAsked));
  const now = at(end.startedAt);
  const during = changesIn(world, end).map(at);
  const mine = figuresOf(world, present(held).filter(isAsked));
  const found: string[] = [];
  for (const key of new Set([...now.keys(), ...mine.keys()])) {
    const day = Date.parse(key);
    if ([now, ...during].some((then) => then.get(key) === mine.get(key))) continue;
    if (figures === "recent" && day < end.startedAt - 89 * dayMs) continue;
    const reads = readsOfDay(readAt, day, last);
    const known = reads.filter((read) => read !== undefined);
    const oldest = Math.min(...known);
    const run = runs.find(({ startedAt, endedAt }) => startedAt <= oldest && oldest <= endedAt);
    if (
      !run ||
      isMisled(world, run) ||
      known.length < reads.length ||
      known.some((read) => read >= end.startedAt)
    )
      continue;
    const before = changesIn(world, { ...run, endedAt: Math.max(...known) }).map(at);
    if (![at(run.startedAt), ...before].some((then) => then.get(key) === now.get(key)))
      found.push(`verified, and the figures of ${key} have moved since it was read`);
  }
  return found;
}

/** The figures of each day that has any; without the revenue where that moves by itself. */
function figuresOf({ api, now }: World, versions: readonly Version[]): Map<string, string> {
  const entries = versions.map(({ record, keptAt }) => ({ record, value: record, at: keptAt }));
  const behaviour = { ...api.behaviour, figures: "all", rates: "fixed", emptyDays: "missing" } as const;
  const { timeseries } = clicksOf(entries, {}, behaviour, now()) as unknown as {
    timeseries: { date: string; orders: number; revenue: number; subtotal_revenue: number }[];
  };
  return new Map(
    timeseries.map(({ date, orders, revenue, subtotal_revenue }) => [
      date,
      api.behaviour.rates === "fixed" ? [orders, revenue, subtotal_revenue].join() : String(orders),
    ]),
  );
}

function present(held: Claims["held"]): Version[] {
  return [...held.values()].flatMap(({ removedAt, version }) =>
    removedAt === null && version ? [version] : [],
  );
}

function changesIn(
  { truth }: World,
  { startedAt, endedAt }: Pick<RunEnd, "startedAt" | "endedAt">,
): number[] {
  return truth.changes.filter((at) => at > startedAt && at <= endedAt);
}
