import { presentRecords, sameJson, valueAt } from "../../records/index.js";
import type { Json, Monthly } from "../../resources/types.js";
import { dayNameOf } from "../figures.js";
import type { Points, SyncRun } from "../run.js";

/** A mirrored day's point, and what the API gives for the day; null: nothing. */
interface Day {
  /** `2026-01-31`. */
  day: string;
  mirrored: Json;
  given: Json;
}

/** What the API's days say of those that the mirror's months hold. */
export interface Comparison {
  /** Months of which some day came, or is no longer what it was. */
  moved: string[];
  /** Mirrored days on which something happened, and how many of them are idle by now. */
  known: number;
  gone: number;
}

/** @param points each day's, by its name */
export function* compareMonths(run: SyncRun<Monthly>, points: Points["days"]): Generator<void, Comparison> {
  const moved = new Set<string>();
  const first = firstDay(points) ?? "";
  let [known, gone] = [0, 0];
  for (const days of mirroredDays(run, points)) {
    for (const { day, given, mirrored } of days) {
      const [was, is] = [!isIdle(mirrored), !isIdle(given)];
      if (was && day >= first) known += 1;
      if (was && day >= first && !is) gone += 1;
      if (was !== is || (is && !sameJson(given, mirrored))) moved.add(monthOf(day));
    }
    yield;
  }
  return { moved: [...moved], known, gone };
}

/**
 * Months of which the mirror's days have other figures than the API gives for them, up to a day.
 * @param last what is later may have grown since
 */
export function* contradicted(
  run: SyncRun<Monthly>,
  points: Points["days"],
  last: string,
): Generator<void, string[]> {
  const { figures } = run.resource.strategy.figures;
  const first = firstDay(points) ?? "";
  const found = new Set<string>();
  for (const days of mirroredDays(run, points)) {
    for (const { day, given, mirrored } of days) {
      const figure = (point: Json, name: string) => Number(valueAt(point, [name]) ?? 0);
      // Sums of the same amounts differ in their last digits.
      const differs = (name: string) => !(Math.abs(figure(given, name) - figure(mirrored, name)) < 0.005);
      if (day >= first && day <= last && figures.some(differs)) found.add(monthOf(day));
    }
    yield;
  }
  return [...found];
}

/** The days of each mirrored month, those that the API gives and the mirror has not included. */
function* mirroredDays({ mirror, resource }: SyncRun<Monthly>, points: Points["days"]): Generator<Day[]> {
  const given = new Map<string, [string, Json][]>();
  for (const [day, point] of points)
    given.set(monthOf(day), [...(given.get(monthOf(day)) ?? []), [day, point]]);
  for (const { key, value } of presentRecords(mirror, resource.name, "/day/#0")) {
    const month = monthOf(key);
    const days = new Map<string, Json>();
    const list = valueAt(value, ["timeseries"]);
    for (const point of Array.isArray(list) ? (list as Json[]) : []) {
      const day = dayNameOf(point, resource.strategy.figures);
      // An answer may have zeros for days that nobody asked for.
      if (monthOf(day) === month) days.set(day, point);
    }
    const others = (given.get(month) ?? []).filter(([day]) => !days.has(day));
    yield [
      ...[...days].map(([day, mirrored]) => ({ day, mirrored, given: points.get(day) ?? null })),
      ...others.map(([day, point]) => ({ day, mirrored: null, given: point })),
    ];
  }
}

/** The first day that the API gives: of those before it says nothing. Undefined: it gives none, and says so of all. */
export function firstDay(points: Points["days"]): string | undefined {
  return [...points.keys()].sort()[0];
}

function monthOf(day: string): string {
  return day.slice(0, 7);
}

/** A day on which nothing happened: the API may leave it out, or give zeros. */
export function isIdle(point: Json): boolean {
  return !Object.values(point ?? {}).some((figure) => typeof figure !== "boolean" && Number(figure));
}
