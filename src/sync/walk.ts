import { readCheckpoint, saveCheckpoint } from "../state/checkpoints.js";
import { readCoverage, recordCoverage, stretches } from "../state/coverage.js";
import { noteMissing } from "../state/removals.js";
import { noteMissingUndated } from "../state/undated.js";
import { formatInstant } from "../times.js";
import { rangeQuery, type SyncContext } from "./context.js";
import { type Pass, readPass } from "./pass.js";
import type { Goal } from "./plan.js";
import { isWhole, readUntilWhole, whyNotWhole } from "./reading.js";
import { findStand } from "./resume.js";

/**
 * Reading a range of dates while it moves. The range is pinned and read newest first, in parts: after some pages
 * the walk anchors anew at the oldest date it has reached, so that what happens in newer dates no longer shifts the rest,
 * no range is too long for the API's 10,000 pages, and only one part is ever read again.
 *
 * A part is proven when the distinct records seen in it are as many as the API counts in it: the total of the
 * range less the total of what lies below the part. Only a proven part is claimed as covered. That holds in whatever
 * order the pages come: two orders that come behind the reader put newer ones after older ones, too.
 */

/** Where an unfinished walk stands: `goal` is all of it, `upper` the newest date still unread. */
export interface WalkState {
  goal: { from: number | null; to: number };
  upper: number;
  page: number;
  startedAt: number;
}

/** Pages a part: one count request for each is the price, half a per cent. */
const pagesPerPart = 200;

/** The goal of a stopped walk, if there is one. */
export function unfinishedGoal(context: Pick<SyncContext, "mirror" | "resource">): Goal | null {
  const checkpoint = readCheckpoint<WalkState>(context.mirror, context.resource.name);
  return (
    checkpoint && {
      from: checkpoint.state.goal.from ?? Number.NEGATIVE_INFINITY,
      to: checkpoint.state.goal.to,
    }
  );
}

/** Reads a range of dates to its beginning. Parts that never settle are noted as shortfalls. */
export async function walkRange(context: SyncContext, goal: Goal & { resume: boolean }): Promise<void> {
  const checkpoint = goal.resume ? readCheckpoint<WalkState>(context.mirror, context.resource.name) : null;
  let upper = checkpoint?.state.upper ?? goal.to;
  let resumed: ResumedPart | undefined = checkpoint
    ? {
        page: checkpoint.state.page,
        seen: datesOf(context, checkpoint.seen),
        startedAt: checkpoint.state.startedAt,
      }
    : undefined;
  for (;;) {
    const boundary = await readPart(context, goal, upper, resumed);
    if (boundary === null) return;
    upper = boundary;
    resumed = undefined;
    saveState(context, goal, { upper, page: 1, startedAt: context.clock.now() }, []);
  }
}

interface ResumedPart {
  page: number;
  seen: Map<number, number | null>;
  startedAt: number;
}

/**
 * Reads and proves one part, downwards from `upper`.
 * @returns the date at which the next part begins, or null when the range is read to its beginning
 */
async function readPart(
  context: SyncContext,
  goal: Goal,
  upper: number,
  resumed?: ResumedPart,
): Promise<number | null> {
  const query = rangeQuery(context.resource, goal.from, upper);
  const stand =
    resumed && (await findStand(context, query, { page: resumed.page, seen: [...resumed.seen.keys()] }));
  const pass = await readPass(context, query, {
    upTo: context.options.pagesPerPart ?? pagesPerPart,
    ...(resumed && stand && { ...stand, seen: resumed.seen, startedAt: resumed.startedAt }),
    checkpoint: (at) =>
      saveState(context, goal, { upper, page: at.nextPage, startedAt: at.startedAt }, at.seen.keys()),
  });
  const whole = pass.nextPage > pass.totalPages;
  if (whole) {
    if (isWhole(pass)) prove(context, { from: goal.from, to: upper }, pass);
    else await readUntilProven(context, { from: goal.from, to: upper });
    return null;
  }
  // What is sent has milliseconds, and the API's dates may be finer: the next one up, so that no row falls in between.
  const boundary = Math.floor(pass.oldest) + 1;
  if (boundary >= upper) {
    // Nothing to anchor at: all of it bears one date. Read it in one piece.
    await readUntilProven(context, { from: goal.from, to: upper });
    return null;
  }
  const above = [...pass.seen.values()].filter((date) => date !== null && date > boundary).length;
  const below = await countItems(context, goal.from, boundary);
  if (above === pass.total - below && !pass.shrank) prove(context, { from: boundary, to: upper }, pass);
  else await readUntilProven(context, { from: boundary, to: upper });
  return boundary;
}

/**
 * Reads a range in one piece until the distinct records agree with the API's count. Where orders of one instant come in
 * another order each time, it is put together from several passes; it is then as old as the first.
 */
export async function readUntilProven(context: SyncContext, range: Goal): Promise<boolean> {
  const startedAt = context.clock.now();
  const query = rangeQuery(context.resource, range.from, range.to);
  const { last, seen, isSettled } = await readUntilWhole(() => readPass(context, query));
  if (isSettled)
    prove(context, range, { ...last, seen, startedAt: isWhole(last) ? last.startedAt : startedAt });
  else context.shortfalls.push(`${describe(range)} ${whyNotWhole(last)}`);
  return isSettled;
}

/**
 * Reads a range that was covered before once more. It ends at the next millisecond: the API's dates may be finer than
 * what is sent, and a record of that very instant that comes along does no harm.
 */
export async function readAgain(context: SyncContext, { from, to }: Goal): Promise<boolean> {
  const covered = stretches(readCoverage(context.mirror, context.resource.name));
  const end = covered.find((stretch) => stretch.from <= to && stretch.to >= to)?.to ?? to;
  const last = Math.min(Math.floor(to) + 1, end);
  return await readUntilProven(context, { from: Math.floor(from), to: last });
}

/** `total_items` of a range: one request for one record. Source: the API document, "Pagination object". */
export async function countItems(
  context: SyncContext,
  from: number,
  to: number,
  query = {},
): Promise<number> {
  const { resource, api, signal } = context;
  const answer = await api.get(
    resource.path,
    { ...rangeQuery(resource, from, to), ...query, page: 1, per_page: 1 },
    { scope: resource.scope, signal },
  );
  return answer.pagination?.total_items ?? answer.items?.length ?? 0;
}

function prove(context: SyncContext, range: Goal, pass: Pass): void {
  const { mirror, resource, run } = context;
  mirror.db.transaction(() => {
    noteMissing(mirror, resource.name, pass.seen, range);
    if ("date" in resource.strategy)
      noteMissingUndated(mirror, resource.name, pass.seen, {
        date: resource.strategy.date,
        all: !Number.isFinite(range.from),
      });
    // A walk that began while the clock was ahead ends beyond now: nobody can have read that.
    const to = Math.min(range.to, context.now);
    if (range.from <= to)
      recordCoverage(mirror, resource.name, {
        from: range.from,
        to,
        readAt: pass.startedAt,
        runId: run.run_id,
      });
  })();
}

function saveState(
  context: SyncContext,
  goal: Goal,
  at: Pick<WalkState, "upper" | "page" | "startedAt">,
  seen: Iterable<number>,
): void {
  const from = Number.isFinite(goal.from) ? goal.from : null;
  const state: WalkState = { goal: { from, to: goal.to }, ...at };
  saveCheckpoint(context.mirror, context.resource.name, state, seen, formatInstant(context.clock.now()));
}

function datesOf({ mirror }: SyncContext, ids: readonly number[]): Map<number, number | null> {
  const dated = mirror.db.prepare("SELECT dated_at FROM records WHERE record_id = ?").pluck();
  return new Map(ids.map((id) => [id, (dated.get(id) as number | null | undefined) ?? null]));
}

function describe({ from, to }: Goal): string {
  const end = Number.isFinite(to) ? formatInstant(to) : "now";
  return Number.isFinite(from)
    ? `the range from ${formatInstant(from)} to ${end}`
    : `everything until ${end}`;
}
