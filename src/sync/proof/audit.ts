import { readCoverage, type Span, stretches } from "../../state/coverage.js";
import { dateOfNth } from "../../state/removals.js";
import type { SyncContext } from "../context.js";
import type { Goal } from "../plan.js";
import { readAgain } from "../walk.js";

/** Records a request, and a few less for what may have come since the mirror counted them. */
const recordsPerRequest = 100;
const slack = 5;

/** What was read within the last day has had no time to grow old: a second sync right after the first reads nothing. */
const freshMs = 20 * 3_600_000;

/**
 * Reads again what was read longest ago, within a number of requests: a partial refund on an old order may move no
 * figure at all, so that only reading shows it. Every record is so read again within a known number of runs.
 * @returns the ranges that were read
 */
export async function auditOldest(context: SyncContext, since: number): Promise<Goal[]> {
  const read: Goal[] = [];
  const oldEnough = Math.min(since, context.now - freshMs);
  let left = context.options.audit;
  while (left > 0) {
    const spans = readCoverage(context.mirror, context.resource.name);
    const oldest = oldestStretch(spans, oldEnough);
    if (!oldest) break;
    const range = firstPart(context, oldest);
    const before = context.api.stats.requests;
    if (!(await readAgain(context, range))) break;
    read.push(range);
    left -= Math.max(1, context.api.stats.requests - before);
  }
  return read;
}

/** The span read longest ago, and those after it that are due too: small spans share a page. */
function oldestStretch(spans: readonly Span[], oldEnough: number): Goal | null {
  const due = spans.filter(({ readAt }) => readAt < oldEnough);
  const first = due.reduce<Span | null>(
    (oldest, span) => (oldest && oldest.readAt <= span.readAt ? oldest : span),
    null,
  );
  const stretch = first && stretches(due).find(({ from, to }) => from <= first.from && to >= first.to);
  return first && stretch ? { from: first.from, to: stretch.to } : null;
}

/** The beginning of a span that one request can read: what one answer holds is all of one moment. */
function firstPart({ mirror, resource }: SyncContext, span: Goal): Goal {
  const range = { from: span.from, to: span.to };
  const end = dateOfNth(mirror, resource.name, range, recordsPerRequest - slack);
  return { from: span.from, to: end === null ? span.to : Math.min(span.to, Math.ceil(end)) };
}
