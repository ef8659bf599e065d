import { describe, holds, join, monthsOf, touches } from "../lib/ranges.js";
import { instantOrNull } from "../lib/times.js";
import { countUndated } from "../state/index.js";
import { driftText } from "../sync/amount-drift.js";
import type { Counted } from "../sync/counts.js";
import { markedText } from "../sync/marked-text.js";
import type { DatedRun } from "../sync/run.js";
import { datedClaims } from "./dated-claims.js";
import { type Evidence, gatherEvidence } from "./evidence.js";
import { type Finding, type MonthResult, stateOf, unprovenMonth } from "./report.js";

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
    if (state.marked().some((slice) => touches(slice, range)))
      return { ...known, state: "unproven", why: "read by page number: it has records with other dates" };
    const claimed = hasNewer ? range : { from: range.from, to: Math.min(range.to, last?.to ?? range.to) };
    if (!holds(covered, claimed)) return { ...known, state: "unproven", why: "not read completely" };
    return { ...known, state: "proven", why: agreed };
  }

  const from = Number.isFinite(first.from) ? first.from : oldest;
  return monthsOf({ from, to: last.to }).map(judgeMonth);
}
