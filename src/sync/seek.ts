import { newTurn } from "../api/pages.js";
import type { Range } from "../lib/ranges.js";
import { asList, readUndated } from "./as-list.js";
import {
  askFirstPage,
  beginningOf,
  comparePair,
  Disorder,
  type FirstPage,
  hasStranger,
  marginOf,
  type Reader,
  type Seeking,
  type Slice,
  sliceOf,
} from "./first-page.js";
import { type Lane, merge, newLanes, type Share } from "./lanes.js";
import { pagesFor } from "./run.js";

export interface SeekOptions extends Pick<Seeking, "givenUp" | "isNew" | "most" | "recognise"> {
  /** How the records lie in time, to cut lanes by. */
  share?: Share;
}

/** Answers that come sooner are waited for by nobody: writing them takes as long. The first one is never the quickest. */
const slowMs = 20;
/** So often in a row two answers may speak against each other: what happens between them passes. */
const mostDoubts = 3;

/**
 * Reads a range newest first, each request asking for page 1 of what lies at or below the oldest date seen so far. An
 * answer is of one instant and shows all records between its oldest date and the end that was asked for: it proves that
 * interval by itself, and nothing can shift between two answers.
 *
 * It rests on "newest first" (the API document, "4. GET /orders", "7. GET /content"), and checks it: dates never rise,
 * and the totals of two answers tell how many records lie between their ends. Where either fails, the range is read as
 * a list. So is a crowd: more records of one instant than a page holds.
 */
export async function* seek(run: Reader, range: Range, options: SeekOptions): AsyncGenerator<Slice, void> {
  const { most, share = null, ...others } = options;
  const stop = new AbortController();
  const signal = AbortSignal.any([run.signal, stop.signal]);
  const seeking: Seeking = { ...others, most, run, range, signal, asked: 0 };
  try {
    const startedAt = run.clock.monotonic();
    const first = await askFirstPage(seeking, range.to);
    const isSlow = run.clock.monotonic() - startedAt >= slowMs;
    const rest = { from: range.from, to: Math.min(first.to, first.edge) };
    const isCut = most === undefined && !first.isAll && isSlow;
    const pages = pagesFor(first.total - first.records.length);
    const [top, ...below] = isCut ? newLanes(rest, pages, share) : [rest];
    const open = (lane: Lane) => readLane(seeking, lane, lane === top ? first : undefined);
    yield* merge([top, ...below], open, share);
  } catch (error) {
    if (!(error instanceof Disorder)) throw error;
    yield* asList(seeking, { from: beginningOf(range), to: range.to + marginOf(run) }, range);
  } finally {
    stop.abort(new Error("nobody waits for this any more"));
  }
}

/**
 * Reads a lane downwards. Each answer, `upper`, waits for the one below it: both together show that nothing moved between
 * them. Meanwhile the lane may become shorter: `merge` gives its lower half to another.
 */
async function* readLane(seeking: Seeking, lane: Lane, first?: FirstPage): AsyncGenerator<Slice, void> {
  const { run } = seeking;
  let upper = first ?? (await askFirstPage(seeking, lane.to));
  let below = askBelow(seeking, upper, lane);
  /** What the answer above a crowd has shown. */
  let above: FirstPage | undefined;
  let surplusBefore = 0;
  let doubts = 0;
  for (;;) {
    if (below === null) {
      // Contradicted by the answer below it, and no request is left to ask once more: it proves nothing.
      if (doubts > 0 && isSpent(seeking)) return;
      if (!upper.isCrowd) return yield sliceOf(upper, lane);
      const from = Math.min(upper.edge, upper.to) + 1 - 2 * run.resolution;
      const asked = { from: from - run.resolution, to: upper.to + upper.over };
      for await (const slice of asList(seeking, asked, { from, to: upper.to })) {
        if (above && hasStranger(run, above, slice.records)) throw new Disorder();
        yield slice;
      }
      // The end of the next answer stays clear of the crowd.
      lane.to = from - 1;
      if (lane.to < lane.from) return;
      upper = await askFirstPage(seeking, lane.to, run.resolution);
      below = askBelow(seeking, upper, lane);
      continue;
    }
    const lower = await below();
    const { isContradicted, surplus } = comparePair(run, upper, lower);
    // The same surplus twice is nothing that passes: where no end is given, these records have no date.
    const isOpen = !Number.isFinite(seeking.range.from) && !Number.isFinite(upper.to);
    const isUndated = surplus === surplusBefore && isOpen;
    if (isContradicted || (surplus !== 0 && !isUndated)) {
      surplusBefore = surplus;
      doubts += 1;
      if (doubts > mostDoubts) throw new Disorder();
      upper = await askFirstPage(seeking, upper.to, upper.over);
      below = askBelow(seeking, upper, lane);
      continue;
    }
    if (surplus !== 0) yield await readUndated(seeking, upper, surplus);
    doubts = 0;
    // The next one is on its way while this one is written.
    below = askBelow(seeking, lower, lane);
    yield sliceOf(upper, lane);
    lane.to = upper.edge;
    if (lane.to < lane.from) return;
    if (lower.isCrowd) above = upper;
    // A chain of promises keeps each answer reachable: its records need not stay.
    else upper.records.length = 0;
    upper = lower;
  }
}

/** Asks for what lies below an answer, to be taken later; null where the lane wants nothing of it, or a crowd is in the way. */
function askBelow(seeking: Seeking, upper: FirstPage, lane: Lane): (() => Promise<FirstPage>) | null {
  const { run } = seeking;
  if (upper.isAll || upper.isCrowd || upper.edge < lane.from || isSpent(seeking)) return null;
  const { come: turn, take } = newTurn();
  const lower = askFirstPage(seeking, upper.edge, run.resolution, turn);
  // Its failure is thrown where it is taken.
  lower.catch(() => {});
  return () => {
    take();
    return lower;
  };
}

function isSpent({ asked, most = Number.POSITIVE_INFINITY }: Seeking): boolean {
  return asked >= most;
}
