import { type Range, startOfDay } from "../ranges.js";
import { dayMs } from "../times.js";

/** A range of dates that is read downwards beside others; `to` is the newest instant that is still unread. */
export type Lane = Range;

/** How many records lie on each day, by its first millisecond; null: nobody knows, they are taken to lie evenly. */
export type Share = ReadonlyMap<number, number> | null;

const mostLanes = 4;
/** A lane costs up to a page more than its records: it has to be long to be worth one. */
const pagesPerLane = 40;

/** Cuts what is left of a range into lanes of as many records each, newest first. @param pages how many that takes */
export function newLanes(range: Range, pages: number, share: Share): [Lane, ...Lane[]] {
  const lanes: [Lane, ...Lane[]] = [{ ...range }];
  const wanted = Math.min(mostLanes, Math.floor(pages / pagesPerLane));
  while (lanes.length < wanted) {
    const lower = splitLongest(lanes, share, 0);
    if (!lower) break;
    lanes.push(lower);
  }
  return lanes;
}

/**
 * Runs lanes at once, and hands over what they find as it comes. One that runs dry takes half of the longest one left.
 * When it is left early, the lanes are ended.
 */
export async function* merge<Found>(
  lanes: readonly Lane[],
  open: (lane: Lane) => AsyncGenerator<Found, void>,
  share: Share | undefined,
): AsyncGenerator<Found, void> {
  const running = new Map<Lane, { found: AsyncGenerator<Found, void>; next: Promise<Step<Found>> }>();
  const total = weigh(lanes, share ?? null);
  const start = (lane: Lane) => {
    const found = open(lane);
    running.set(lane, { found, next: step(lane, found) });
  };
  try {
    for (const lane of lanes) start(lane);
    while (running.size > 0) {
      const { lane, result } = await Promise.race([...running.values()].map(({ next }) => next));
      const one = running.get(lane);
      if (result.done || !one) {
        running.delete(lane);
        const lower = lanes.length > 1 && splitLongest([...running.keys()], share ?? null, total / 20);
        if (lower) start(lower);
        continue;
      }
      yield result.value;
      one.next = step(lane, one.found);
    }
  } finally {
    for (const { found, next } of running.values()) {
      next.catch(() => {});
      found.return().catch(() => {});
    }
  }
}

interface Step<Found> {
  lane: Lane;
  result: IteratorResult<Found, void>;
}

async function step<Found>(lane: Lane, found: AsyncGenerator<Found, void>): Promise<Step<Found>> {
  return { lane, result: await found.next() };
}

/** Takes the lower half of the heaviest lane; null where none is heavy enough, or can be cut. */
function splitLongest(lanes: readonly Lane[], share: Share, least: number): Lane | null {
  const [longest] = lanes.toSorted((a, b) => weigh([b], share) - weigh([a], share));
  if (!longest || weigh([longest], share) <= least) return null;
  const cut = middleOf(longest, share);
  if (cut === null) return null;
  const lower = { from: longest.from, to: cut };
  longest.from = cut + 1;
  return lower;
}

function weigh(lanes: readonly Lane[], share: Share): number {
  return lanes.reduce((sum, { from, to }) => {
    if (share === null) return sum + (to - from);
    let weight = 0;
    for (const [day, records] of share) if (day >= from && day <= to) weight += records;
    return sum + weight;
  }, 0);
}

/** The end of a day that halves a lane; null where it has no such day. API dates are cut at midnight, however fine they are. */
function middleOf({ from, to }: Lane, share: Share): number | null {
  const cut = (share === null ? evenMiddle(from, to) : heavyMiddle({ from, to }, share)) - 1;
  return cut >= from && cut < to ? cut : null;
}

function evenMiddle(from: number, to: number): number {
  return startOfDay(from + (to - from) / 2);
}

function heavyMiddle({ from, to }: Lane, share: ReadonlyMap<number, number>): number {
  const days = [...share].filter(([day]) => day >= from && day <= to).sort(([a], [b]) => a - b);
  const half = days.reduce((sum, [, records]) => sum + records, 0) / 2;
  let below = 0;
  for (const [day, records] of days) {
    below += records;
    if (below >= half) return day + dayMs;
  }
  return Number.NaN;
}
