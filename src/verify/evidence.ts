import { dayOf, dayRange, describe, everything, type Range } from "../lib/ranges.js";
import { keyOf, openComparison } from "../records/index.js";
import { type AmountChanges, findAmountDrift, oldestOf } from "../sync/amount-drift.js";
import {
  type Counted,
  checksOf,
  count,
  countCovered,
  countUnread,
  differingIn,
  halve,
  totalsOf,
} from "../sync/counts.js";
import { askFigures, movedDays } from "../sync/figures.js";
import { type FutureRecords, splitFuture } from "../sync/future.js";
import { readList } from "../sync/list.js";
import { budgetOf, type DatedRun } from "../sync/run.js";
import { rangeQuery } from "../sync/seek.js";
import type { Totals } from "./report.js";

/** Requests for finding the days that differ. */
const mostRequests = 100;

/** Something that contradicts the mirror, and its dates. */
export interface Against extends Range {
  text: string;
  /** The count that differs, if it is one. */
  counted?: Counted;
}

/** Everything that a proof of a dated resource goes by. Nothing is read but counts and figures. */
export interface Evidence {
  /** The counts of all that is covered. */
  counts: Counted[];
  /** The filters that are evidence, `all` first. */
  checks: string[];
  /** The days whose totals differ from those stored when the day was read; null if the API returned no totals. */
  figures: { askedAt: number; moved: string[]; drift: AmountChanges | null } | null;
  against: Against[];
  /** The ranges that were never read and hold records, oldest first. */
  unread: Counted[];
  /** Null if no record is dated in the future. */
  future: FutureRecords | null;
  /** The count without a range. */
  whole: Counted;
  /** How many records no range has (A11); 0 if it is unknown because there are marked slices. */
  beside: number;
  /** As in `sync_runs`. */
  totals: Totals;
}

/** Asks for the evidence: figures by day, and the counts of all that was read, and of what was not. */
export async function gatherEvidence(run: DatedRun): Promise<Evidence> {
  const { clock, state } = run;
  const left = budgetOf(run, mostRequests);
  const askedAt = clock.now();
  run.figures = await askFigures(run);
  const changes = findAmountDrift(run);
  const drift = changes && (await isSampleUnchanged(run, changes.days)) ? changes : null;
  run.ignoresAmounts = drift !== null;
  const moved = movedDays(run);
  const counts = await countCovered(run);
  const distrusted = state.distrusted();
  const differing = differingIn(counts, distrusted);
  const against: Against[] = moved.map((day) => ofDay(day, "its figures changed since it was read"));
  for (const one of differing)
    for await (const part of halve(run, one, left, isOneDay)) against.push(ofCount(part));
  const marked = state.markedIds();
  for (const { id, dated } of state.missing.all())
    if (dated !== null && !marked.has(id)) against.push(ofDay(dayOf(dated), "a record is no longer there"));
  const totals = { ...totalsOf(counts), differing: differing.length };
  const allUnread = await countUnread(run);
  const { future, unread } = await splitFuture(run, allUnread);
  const whole = await count(run, everything);
  const hasMarked = state.marked().length > 0;
  return {
    unread: differingIn(unread),
    future,
    whole,
    beside: hasMarked ? 0 : Math.max(0, whole.api - totals.api_total - totalsOf(allUnread).api_total),
    counts,
    checks: checksOf(run).flatMap(({ name }) => (distrusted.has(name) ? [] : name)),
    figures: run.figures && { askedAt, moved, drift },
    against,
    totals,
  };
}

/** Reads the oldest of some days without writing. Returns true if their records are those of the mirror. */
async function isSampleUnchanged(run: DatedRun, days: readonly string[]): Promise<boolean> {
  const { mirror, resource, state } = run;
  const compare = openComparison(mirror, resource);
  for (const range of oldestOf(run, days)) {
    const list = await readList(run, { query: rangeQuery(resource.strategy, range) });
    const records = [...list.records.values()].map(({ record }) => record);
    const isSame = records.every((record, nth) => compare(record, keyOf(resource, record, nth)) === "same");
    if (!list.isComplete || !isSame || records.length !== state.count(range)) return false;
  }
  return true;
}

function isOneDay({ from, to }: Range): boolean {
  return Number.isFinite(from) && dayOf(from) === dayOf(to);
}

function ofDay(day: string, what: string): Against {
  return { ...dayRange(day), text: `${day}: ${what}` };
}

function ofCount(counted: Counted): Against {
  const { api, check, from, mirror, to } = counted;
  const text = `${describe(counted)}: ${check.name}: ${api} in the API, ${mirror} here`;
  return { from, to, counted, text };
}
