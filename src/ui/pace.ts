/** What the rate budget allows: at most `perMinute` requests in any 60 seconds, bursts within it. */
const windowMs = 60_000;
/** Enough to see past the pauses between bursts, and few enough to follow a change. */
const intervalsKept = 63;
/** From here on the whole budget counts as ours: a request or two may be on its way. */
const almostAll = 0.9;
/** The split differs from window to window: some of them make a fair guess. */
const windowsKept = 4;
/** An answer is seen a little after the rate budget has noted it. */
const clockSlackMs = 250;

/** Estimates how long the rest takes, from when requests were answered. All times in milliseconds, monotonic. */
export interface Pace {
  /** A request was answered. */
  answered(now: number): void;
  /** Nothing will be sent before `until`; `full` because the rate limit has no permit left before then. */
  heldUntil(until: number, full?: boolean): void;
  /** How long `requests` more will take; undefined while there is nothing to judge by. */
  timeFor(requests: number, now: number): number | undefined;
}

/**
 * Under a limit, time goes in steps: a burst of up to `perMinute` requests, then a pause until the window has room.
 * So the time left is not what is left divided by a speed: the last request goes out as many windows later as it
 * has full budgets before it, counted from the request that its permit waits for. Where other processes
 * take part of the budget, what this one got of the last full windows is what it will get of the next.
 */
export function createPace(perMinute: number | null): Pace {
  const limit = perMinute ?? Number.POSITIVE_INFINITY;
  const sent: number[] = [];
  const intervals: number[] = [];
  let first: number | undefined;
  let last: number | undefined;
  let held = Number.NEGATIVE_INFINITY;
  /** When the last full windows began. */
  const full: number[] = [];

  /**
   * Requests a window that this process gets: as many as it had in the last full ones. Only a window that began after
   * this process did tells: an older one holds what an earlier run spent, and that one is no rival.
   */
  function budgetOfOurs(): number {
    const ours = full.map((from) => sent.filter((at) => at >= from && at < from + windowMs).length);
    // The last one alone says that the others are done.
    if ((ours.at(-1) ?? limit) >= almostAll * limit) return limit;
    return Math.max(1, Math.round(ours.reduce((sum, one) => sum + one, 0) / ours.length));
  }

  function timeFor(requests: number, now: number): number | undefined {
    if (requests <= 0) return 0;
    if (intervals.length === 0) return undefined;
    const latency = median(intervals);
    const unpaced = requests * latency;
    if (perMinute === null) return unpaced;
    const budget = budgetOfOurs();
    const recent = sent.slice(-budget);
    const windows = Math.floor((requests - 1) / budget);
    const place = ((requests - 1) % budget) + 1;
    const waitsFor = recent[place - 1 - (budget - recent.length)];
    const freed = waitsFor === undefined ? 0 : waitsFor + windowMs - now;
    const next = Math.max(freed, held - now, 0) + Math.min(place, 4) * latency;
    return Math.max(windows * windowMs + Math.max(next, place * latency), unpaced);
  }

  return {
    answered(now) {
      if (last !== undefined) intervals.push(now - last);
      if (intervals.length > intervalsKept) intervals.shift();
      last = now;
      first ??= now;
      if (perMinute === null) return;
      sent.push(now);
      if (sent.length > (windowsKept + 1) * limit) sent.shift();
    },
    heldUntil(until, isFull = false) {
      held = Math.max(held, until);
      const from = until - windowMs - clockSlackMs;
      if (!isFull || first === undefined || from + 2 * clockSlackMs < first) return;
      // Several requests may wait for one window.
      if (from < (full.at(-1) ?? Number.NEGATIVE_INFINITY) + 0.9 * windowMs) full.pop();
      full.push(from);
      if (full.length > windowsKept) full.shift();
    },
    timeFor,
  };
}

function median(values: readonly number[]): number {
  const ascending = [...values].sort((a, b) => a - b);
  return ascending[Math.floor(ascending.length / 2)] ?? 0;
}
