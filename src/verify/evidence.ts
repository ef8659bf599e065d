import { everything, join, type Range, subtract, touches } from "../lib/ranges.js";
import { allRecords, checksOf, countItems, type Difference, narrow } from "../sync/counts.js";
import { askFigures } from "../sync/figures.js";
import { settleMoved } from "../sync/moved.js";
import { countedMonths, differencesOf } from "../sync/reconcile.js";
import { budgetOf, type DatedRun, pagesFor } from "../sync/run.js";
import { type Against, ofDay, ofDifference, ofMissing } from "./against.js";
import { compareRecords } from "./compare.js";

/** Requests that go into finding the very days that differ, and into what is read. */
const mostRequests = 100;

/** A range that was never read, in which the API has records that are not known to be the mirror's. */
interface Unread extends Range {
  /** How many more than the mirror has. */
  more: number;
  /** As many, and nobody knows whether they are the same. */
  isOpen: boolean;
}

/** What a proof goes by. */
export interface Evidence {
  against: Against[];
  /** Oldest first. */
  unread: Unread[];
  /** Why a range in which nothing speaks against the mirror is proven. */
  whyProven(range: Range): string;
}

/** Asks for it: reads the days whose figures moved, and what was never read where there is as much; writes nothing. */
export async function gatherEvidence(run: DatedRun): Promise<Evidence> {
  const { now, state } = run;
  const left = budgetOf(run, mostRequests);
  // Up to where it was read: of the last day then, too, the figures are those that were kept.
  const figures = await askFigures(run, Math.min(now, newestRead(run)));
  const examine = (range: Range) => compareRecords(run, range);
  const { suspects, isByDay } = await settleMoved(run, figures, examine, left);
  const against: Against[] = [];
  const differ = (difference: Difference) => against.push(ofDifference(difference, newestRead(run)));
  for (const one of await differencesOf(run, !isByDay))
    for await (const part of narrow(run, one, left)) differ(part);
  const unread: Unread[] = [];
  const floor = state.floor() ?? Number.NEGATIVE_INFINITY;
  for (const range of neverRead(run)) {
    const mirror = state.count(range);
    let api = await countItems(run, range);
    // That there is nothing is believed of two answers: nothing else speaks of it.
    if (api === 0 && mirror === 0) api = await countItems(run, range);
    if (api < mirror) differ({ ...range, check: allRecords, api, mirror });
    if (api === 0 && mirror === 0) continue;
    // That they are as many proves nothing of what was never claimed.
    const isCompared = api === mirror && pagesFor(mirror) <= left();
    const finding = isCompared ? await compareRecords(run, range) : { differOn: [] };
    if (finding === "same") continue;
    const isOpen = api === mirror && finding.differOn.length === 0;
    unread.push({ ...range, more: Math.max(0, api - mirror), isOpen });
    // What nobody ever asked for is not to be mended.
    if (range.to >= floor)
      against.push(...finding.differOn.map((day) => ofDay(day, "changed since it was read")));
  }
  against.push(...ofMissing(state.missing()));
  against.push(...suspects.map((day) => ofDay(day, "its figures moved since it was read")));
  return { against, unread, whyProven: whyProven(run, isByDay) };
}

function whyProven(run: DatedRun, isByDay: boolean): (range: Range) => string {
  const counts = checksOf(run)
    .map(({ name }) => name)
    .join(", ");
  if (isByDay) return () => `figures and counts agree (${counts})`;
  const apart = join(countedMonths(run));
  return (range) =>
    apart.some((month) => touches(month, range))
      ? "the API counts the same (all)"
      : `counted together with other months, the API counts the same (${counts})`;
}

export function newestRead({ state }: DatedRun): number {
  return state.coverage().at(-1)?.to ?? Number.NEGATIVE_INFINITY;
}

/**
 * What lies below, between and above what was read, oldest first; above, with what the counts do not speak of, such as a
 * day that is not over. Where the mirror has records that are dated ahead, what has come since is told apart from them.
 */
function neverRead({ now, state }: DatedRun): Range[] {
  // The API cuts a day by dates that are finer than those it shows.
  const ahead = state.quiet({ from: now + 1, to: Number.POSITIVE_INFINITY });
  const known = state.count(ahead) > 0 ? [{ ...everything, to: ahead.from - 1 }, ahead] : [everything];
  const last = join(state.coverage()).at(-1) ?? everything;
  const counted = state.quiet(last);
  const uncounted = counted.from <= counted.to ? counted.to + 1 : last.to + 1;
  return subtract(known, state.coverage()).map((range) =>
    range.from === last.to + 1 ? { ...range, from: uncounted } : range,
  );
}
