import { hash, topics, unit } from "./random.js";

export const second = 1_000;
export const minute = 60 * second;
export const hour = 60 * minute;
export const day = 24 * hour;

/** How far the history reaches back from the sandbox's now. */
export const historyDays = 730;

/**
 * When each order was placed, as a formula: index 0 is the oldest, dates never fall as the index grows, and
 * equal dates occur. Nothing is stored.
 */
export interface Timeline {
  length: number;
  /** Milliseconds since 1970 of order `index`: whole seconds. */
  dateOf(index: number): number;
}

export function createTimeline(seed: number, length: number, anchor: number): Timeline {
  const start = anchor - historyDays * day;
  const lastMidnight = Math.floor(anchor / day) * day;

  function drawnDate(index: number): number {
    const share = (index + 0.9 * unit(seed, topics.timeline, index)) / length;
    // Twice as many orders a day at the end as at the beginning: share = 2/3 t + 1/3 t², solved for t.
    const t = Math.sqrt(1 + 3 * share) - 1;
    const date = start + t * (anchor - start);
    return Math.floor((date < lastMidnight ? quietNights(date) : date) / second) * second;
  }

  function dateOf(index: number): number {
    const tied = index > 0 && hash(seed, topics.tie, index) % 64 === 0;
    return drawnDate(tied ? index - 1 : index);
  }

  return { length, dateOf };
}

/** Moves orders out of the small hours of their UTC day, keeping their sequence. */
function quietNights(date: number): number {
  const midnight = Math.floor(date / day) * day;
  const share = (date - midnight) / day;
  if (share < 0.1) return midnight + share * 3 * day;
  if (share < 0.9) return midnight + (0.3 + (share - 0.1) * 0.8) * day;
  return midnight + (0.94 + (share - 0.9) * 0.6) * day;
}

const twoDigits = Array.from({ length: 60 }, (_, n) => String(n).padStart(2, "0"));
let knownDay = Number.NaN;
let knownDate = "";

/** `new Date(at).toISOString()` for whole seconds, several times as fast: neighbours share their date. */
export function isoText(at: number): string {
  const number = Math.floor(at / day);
  const rest = at - number * day;
  if (rest % second !== 0) return new Date(at).toISOString();
  if (number !== knownDay) {
    knownDay = number;
    knownDate = new Date(at).toISOString().slice(0, 10);
  }
  const [hours, minutes] = [Math.floor(rest / hour), Math.floor(rest / minute) % 60];
  return `${knownDate}T${twoDigits[hours]}:${twoDigits[minutes]}:${twoDigits[(rest / second) % 60]}.000Z`;
}

/** A date, `YYYY-MM-DD`, in UTC. */
export function dateText(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

/** A timestamp with milliseconds, in UTC. */
export function timeText(at: number): string;
export function timeText(at: number | null): string | null;
export function timeText(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}
