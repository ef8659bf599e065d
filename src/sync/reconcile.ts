import { counted } from "../lib/counted.js";
import { join, monthsOf, type Range, within } from "../lib/ranges.js";
import type { Figures } from "../state/index.js";
import { audit } from "./audit.js";
import { allRecords, type Check, checksOf, compare, type Difference, narrow } from "./counts.js";
import { askFigures } from "./figures.js";
import { doubtAboutMissing, missedNow, seekMissing } from "./missing.js";
import { type Examined, figuresName, type Settled, settleMoved } from "./moved.js";
import { readRange } from "./read.js";
import { removeMissing } from "./removals.js";
import { budgetOf, type DatedRun } from "./run.js";

const mostRounds = 4;
/** Months that are counted one by one, newest first: five years. */
const mostMonths = 60;

/**
 * Finds what no reading of the window shows, by evidence: days whose figures moved, then what the audit comes to, and at
 * last, after everything was read, the API's counts of all that is covered. What differs is read, within a budget. Only
 * where the evidence then agrees is removed what was missing; otherwise the run confesses what is left.
 * @param isDoubted whether something was found before: then what tells the months apart is asked, too
 */
export async function reconcile(run: DatedRun, asked: Figures | null, isDoubted: boolean): Promise<void> {
  const { now, options, resource, shortfalls, state } = run;
  let left = budgetOf(run, options.budget);
  let figures = asked;
  let settled = await readMoved(run, figures, left);
  await audit(run, figures);
  let differing: Difference[] = [];
  /** Who was missing when somebody was looked for once more, as far as that can be. */
  const sought = new Set<number>();
  const unsought = () => state.missing().filter(({ id }) => !sought.has(id));
  // As long as something else is to be read, it may show who is missing, and nobody is removed.
  const isRead = () => differing.length === 0 && settled.suspects.length === 0;
  let toSeek = isRead() ? missedNow(run) : [];
  for (let round = 1; ; round += 1) {
    if (state.missing().length > 0) {
      const rest = left();
      await seekMissing(run, toSeek, figures);
      for (const { id } of toSeek) sought.add(id);
      // Who is missing may have moved meanwhile: to after what the counts speak of,
      const { to: lastCounted } = state.quiet({ from: Number.NEGATIVE_INFINITY, to: now });
      await readRange(run, { from: lastCounted + 1, to: Number.POSITIVE_INFINITY }, figures);
      left = budgetOf(run, rest);
      // or to a day whose figures then moved too.
      run.points.clear();
      figures &&= await askFigures(run);
      settled = figures ? await readMoved(run, figures, left) : { ...settled, isByDay: false };
    }
    differing = await differencesOf(run, isDoubted && !settled.isByDay);
    toSeek = isRead() ? unsought() : [];
    if (round > mostRounds || left() <= 0 || (differing.length === 0 && toSeek.length === 0)) break;
    for (const one of differing) await readDifference(run, one, figures, left);
  }
  const { suspects } = settled;
  if (suspects.length > 0)
    shortfalls.push(
      `the API's figures moved on ${counted(suspects.length, "day")} not read yet, which the next runs will read`,
    );
  for (const { api: theirs, check, mirror } of differing)
    shortfalls.push(
      `the API counts ${theirs} ${check === allRecords ? resource.name : check.name} and the mirror ${mirror}: run \`brandapi verify ${resource.name}\``,
    );
  const doubt = doubtAboutMissing(run, figures, unsought().length > 0 || shortfalls.length > 0);
  if (doubt === null) await removeMissing(run);
  else shortfalls.push(doubt);
}

/** Reads the days whose figures moved. That they say nothing of the records is believed of two answers that agree. */
async function readMoved(run: DatedRun, figures: Figures | null, left: () => number): Promise<Settled> {
  const { now, reporter, resource, state } = run;
  const settle = (asked: Figures | null) =>
    settleMoved(run, asked, (range) => readAgain(run, range, asked), left);
  const settled = await settle(figures);
  const { restated } = settled;
  if (!figures || restated.length === 0) return settled;
  run.points.clear();
  const again = await askFigures(run);
  const agreeing = restated.filter((day) => again?.days.get(day) === figures.days.get(day));
  if (agreeing.length <= restated.length / 2) return await settle(again);
  state.setAside(figuresName, now);
  state.keepFigures(figures.days);
  reporter.warn(
    `${resource.name}: the API restates its figures by day while the records stay the same: for a week they are no evidence`,
  );
  return settled;
}

async function readAgain(run: DatedRun, range: Range, figures: Figures | null): Promise<Examined> {
  const { row, shortfalls, state } = run;
  const told = () => [row.rows_new, row.rows_changed, state.missing().length, shortfalls.length].join();
  const before = told();
  await readRange(run, range, figures);
  return told() === before ? "same" : "mended";
}

/**
 * The counts of all that was read that are not the mirror's.
 * @param byMonth where no figures by day tell the months apart, each is counted too: a record that left one may hide
 * behind one that came to another
 */
export async function differencesOf(run: DatedRun, byMonth: boolean): Promise<Difference[]> {
  const found = async (ranges: readonly Range[], checks: readonly Check[]) => {
    const differences: Difference[] = [];
    for (const range of ranges)
      for (const check of checks) {
        const difference = await compare(run, range, check);
        if (difference) differences.push(difference);
      }
    return differences;
  };
  const all = await found(join(run.state.coverage()), checksOf(run));
  const months = byMonth ? await found(countedMonths(run), [allRecords]) : [];
  return months.length > 0 ? [...months, ...all.filter(({ check }) => check !== allRecords)] : all;
}

/** The months of what was read, newest first, as many as a proof counts one by one. */
export function countedMonths({ now, state }: DatedRun): Range[] {
  const oldest = state.oldest({ from: Number.NEGATIVE_INFINITY, to: now }) ?? now;
  return join(state.coverage())
    .flatMap(({ from, to }) => within(monthsOf({ from: Math.max(from, oldest), to }), { from, to }))
    .toReversed()
    .slice(0, mostMonths);
}

async function readDifference(
  run: DatedRun,
  difference: Difference,
  figures: Figures | null,
  left: () => number,
): Promise<void> {
  const { reporter, resource, state } = run;
  const { check } = difference;
  const isCheap = (days: number, pages: number) => pages <= Math.log2(days);
  for await (const part of narrow(run, difference, left, isCheap)) {
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
async function measures(
  run: DatedRun,
  range: Range,
  check: Check,
  figures: Figures | null,
): Promise<boolean> {
  const first = await compare(run, range, check);
  if (!first) return true;
  await readRange(run, range, figures);
  const second = await compare(run, range, check);
  if (second?.api !== first.api || second.mirror !== first.mirror) return true;
  return (await compare(run, range, allRecords)) !== null;
}
