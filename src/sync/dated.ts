import type { DatedStrategy } from "../resources/resource.js";
import { finishedRuns } from "../store/runs.js";
import { dayOf, describe, everything, join, type Range } from "../util/ranges.js";
import { counted } from "../util/text.js";
import { dayRange, instantOrNull } from "../util/times.js";
import { audit } from "./audit.js";
import { markedText, readByPage } from "./by-page.js";
import { checksOf, count } from "./counts.js";
import { askFigures, findAmountDrift, ignoreDrift, movedDays } from "./daily-totals.js";
import { type DatedPlan, planDated } from "./plan.js";
import { readRange } from "./read.js";
import { readMoved, reconcile } from "./reconcile.js";
import { removeMissing } from "./removals.js";
import { budgetOf, type DatedRun, freshMs, type PlanStep, pagesFor, type Reader } from "./session.js";

/** Newest first, filtered by a date: orders, content. The loop is described in `../README.md`. */
export const dated: Reader<DatedStrategy> = {
  async plan(run) {
    const steps: PlanStep[] = [];
    const { marked, ranges } = decide(run);
    for (const range of [...ranges, ...marked]) {
      const { api } = await count(run, range);
      steps.push({ what: `${describe(range)}: ${counted(api, "record")}`, requests: pagesFor(api) });
    }
    const { figures } = run.resource.strategy;
    const what = figures ? "its proof: figures by day, and counts" : "its proof: counts";
    return [...steps, { what, requests: (figures ? 1 : 0) + checksOf(run).length + 1, open: true }];
  },

  async read(run) {
    const { options, shortfalls } = run;
    const { gaps, marked, ranges } = begin(run);
    run.figures = await askFigures(run);
    const drift = findAmountDrift(run);
    for (const range of ranges) await readRange(run, range);
    for (const range of marked) await readByPage(run, range);
    await audit(run);
    const left = budgetOf(run, options.budget);
    if (drift) await ignoreDrift(run, drift, left);
    await readMoved(run, left);
    await reconcile(run, left);
    const moved = movedDays(run).length;
    if (moved > 0)
      shortfalls.push(
        `the API's figures moved on ${counted(moved, "day")} not read yet, which the next runs will read`,
      );
    if (shortfalls.length === 0) removeMissing(run);
    warnOfGaps(run, gaps);
    warnOfMarked(run);
  },
};

function decide({ clock, mirror, now, options, resource, state }: DatedRun) {
  const coverage = state.coverage();
  const { runId: finishedId, until: finishedUntil } = finishedRuns(mirror, resource.name);
  const stopped = [...coverage, ...state.markedSlices()].filter(({ runId }) => runId > finishedId);
  const resumed = stopped.filter(({ readAt }) => readAt >= clock.now() - freshMs);
  // A record that a marked slice returned is not looked for at its date.
  const markedIds = state.markedIds();
  const missing = state.missing
    .all()
    .flatMap(({ id, dated }) => (dated === null || markedIds.has(id) ? [] : dayRange(dayOf(dated))));
  const before = {
    coverage,
    marked: state.markedSlices(),
    floor: state.floor(),
    finishedUntil,
    resumed,
    missing,
  };
  return { ...planDated(before, options, now), isResumed: stopped.length > 0 };
}

function begin(run: DatedRun): Pick<DatedPlan, "gaps" | "marked" | "ranges"> {
  const { mirror, options, reporter, resource, row, state } = run;
  const { floor, gaps, isResumed, marked, ranges } = decide(run);
  const here = counted(state.count(everything), "record");
  if (isResumed) reporter.note(`${resource.name}: goes on with a stopped read: ${here} already here`);
  const due = join([...ranges, ...marked]);
  row.since = instantOrNull(due[0]?.from ?? floor);
  row.until = instantOrNull(due.at(-1)?.to ?? floor);
  mirror.transaction(() => {
    state.setFloor(floor);
    state.setLastOptions(options);
  });
  return { gaps, marked, ranges };
}

/** Warns of the dates that stay unread, and claims only those above them. */
function warnOfGaps({ reporter, resource: { name }, row, state }: DatedRun, gaps: readonly Range[]): void {
  const floor = state.floor() ?? Number.NEGATIVE_INFINITY;
  row.covered_from = instantOrNull(Math.max(floor, ...gaps.map(({ to }) => to + 1)));
  for (const gap of gaps)
    reporter.warn(
      `${name}: ${describe(gap)} has never been read and is not claimed as covered: run \`brandapi sync ${name}\``,
    );
}

/** Warns of records whose dates are unreadable or outside the requested ones: a run that has any is not verified. */
function warnOfMarked(run: DatedRun): void {
  const text = markedText(run);
  if (text === null) return;
  run.isPartial = true;
  run.reporter.warn(
    `${run.resource.name}: ${text}: all records are kept, but none near these is removed, and nothing is verified`,
  );
}
