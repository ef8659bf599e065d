import { type Span, stretches } from "../state/coverage.js";
import type { SyncOptions } from "./context.js";

/** A range of dates to read, in milliseconds; -Infinity: from the beginning. */
export interface Goal {
  from: number;
  to: number;
}

/** What a run of a windowed resource reads, and what stays unread. */
export interface WindowPlan {
  goals: (Goal & { resume: boolean })[];
  /** Ranges between covered stretches that would still be unread afterwards. */
  gaps: Goal[];
}

/** A resumed read that began no longer ago than this counts as this run's own. */
const freshMs = 3_600_000;

/**
 * Decides what to read: pure.
 * Without `--since` a run begins at the last complete read less the window, where the last complete read is the
 * end of the first unbroken stretch: a hole, from a long pause or a narrow `--since`, is so read before it is claimed.
 * An unfinished read is finished first.
 */
export function planWindow(
  spans: readonly Span[],
  unfinished: Goal | null,
  options: Pick<SyncOptions, "since" | "until" | "full" | "windowMs">,
  now: number,
): WindowPlan {
  const to = Math.min(options.until ?? now, now);
  const covered = stretches(spans)[0]?.to;
  // A clock that was ahead once must not blind the runs after it.
  const watermark = covered === undefined ? undefined : Math.min(covered, now);
  const from = beside(spans, firstInstant(options, watermark));
  const asked: Goal = { from: Math.min(from, to), to };
  const resume =
    unfinished !== null &&
    unfinished.from <= asked.from &&
    (options.until === undefined || unfinished.to >= to);
  const plain = options.since === undefined && options.until === undefined && !options.full;
  if (!resume && !(plain && unfinished))
    return { goals: [{ ...asked, resume: false }], gaps: gapsAfter(spans, [asked]) };
  const rest =
    now - unfinished.to <= freshMs || options.until !== undefined ? [] : [followUp(unfinished, options, now)];
  // A read that began above the last complete one leaves what lies between them.
  const between =
    watermark !== undefined && asked.from < unfinished.from
      ? [{ from: asked.from, to: unfinished.from, resume: false }]
      : [];
  const goals = [{ ...unfinished, resume: true }, ...between, ...rest];
  return { goals, gaps: gapsAfter(spans, goals) };
}

function firstInstant(
  options: Pick<SyncOptions, "since" | "full" | "windowMs">,
  watermark: number | undefined,
): number {
  if (options.full) return Number.NEGATIVE_INFINITY;
  if (options.since !== undefined) return options.since;
  return watermark === undefined ? Number.NEGATIVE_INFINITY : watermark - options.windowMs;
}

/** Where a stretch ends right before an instant, its last millisecond: a finer date would lie between the two. */
function beside(spans: readonly Span[], from: number): number {
  return stretches(spans).some((stretch) => stretch.to === from - 1) ? from - 1 : from;
}

/** What has happened since the unfinished read began. */
function followUp(unfinished: Goal, options: Pick<SyncOptions, "windowMs">, now: number) {
  return { from: Math.max(unfinished.from, unfinished.to - options.windowMs), to: now, resume: false };
}

function gapsAfter(spans: readonly Span[], goals: readonly Goal[]): Goal[] {
  const all = [...spans, ...goals]
    .map(({ from, to }) => ({ from, to, readAt: 0, runId: 0 }))
    .sort((a, b) => a.from - b.from);
  const joined = stretches(all);
  return joined.slice(1).map((stretch, index) => ({ from: joined[index]?.to ?? 0, to: stretch.from }));
}
