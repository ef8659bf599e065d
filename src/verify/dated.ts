import { dayOf, holds, join, monthsOf, type Range, touches, within } from "../lib/ranges.js";
import { instantOrNull, minuteOf } from "../lib/times.js";
import type { DatedRun } from "../sync/run.js";
import { datedClaims, neverReadClaim } from "./dated-claims.js";
import { type Evidence, gatherEvidence } from "./evidence.js";
import { type Finding, type MonthResult, stateOf, unproven, unprovenMonth } from "./report.js";

/** Proves a resource that the API can filter by date by the evidence that a sync goes by, told by month. */
export async function verifyDated(run: DatedRun): Promise<Finding> {
  const { resource, state } = run;
  const floor = state.floor() ?? Number.NEGATIVE_INFINITY;
  const what = resource.strategy.figures ? "no count and no figure by day" : "no count";
  const blind_spot = `a change to an old record that moves ${what}: only reading shows it, which every sync does in turn (\`--audit\`)`;
  const covered_from = instantOrNull(floor);
  const nothing = { ...unproven(resource.name, "never read completely", blind_spot), covered_from };
  if (state.coverage().length === 0)
    return { ...nothing, never_read: true, claims: () => [neverReadClaim(run)] };
  const evidence = await gatherEvidence(run);
  const months = [...older(run, evidence, floor), ...judge(run, evidence), ...later(run, evidence)];
  const wanted = evidence.unread.filter(({ to }) => to >= floor);
  return {
    ...nothing,
    ...evidence.totals,
    state: stateOf(months),
    months,
    unread: wanted.reduce((sum, { api, mirror }) => sum + Math.max(0, api - mirror), 0),
    claims: () => datedClaims(run, evidence),
    ...(evidence.beside > 0 ? { unsettled: true } : {}),
  };
}

/** Records from before the oldest date that was read: nobody asked for them, or a reading was stopped above them. */
function older({ resource: { name } }: DatedRun, { unread }: Evidence, floor: number): MonthResult[] {
  const below = unread.find(({ from }) => !Number.isFinite(from));
  if (!below || below.api === below.mirror) return [];
  const more = `${below.api - below.mirror} older ${name}`;
  const why =
    below.to >= floor
      ? `${more} were not read yet: \`brandapi sync ${name}\` goes on`
      : `${more} were never asked for: \`brandapi sync ${name} --full\` reads them`;
  return [unprovenMonth(`before ${dayOf(below.to + 1)}`, why)];
}

/** Records from after the newest date that was read, and those that lie beside all dates. */
function later({ resource: { name } }: DatedRun, { beside, unread }: Evidence): MonthResult[] {
  const above = unread.filter(({ api, mirror, to }) => !Number.isFinite(to) && api !== mirror);
  const newer = above.map(({ api, from, mirror }) => {
    const why = `${api - mirror} newer ${name} were never read: \`brandapi sync ${name}\` reads them`;
    return unprovenMonth(`since ${minuteOf(from - 1)}`, why);
  });
  const why = `the API counts ${beside} more without a range of dates than in all dates`;
  return beside > 0 ? [...newer, unprovenMonth("undated", why)] : newer;
}

/** Each month of what was read, and what contradicts it. */
function judge({ state }: DatedRun, { against, checks, figures, unread }: Evidence): MonthResult[] {
  const coverage = state.coverage();
  const covered = join(coverage);
  const newest = covered.at(-1)?.to ?? Number.NEGATIVE_INFINITY;
  const hasNewer = unread.some(({ api, mirror, to }) => !Number.isFinite(to) && api !== mirror);
  const lowest = covered[0]?.from ?? newest;
  const oldestRecord = state.nthDate({ from: Number.NEGATIVE_INFINITY, to: newest }, 0) ?? newest;
  const oldest = Number.isFinite(lowest) ? lowest : Math.min(oldestRecord, ...against.map(({ to }) => to));
  const agreed = `${figures ? "figures and counts agree" : "counts agree"} (${checks.join(", ")})`;

  function judgeMonth(month: Range): Pick<MonthResult, "state" | "why"> {
    const range = within([month], { from: oldest, to: newest })[0] ?? month;
    const here = against.filter((one) => touches(one, { from: range.from, to: month.to }));
    const texts = here.toSorted((a, b) => a.from - b.from).map(({ text }) => text);
    if (texts.length > 0) return { state: "different", why: texts.join("; ") };
    if (!holds(covered, range)) return { state: "unproven", why: "not read completely" };
    if (Number.isFinite(lowest) && month.from < lowest)
      return { state: "unproven", why: `read from ${minuteOf(lowest)}` };
    if (hasNewer && month.to > newest) return { state: "unproven", why: `read until ${minuteOf(newest)}` };
    return { state: "proven", why: agreed };
  }

  return monthsOf({ from: oldest, to: newest }).map(({ month, ...range }) => {
    const ages = coverage.filter((one) => touches(one, range)).map(({ readAt }) => readAt);
    return { month, ...judgeMonth(range), read_at: instantOrNull(Math.min(...ages)) };
  });
}
