import { ConfigurationError } from "../../errors.js";
import { gaps, monthsOf, type Range, touches } from "../../lib/ranges.js";
import { dayMs } from "../../lib/times.js";
import { presentKeys } from "../../records/index.js";
import { openProgress, type Progress, readCoverage } from "../../state/index.js";
import { freshMs } from "../plan.js";
import { believedFloor, type Points, type SyncRun } from "../run.js";
import { firstDay } from "./moved-months.js";

/** What is counted: all hosts or one, in buckets of a day, a week or a month. */
export interface Series {
  groupBy: string;
  hostId: string | null;
}

export type Month = ReturnType<typeof monthsOf>[number] & Series;

export function seriesOf({ mirror, options }: SyncRun): Series[] {
  const ids = options.perHost ? presentKeys(mirror, "roster", "host.id") : options.hosts;
  if (options.perHost && ids.length === 0)
    throw new ConfigurationError("The mirror holds no roster, so there are no hosts to ask for.", {
      hint: "run `brandapi sync roster` first",
    });
  const hosts = ids.length > 0 ? [...new Set(ids)] : [null];
  return hosts.map((hostId) => ({ groupBy: options.groupBy, hostId }));
}

export function runningMonth(now: number, series: Series): Month[] {
  return monthsOf({ from: now, to: now }).map((one) => ({ ...one, ...series }));
}

/** Coverage is kept a series; the plain one is the resource's own. */
export function coverageName({ resource }: SyncRun, series: Series): string {
  const { groupBy, hostId } = series;
  return isPlain(series) ? resource.name : `${resource.name}/${groupBy}/${hostId ?? ""}`;
}

export function isPlain({ groupBy, hostId }: Series): boolean {
  return groupBy === "day" && hostId === null;
}

/** What is remembered of a series. */
export function progressOf(run: SyncRun, series: Series): Progress {
  return openProgress(run.mirror, coverageName(run, series));
}

/** Since when a `--full` of a series has been under way: for a day, one that was stopped is gone on with. */
export function begunAtOf(run: SyncRun, series: Series): number {
  const begunAt = progressOf(run, series).goal()?.begunAt ?? run.now;
  return begunAt <= run.now && run.now - begunAt <= dayMs ? begunAt : run.now;
}

/** The oldest date that was ever asked for, this run included. */
export function floorOf(run: SyncRun): number {
  const { full, since } = run.options;
  if (full) return Number.NEGATIVE_INFINITY;
  const asked = believedFloor(run);
  if (since === undefined) return asked ?? Number.NEGATIVE_INFINITY;
  const [oldest] = readCoverage(run.mirror, run.resource.name);
  return Math.min(since, asked ?? oldest?.from ?? since);
}

function firstDayOf(points: Points["days"]): number {
  const first = firstDay(points);
  return first === undefined ? Number.POSITIVE_INFINITY : Date.parse(first);
}

/** What no run has read, from the first month that is wanted to the last that was read. */
export function unreadMonths({ mirror, now, resource }: SyncRun, { floor, points }: Wanted): Range[] {
  const read = readCoverage(mirror, resource.name);
  const [first] = monthsOf({ from: Math.max(0, floor, firstDayOf(points)), to: now });
  return first ? gaps([{ from: first.from - 1, to: first.from - 1 }, ...read]) : gaps(read);
}

/** What is known before months are asked for. */
export interface Wanted {
  /** The oldest date that was ever asked for. */
  floor: number;
  /** Each day's figures, by its name; none where nobody asked. */
  points: Points["days"];
  /** Months of which the mirror's days are no longer what they are. */
  moved: readonly string[];
}

/** The months that a series' run reads, and how many a `--full` that was stopped has read for it. */
interface Due {
  months: Month[];
  here: number;
}

/**
 * Months that were not read yet, that the window touched when they were read last, or that moved: from the first that
 * the mirror holds or `--since` names, and from the first day there is, though not before the floor.
 */
export function dueMonths(run: SyncRun, series: Series, { floor, points, moved }: Wanted): Due {
  const { mirror, now, options } = run;
  const covered = readCoverage(mirror, coverageName(run, series));
  const { full, since, until = now, windowMs } = options;
  const mirrored = covered[0]?.from ?? Number.POSITIVE_INFINITY;
  // A series of its own is asked for from the first day there is once, and then goes on.
  const isSought = isPlain(series) || full || covered.length === 0;
  const lowest = isPlain(series) ? floor : Number.NEGATIVE_INFINITY;
  const known = isSought ? Math.max(lowest, firstDayOf(points)) : Number.POSITIVE_INFINITY;
  const begunAt = full ? begunAtOf(run, series) : now;
  // What a clock that was ahead has read is not believed to be of that time.
  const readAt = ({ from, to }: Range) =>
    covered.find((one) => one.from <= from && one.to >= to && one.readAt <= now)?.readAt ?? 0;
  const isInWindow = (one: Range) => readAt(one) - windowMs <= one.to;
  // One host after the other takes long: what is as fresh as this was read by a run that was stopped.
  const isFresh = (one: Range) => readAt(one) >= now - freshMs;
  const isHere = (one: Range) => full && readAt(one) >= begunAt && (!isInWindow(one) || isFresh(one));
  const isDue = (one: Range & { month: string }) => {
    const isMoved = moved.includes(one.month);
    const isAsked = one.from <= until && one.to >= (since ?? one.to);
    // What is known to differ is read, whatever was asked for.
    if (!isAsked) return isMoved && covered.some((read) => touches(read, one));
    if (isMoved || since !== undefined) return true;
    return full ? !isHere(one) : isInWindow(one) && (isPlain(series) || !isFresh(one));
  };
  // What is dated before 1970 is a mistake: no months are asked for because of it.
  const all = monthsOf({ from: Math.max(0, Math.min(mirrored, known, since ?? known)), to: now });
  const months = all.filter(isDue).map((one) => ({ ...one, ...series }));
  return { months, here: all.filter((one) => isHere(one) && !isDue(one)).length };
}
