import { ConfigurationError } from "../../errors.js";
import { monthsOf, type Range, touches } from "../../lib/ranges.js";
import { presentKeys, presentRecords, sameJson, valueAt } from "../../records/index.js";
import type { Json, Monthly } from "../../resources/types.js";
import { dayNameOf } from "../figures.js";
import type { Points, SyncRun } from "../run.js";

/** What is asked for: all hosts or one, in buckets of a day, a week or a month. */
export interface Series {
  groupBy: string;
  hostId: string | null;
}

export type Month = Range & Series & { month: string };

export function isPlain({ groupBy, hostId }: Series): boolean {
  return groupBy === "day" && hostId === null;
}

/** Returns the series of a run: one, or one per host. */
export function seriesOf({ mirror, options }: SyncRun): Series[] {
  const ids = options.perHost ? presentKeys(mirror, "roster", "host.id") : options.hosts;
  if (options.perHost && ids.length === 0)
    throw new ConfigurationError("The mirror holds no roster, so there are no hosts to ask for.", {
      hint: "run `brandapi sync roster` first",
    });
  const hosts = ids.length > 0 ? [...new Set(ids)] : [null];
  return hosts.map((hostId) => ({ groupBy: options.groupBy, hostId }));
}

/**
 * Returns the months that a run reads. With `--since` or `--until`, those that are asked for; of a series of its own,
 * and with `--full`, every month since the first day that has points. Otherwise those that were never read, that the
 * window touched when they were last read, or whose points are not the mirror's.
 */
export function dueMonths(run: SyncRun<Monthly>, series: Series, points: Points): Month[] {
  const { now, options, state } = run;
  const { full, since, until = now, windowMs } = options;
  const moved = isPlain(series) ? movedMonths(run, points) : new Set<string>();
  // A month that lost all its activity may have no points any more.
  const days = [...points.keys(), ...moved].sort();
  const first = Math.max(state.floor() ?? Number.NEGATIVE_INFINITY, Date.parse(days[0] ?? "") || now);
  const oldest = since ?? (full ? Date.parse(days[0] ?? "") || now : first);
  const months = monthsOf({ from: Math.max(0, Math.min(oldest, until)), to: Math.min(until, now) });
  const readAt = (month: Range) => state.coverage().find((one) => touches(one, month))?.readAt ?? 0;
  const isDue = (month: Range & { month: string }) =>
    full ||
    since !== undefined ||
    !isPlain(series) ||
    moved.has(month.month) ||
    readAt(month) - windowMs <= month.to;
  return months.filter(isDue).map((month) => ({ ...month, ...series }));
}

/** Returns the months of which some day's point is not the mirror's. A day without activity may have zeros or no point. */
function movedMonths({ mirror, resource }: SyncRun<Monthly>, points: Points): Set<string> {
  const { figures } = resource.strategy;
  const mirrored = new Map<string, Json>();
  for (const { value } of presentRecords(mirror, resource.name, "/day/#0"))
    for (const point of (valueAt(value, ["timeseries"]) ?? []) as Json[])
      mirrored.set(dayNameOf(point, figures), point);
  const isMoved = (day: string) => {
    const [was, is] = [mirrored.get(day) ?? null, points.get(day) ?? null];
    return isIdle(was) ? !isIdle(is) : !sameJson(was, is);
  };
  const days = new Set([...mirrored.keys(), ...points.keys()]);
  return new Set([...days].filter(isMoved).map((day) => day.slice(0, 7)));
}

function isIdle(point: Json): boolean {
  return !Object.values(point ?? {}).some((figure) => typeof figure !== "boolean" && Number(figure));
}
