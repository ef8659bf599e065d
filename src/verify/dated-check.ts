import { openRecordComparison } from "../store/change-log.js";
import { countUndated, recordKey } from "../store/stored-record.js";
import { markedText } from "../sync/by-page.js";
import {
  type Counted,
  checksOf,
  count,
  countCovered,
  countUnread,
  differingIn,
  type FutureRecords,
  halve,
  splitFuture,
  totalsOf,
} from "../sync/counts.js";
import {
  type AmountChanges,
  askFigures,
  driftText,
  findAmountDrift,
  movedDays,
  oldestOf,
} from "../sync/daily-totals.js";
import { readList } from "../sync/list-reading.js";
import { rangeQuery } from "../sync/read.js";
import { budgetOf, type DatedRun } from "../sync/session.js";
import { dayOf, describe, everything, holds, join, monthsOf, type Range, touches } from "../util/ranges.js";
import { dayRange, instantOrNull } from "../util/times.js";
import { datedClaims } from "./claims.js";
import { type Finding, type MonthResult, stateOf, type Totals, unprovenMonth } from "./finding.js";

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
  const hasMarked = state.markedSlices().length > 0;
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
  const compare = openRecordComparison(mirror, resource);
  for (const range of oldestOf(run, days)) {
    const list = await readList(run, { query: rangeQuery(resource.strategy, range) });
    const records = [...list.records.values()].map(({ record }) => record);
    const isSame = records.every(
      (record, nth) => compare(record, recordKey(resource, record, nth)) === "same",
    );
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

/** Proves a resource that the API can filter by date by the evidence that a sync goes by, reported by month. */
export async function verifyDated(run: DatedRun): Promise<Finding> {
  const { resource, state } = run;
  const floor = state.floor() ?? Number.NEGATIVE_INFINITY;
  const evidence = await gatherEvidence(run);
  const { beside, future, unread } = evidence;
  const months = [...judge(run, evidence), ...unread.map((one) => neverRead(resource.name, one, floor))];
  const why = `the API counts ${beside} more without a range of dates than in all dates`;
  if (beside > 0) months.push(unprovenMonth("undated", why));
  const undated = countUndated(run.mirror, resource.name);
  const marked = markedText(run);
  if (marked !== null) months.push(unprovenMonth("dates", marked));
  const wanted = unread.filter(({ to }) => to >= floor);
  const comparesTotals = evidence.figures !== null && evidence.figures.drift === null;
  const what = comparesTotals ? "no count and no figure by day" : "no count";
  return {
    resource: resource.name,
    ...evidence.totals,
    state: stateOf(months),
    months,
    blind_spot: `a change to an old record that moves ${what}: only reading shows it, which every sync does in turn (\`--audit\`)`,
    future: future && { records: future.records, until: future.until },
    unread: wanted.reduce((sum, { api, mirror }) => sum + Math.max(0, api - mirror), 0),
    undated,
    unsettled: beside > 0 || marked !== null,
    claims: () => datedClaims(run, evidence),
  };
}

/** @param floor the oldest date that was ever asked for: a plain sync reads nothing below it */
function neverRead(name: string, { api, mirror, ...range }: Counted, floor: number): MonthResult {
  const command = `brandapi sync ${name}${range.to < floor ? " --full" : ""}`;
  return unprovenMonth(describe(range), `${api - mirror} ${name} were never read: \`${command}\` reads them`);
}

/** Each month of what was read, and what contradicts it. */
function judge({ state }: DatedRun, { against, checks, figures, unread }: Evidence): MonthResult[] {
  const coverage = state.coverage();
  const covered = join(coverage);
  const [first, last] = [covered[0], covered.at(-1)];
  if (!first || !last) return [];
  const oldestRecord = state.nthDate({ from: first.from, to: last.to }, 0) ?? last.to;
  const oldest = Math.min(oldestRecord, ...against.map(({ to }) => to));
  const hasNewer = unread.some(({ to }) => to > last.to);
  const drift = figures?.drift;
  const compared = figures && !drift ? "figures and counts agree" : "counts agree";
  const agreed = `${compared} (${checks.join(", ")})${drift ? `; ${driftText(drift)}` : ""}`;

  function judgeMonth({ month, ...range }: ReturnType<typeof monthsOf>[number]): MonthResult {
    const ages = coverage.filter((one) => touches(one, range)).map(({ readAt }) => readAt);
    const known = { month, read_at: instantOrNull(Math.min(...ages)) };
    const texts = against.filter((one) => touches(one, range)).map(({ text }) => text);
    if (texts.length > 0) return { ...known, state: "different", why: texts.join("; ") };
    if (state.markedSlices().some((slice) => touches(slice, range)))
      return { ...known, state: "unproven", why: "read by page number: it has records with other dates" };
    const claimed = hasNewer ? range : { from: range.from, to: Math.min(range.to, last?.to ?? range.to) };
    if (!holds(covered, claimed)) return { ...known, state: "unproven", why: "not read completely" };
    return { ...known, state: "proven", why: agreed };
  }

  const from = Number.isFinite(first.from) ? first.from : oldest;
  return monthsOf({ from, to: last.to }).map(judgeMonth);
}
