import { counted } from "../counted.js";
import { join, monthsOf, type Range, within } from "../ranges.js";
import type { Figures } from "../state/index.js";
import { audit } from "./audit.js";
import { allRecords, type Check, checksOf, compare, type Difference, narrow } from "./counts.js";
import { askFigures } from "./figures.js";
import { doubtAboutMissing, doubtOf, seekMissing } from "./missing.js";
import { type Examined, figuresName, settleMoved } from "./moved.js";
import { readRange } from "./read.js";
import { removeMissing } from "./removals.js";
import { budgetOf, type SyncRun } from "./run.js";

/** Requests that a night may spend on what differs; the rest is told, and left to the next nights. */
export const nightlyBudget = 100;
const mostRounds = 4;
/** Months that are counted one by one, newest first: five years. */
const mostMonths = 60;

/**
 * Finds what no reading of the window shows, by evidence: days whose figures moved, then what the audit comes to, and at
 * last, after everything was read, the API's counts of all that is covered. What differs is read, within a budget. Only
 * where the evidence then agrees is removed what was missing; otherwise the run confesses what is left.
 * @param differences finds the counts that are not the mirror's
 */
export async function reconcile(
  run: SyncRun,
  asked: Figures | null,
  budget: number,
  differences: () => Promise<Difference[]>,
): Promise<void> {
  const { resource, shortfalls, state } = run;
  const left = budgetOf(run, budget);
  let figures = asked;
  let days = await readMoved(run, figures, left);
  await audit(run, figures);
  let differing: Difference[] = [];
  let isBlind = false;
  for (let round = 1; ; round += 1) {
    if (figures && state.missing().length > 0) {
      // Who is missing may have moved meanwhile: to a day whose figures then moved too.
      run.points.clear();
      const again = await askFigures(run);
      isBlind = again === null;
      figures = again ?? figures;
      if (again) days = await readMoved(run, again, left);
    }
    differing = await differences();
    if (round > mostRounds || left() <= 0) break;
    if (differing.length === 0 && !(await seekMissing(run, figures))) break;
    for (const one of differing) await readDifference(run, one, figures, left);
  }
  if (days.length > 0)
    shortfalls.push(
      `the API's figures moved on ${counted(days.length, "day")} not read yet, which the next runs will read`,
    );
  for (const { api: theirs, check, mirror } of differing)
    shortfalls.push(
      `the API counts ${theirs} ${check === allRecords ? resource.name : check.name} and the mirror ${mirror}: run \`brandapi verify ${resource.name}\``,
    );
  const isDisputed = isBlind || days.length + differing.length > 0;
  const doubt = isDisputed ? doubtOf(state.missing()) : doubtAboutMissing(run);
  if (doubt === null) await removeMissing(run);
  else shortfalls.push(doubt);
}

/** Reads the days whose figures moved. @returns those that nobody came to */
async function readMoved(run: SyncRun, figures: Figures | null, left: () => number): Promise<string[]> {
  if (!figures) return [];
  const { now, reporter, resource, state } = run;
  const { suspects, isNoise } = await settleMoved(
    run,
    figures,
    (range) => readAgain(run, range, figures),
    left,
  );
  if (isNoise) {
    state.setAside(figuresName, now);
    state.keepFigures(figures.days);
    reporter.warn(
      `${resource.name}: the API restates its figures by day while the records stay the same: for a week they are no evidence`,
    );
  }
  return suspects;
}

async function readAgain(run: SyncRun, range: Range, figures: Figures | null): Promise<Examined> {
  const { row, shortfalls, state } = run;
  const told = () => [row.rows_new, row.rows_changed, state.missing().length, shortfalls.length].join();
  const before = told();
  await readRange(run, range, figures);
  return told() === before ? "same" : "mended";
}

/** The counts of all that is covered that are not the mirror's. */
export async function compareAll(run: SyncRun): Promise<Difference[]> {
  const found: Difference[] = [];
  for (const range of join(run.state.coverage()))
    for (const check of checksOf(run)) {
      const difference = await compare(run, range, check);
      if (difference) found.push(difference);
    }
  return found;
}

/**
 * The counts of all that was read. Where no figures by day tell the months apart, each month is counted too: a record
 * that left one may hide behind one that came to another.
 */
export async function differencesOf(run: SyncRun, figures: Figures | null): Promise<Difference[]> {
  const all = await compareAll(run);
  if (isByDay(run, figures)) return all;
  const months: Difference[] = [];
  for (const month of countedMonths(run)) {
    const difference = await compare(run, month, allRecords);
    if (difference) months.push(difference);
  }
  return months.length > 0 ? [...months, ...all.filter(({ check }) => check !== allRecords)] : all;
}

export function isByDay({ now, state }: SyncRun, figures: Figures | null): boolean {
  return figures !== null && !state.isSetAside(figuresName, now);
}

/** The months of what was read, newest first, as many as a proof counts one by one. */
export function countedMonths({ now, state }: SyncRun): Range[] {
  const oldest = state.oldest({ from: Number.NEGATIVE_INFINITY, to: now }) ?? now;
  return join(state.coverage())
    .flatMap(({ from, to }) => within(monthsOf({ from: Math.max(from, oldest), to }), { from, to }))
    .toReversed()
    .slice(0, mostMonths);
}

async function readDifference(
  run: SyncRun,
  difference: Difference,
  figures: Figures | null,
  left: () => number,
): Promise<void> {
  const { reporter, resource, state } = run;
  const { check } = difference;
  const isCheap = (days: number, pages: number) => pages <= Math.log2(days);
  for await (const part of narrow(run, difference, isCheap, left)) {
    if (left() <= 0) return;
    await readRange(run, part, figures);
    if (check === allRecords || (await measures(run, part, check, figures))) continue;
    state.setAside(check.name, run.now);
    reporter.warn(
      `${resource.name}: the API's filter \`${check.name}\` does not count what its records say: for a week it is no proof (\`--full\` tries it again)`,
    );
    return;
  }
}

/**
 * Whether a filter counts what the records of a range, read just now, say of themselves. Something can change between
 * the reading and the count: only two measurements that agree speak against it.
 */
async function measures(run: SyncRun, range: Range, check: Check, figures: Figures | null): Promise<boolean> {
  const first = await compare(run, range, check);
  if (!first) return true;
  await readRange(run, range, figures);
  const second = await compare(run, range, check);
  if (second?.api !== first.api || second.mirror !== first.mirror) return true;
  return (await compare(run, range, allRecords)) !== null;
}
