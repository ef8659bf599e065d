import { type Range, startOfDay } from "../lib/ranges.js";
import { dayMs } from "../lib/times.js";

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
    const lower = splitHeaviest(lanes, share, 0);
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
  share: Share = null,
): AsyncGenerator<Found, void> {
  const step = async (lane: Lane, found: AsyncGenerator<Found, void>) => ({
    lane,
    found,
    result: await found.next(),
  });
  const running = new Map<Lane, { found: AsyncGenerator<Found, void>; next: ReturnType<typeof step> }>();
  const total = lanes.reduce((sum, lane) => sum + weigh(lane, share), 0);
  const go = (lane: Lane, found = open(lane)) => running.set(lane, { found, next: step(lane, found) });
  try {
    for (const lane of lanes) go(lane);
    while (running.size > 0) {
      const { lane, found, result } = await Promise.race([...running.values()].map(({ next }) => next));
      if (!result.done) {
        yield result.value;
        go(lane, found);
        continue;
      }
      running.delete(lane);
      const lower = lanes.length > 1 && splitHeaviest([...running.keys()], share, total / 20);
      if (lower) go(lower);
    }
  } finally {
    for (const { found, next } of running.values()) {
      next.catch(() => {});
      found.return().catch(() => {});
    }
  }
}

/** Takes the lower half of the heaviest lane; null where none is heavy enough, or can be cut. */
function splitHeaviest(lanes: readonly Lane[], share: Share, least: number): Lane | null {
  const [heaviest] = lanes.toSorted((a, b) => weigh(b, share) - weigh(a, share));
  if (!heaviest || weigh(heaviest, share) <= least) return null;
  const { from, to } = heaviest;
  const middle = middleOf(heaviest, share);
  if (!(middle > from && middle <= to)) return null;
  heaviest.from = middle;
  return { from, to: middle - 1 };
}

function weigh({ from, to }: Lane, share: Share): number {
  if (share === null) return to - from;
  let weight = 0;
  for (const [day, records] of share) if (day >= from && day <= to) weight += records;
  return weight;
}

/** The midnight that halves a lane: API dates are cut there, however fine they are. NaN where it has none. */
function middleOf({ from, to }: Lane, share: Share): number {
  if (share === null) return startOfDay(from + (to - from) / 2);
  const days = [...share].filter(([day]) => day >= from && day <= to).sort(([a], [b]) => a - b);
  let above = weigh({ from, to }, share) / 2;
  for (const [day, records] of days) {
    above -= records;
    if (above <= 0) return day + dayMs;
  }
  return Number.NaN;
}
