import { type Covered, holds, join, type Range, subtract, within } from "../lib/ranges.js";
import { dayMs } from "../lib/times.js";
import type { Goal } from "../state/index.js";
import type { SyncOptions } from "./run.js";

/** What a run reads, and what stays unread. */
interface DatedPlan {
  /** Newest first. */
  ranges: Range[];
  /** What the run sets out to have read; kept until it has. */
  goal: Goal;
  /** The oldest date that was ever asked for, this run included. */
  floor: number;
  /** Down to where everything is read then: the floor, unless a stopped run never came down to it, or there is a gap. */
  lowest: number;
  /** What lies between the floor and the newest of what was read, and is still unread afterwards. */
  gaps: Range[];
}

/** What a resource's sync remembers, as far as a plan depends on it. */
export interface Before {
  coverage: readonly Covered[];
  goal: Goal | null;
  floor: number | null;
}

/** What was read no longer ago than this counts as read by a run that goes on with a stopped one. */
export const freshMs = 3_600_000;

/**
 * Decides what to read: pure.
 * A plain run begins at the end of what was read, less the window, and never below the floor; it reads the gaps too,
 * each with the window below it. What a stopped run had still to read is read with it.
 */
export function planDated(before: Before, options: Asked, now: number): DatedPlan {
  const plain = wantedRanges(before, options, now);
  const untilNow = { from: Number.NEGATIVE_INFINITY, to: now };
  // A clock that was ahead began it in the future; what was read then counts as read right before now.
  const stopped = before.goal && {
    ranges: within(before.goal.ranges, untilNow),
    begunAt: Math.min(before.goal.begunAt, now - 1),
  };
  const goal = stopped && goesOn(stopped, plain, options, now) ? stopped : null;
  const wanted = goal && isPlain(options) ? join([...goal.ranges, ...plain]) : plain;
  const floor = Math.min(
    before.floor ?? Number.POSITIVE_INFINITY,
    wanted[0]?.from ?? Number.POSITIVE_INFINITY,
  );
  const ranges = goal ? leftOf(goal, wanted, before.coverage, options.windowMs, now) : wanted;
  const reached = within(ranges, untilNow);
  const read = join([...before.coverage, ...ranges]);
  const newest = read.at(-1);
  return {
    ranges: ranges.toReversed(),
    goal: nextGoal(before.goal, goal, reached, now),
    floor,
    lowest: newest?.from ?? floor,
    gaps: newest ? subtract([{ from: floor, to: newest.to }], read) : [],
  };
}

type Asked = Pick<SyncOptions, "since" | "until" | "full" | "windowMs">;

function wantedRanges({ coverage, floor }: Before, options: Asked, now: number): Range[] {
  const { full, since, until, windowMs } = options;
  const oldest = floor ?? Number.NEGATIVE_INFINITY;
  const unread = subtract([{ from: oldest, to: Number.POSITIVE_INFINITY }], coverage);
  // The window is counted from the last instant that was read.
  const plain = join(unread.map(({ from, to }) => ({ from: Math.max(oldest, from - 1 - windowMs), to })));
  if (isPlain(options)) return plain;
  const from = full ? Number.NEGATIVE_INFINITY : (since ?? plain[0]?.from ?? oldest);
  // What is dated ahead is read by whoever reads up to now: an order may have been moved there.
  const to = until === undefined || until >= now ? Number.POSITIVE_INFINITY : until;
  // Of what lies before all that was read, `--until` alone asks for nothing.
  return from <= to ? [{ from, to }] : [];
}

function isPlain({ full, since, until }: Asked): boolean {
  return !full && since === undefined && until === undefined;
}

/** Whether a run goes on with what a stopped one had set out to read: a plain one does, and one for a part of it. */
function goesOn({ begunAt, ranges }: Goal, wanted: readonly Range[], options: Asked, now: number): boolean {
  if (isPlain(options)) return true;
  const newest = ranges.at(-1)?.to ?? Number.NEGATIVE_INFINITY;
  const isPart = wanted.every(({ from, to }) => holds(ranges, { from, to: Math.min(to, newest) }));
  // Who asks for a range wants it read: what was read long ago does not count.
  return isPart && now - begunAt <= dayMs;
}

/** What a stopped run left of what is wanted, what has come since, and the window, unless it was read just now. */
function leftOf(
  { begunAt }: Goal,
  wanted: readonly Range[],
  coverage: readonly Covered[],
  windowMs: number,
  now: number,
): Range[] {
  const readSince = (since: number) => coverage.filter(({ readAt }) => readAt >= since && readAt <= now);
  const newest = coverage.at(-1)?.to ?? Number.NEGATIVE_INFINITY;
  const top = within(wanted, { from: newest - windowMs, to: Number.POSITIVE_INFINITY });
  return join([
    ...subtract(wanted, readSince(begunAt)),
    ...subtract(top, readSince(Math.max(begunAt, now - freshMs))),
  ]);
}

/** What a run that is stopped leaves to the next: nothing that an earlier one left is forgotten. */
function nextGoal(before: Goal | null, resumed: Goal | null, reached: readonly Range[], now: number): Goal {
  if (resumed) {
    const ranges = join([...resumed.ranges, ...reached]);
    return { ranges, begunAt: resumed.begunAt };
  }
  const isOther = before !== null && subtract(before.ranges, reached).length > 0;
  return isOther ? before : { ranges: reached, begunAt: now };
}
