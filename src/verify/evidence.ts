import { dayOf, join, type Range, touches } from "../ranges.js";
import type { Figures } from "../state/index.js";
import { checksOf, countItems, type Difference, narrow } from "../sync/counts.js";
import { askFigures } from "../sync/figures.js";
import { settleMoved } from "../sync/moved.js";
import { countedMonths, differencesOf, isByDay } from "../sync/reconcile.js";
import { budgetOf, type SyncRun } from "../sync/run.js";
import { compareRecords } from "./compare.js";

/** Requests that go into finding the very days that differ, and looking at those whose figures moved. */
const mostRequests = 100;

/** What speaks against the mirror. */
export interface Evidence {
  differences: Difference[];
  /** Days whose figures moved, and whose records were not seen to be the same. */
  days: string[];
  /** Records that are no longer where they were dated, by day. */
  missing: ReadonlyMap<string, number>;
  /** How many more records the API has from after the last reading than the mirror; below zero, they left again. */
  unread: number;
  /** Why a range in which nothing speaks against the mirror is proven. */
  whyProven(range: Range): string;
}

/** Asks for it: reads no more than the days whose figures moved, and writes nothing. */
export async function gatherEvidence(run: SyncRun): Promise<Evidence> {
  const { now, state } = run;
  const left = budgetOf(run, mostRequests);
  // Up to where it was read: of the last day then, too, the figures are those that were kept.
  const asked = await askFigures(run, Math.min(now, newestRead(run)));
  const { open: days, isNoise } = asked
    ? await settleMoved(run, asked, (range) => compareRecords(run, range), left)
    : { open: [], isNoise: false };
  const figures = isNoise ? null : asked;
  const differences: Difference[] = [];
  for (const one of await differencesOf(run, figures))
    for await (const part of narrow(run, one, (span) => span <= 1, left)) differences.push(part);
  const unread = await countMore(run, newerRange(run));
  const missing = new Map<string, number>();
  for (const { dated } of state.missing()) {
    const day = dayOf(dated ?? now);
    missing.set(day, (missing.get(day) ?? 0) + 1);
  }
  return { differences, days, missing, unread, whyProven: whyProven(run, figures) };
}

function whyProven(run: SyncRun, figures: Figures | null): (range: Range) => string {
  const counts = checksOf(run)
    .map(({ name }) => name)
    .join(", ");
  if (isByDay(run, figures)) return () => `figures and counts agree (${counts})`;
  const apart = join(countedMonths(run));
  return (range) =>
    apart.some((month) => touches(month, range))
      ? "the API counts the same (all)"
      : `counted together with other months, the API counts the same (${counts})`;
}

export function newestRead({ state }: SyncRun): number {
  return state.coverage().at(-1)?.to ?? Number.NEGATIVE_INFINITY;
}

export function newerRange(run: SyncRun): Range {
  return { from: newestRead(run) + 1, to: Number.POSITIVE_INFINITY };
}

/** How many more records the API has in a range than the mirror. */
export async function countMore(run: SyncRun, range: Range): Promise<number> {
  return (await countItems(run, range)) - run.state.count(range);
}
