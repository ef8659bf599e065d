/** What the rate budget allows: at most `perMinute` requests in any 60 seconds, bursts within it. */
const windowMs = 60_000;
/** Enough to see past the pauses between bursts, and few enough to follow a change. */
const intervalsKept = 63;

/** Estimates how long the rest takes, from when requests were answered. All times in milliseconds, monotonic. */
export interface Pace {
  /** A request was answered. */
  answered(now: number): void;
  /** Nothing will be sent before `until`. */
  heldUntil(until: number): void;
  /** How long `requests` more will take; undefined while there is nothing to judge by. */
  timeFor(requests: number, now: number): number | undefined;
}

/**
 * Under a limit, time goes in steps: a burst of up to `perMinute` requests, then a pause until the window has room.
 * So the time left is not what is left divided by a speed: the last request goes out as many windows later as it
 * has full budgets before it, counted from the request that its place in the window waits for.
 */
export function createPace(perMinute: number | null): Pace {
  const budget = perMinute ?? Number.POSITIVE_INFINITY;
  const sent: number[] = [];
  const intervals: number[] = [];
  let last: number | undefined;
  let held = Number.NEGATIVE_INFINITY;

  function timeFor(requests: number, now: number): number | undefined {
    if (requests <= 0) return 0;
    if (intervals.length === 0) return undefined;
    const latency = median(intervals);
    const unpaced = requests * latency;
    if (perMinute === null) return unpaced;
    const windows = Math.floor((requests - 1) / budget);
    const place = ((requests - 1) % budget) + 1;
    const waitsFor = sent[place - 1 - (budget - sent.length)];
    const freed = waitsFor === undefined ? 0 : waitsFor + windowMs - now;
    const first = Math.max(freed, held - now, 0) + Math.min(place, 4) * latency;
    return Math.max(windows * windowMs + Math.max(first, place * latency), unpaced);
  }

  return {
    answered(now) {
      if (last !== undefined) intervals.push(now - last);
      if (intervals.length > intervalsKept) intervals.shift();
      last = now;
      if (perMinute === null) return;
      sent.push(now);
      if (sent.length > budget) sent.shift();
    },
    heldUntil(until) {
      held = Math.max(held, until);
    },
    timeFor,
  };
}

function median(values: readonly number[]): number {
  const ascending = [...values].sort((a, b) => a - b);
  return ascending[Math.floor(ascending.length / 2)] ?? 0;
}
