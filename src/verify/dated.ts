import { dayOf, holds, join, monthsOf, type Range, touches, within } from "../lib/ranges.js";
import { instantOrNull, minuteOf } from "../lib/times.js";
import type { DatedRun } from "../sync/run.js";
import { datedClaims } from "./dated-claims.js";
import { type Evidence, gatherEvidence } from "./evidence.js";
import { type Finding, type MonthResult, stateOf, unproven } from "./report.js";

/** Proves a resource that the API can filter by date by the evidence that a sync goes by, told by month. */
export async function verifyDated(run: DatedRun): Promise<Finding> {
  const { resource, state } = run;
  const floor = state.floor() ?? Number.NEGATIVE_INFINITY;
  const covered_from = instantOrNull(floor);
  const base = { resource: resource.name, blind_spot: blindSpot(run), covered_from };
  if (state.coverage().length === 0)
    return {
      ...unproven(resource.name, "never read completely", base.blind_spot),
      covered_from,
      never_read: true,
    };
  const evidence = await gatherEvidence(run);
  const months = [
    ...olderThan(run, evidence, floor),
    ...judge(run, evidence),
    ...newerThan(run, evidence),
    ...beside(evidence),
  ];
  const wanted = evidence.unread.filter(({ to }) => to >= floor);
  const unread = wanted.reduce((sum, { api, mirror }) => sum + Math.max(0, api - mirror), 0);
  const unsettled = evidence.beside > 0 ? { unsettled: true } : {};
  const claims = () => datedClaims(run, evidence);
  return { ...base, state: stateOf(months), months, unread, claims, ...unsettled };
}

/** Records from before the oldest date that was read: nobody asked for them, or a reading was stopped above them. */
function olderThan({ resource: { name } }: DatedRun, { unread }: Evidence, floor: number): MonthResult[] {
  const older = unread.find(({ from }) => !Number.isFinite(from));
  if (!older || older.api === older.mirror) return [];
  const more = older.api - older.mirror;
  const why =
    older.to >= floor
      ? `${more} older ${name} were not read yet: \`brandapi sync ${name}\` goes on`
      : `${more} older ${name} were never asked for: \`brandapi sync ${name} --full\` reads them`;
  return [{ month: `before ${dayOf(older.to + 1)}`, state: "unproven", why, read_at: null }];
}

function newerThan(run: DatedRun, { unread }: Evidence): MonthResult[] {
  const newer = unread.find(({ to }) => !Number.isFinite(to));
  if (!newer || newer.api === newer.mirror) return [];
  const { name } = run.resource;
  const why = `${newer.api - newer.mirror} newer ${name} were never read: \`brandapi sync ${name}\` reads them`;
  return [{ month: `since ${minuteOf(newestRead(run))}`, state: "unproven", why, read_at: null }];
}

function beside({ beside: more }: Evidence): MonthResult[] {
  const why = `the API counts ${more} more without a range of dates than in all dates`;
  return more > 0 ? [{ month: "undated", state: "unproven", why, read_at: null }] : [];
}

/** Each month of what was read, and what contradicts it. */
function judge(run: DatedRun, { against, checks, figures, unread }: Evidence): MonthResult[] {
  const { state } = run;
  const coverage = state.coverage();
  const covered = join(coverage);
  const newest = newestRead(run);
  const hasNewer = unread.some(({ api, mirror, to }) => !Number.isFinite(to) && api !== mirror);
  const everything = { from: Number.NEGATIVE_INFINITY, to: newest };
  const lowest = covered[0]?.from ?? newest;
  const oldest = Number.isFinite(lowest)
    ? lowest
    : Math.min(state.nthDate(everything, 0) ?? newest, ...against.map(({ to }) => to));
  const agreed = `${figures ? "figures and counts agree" : "counts agree"} (${checks.join(", ")})`;

  function judgeMonth(month: Range): Pick<MonthResult, "state" | "why"> {
    const range = within([month], { from: oldest, to: newest })[0] ?? month;
    const here = against.filter((one) => touches(one, { from: range.from, to: month.to }));
    if (here.length > 0)
      return {
        state: "different",
        why: here
          .toSorted((a, b) => a.from - b.from)
          .map(({ text }) => text)
          .join("; "),
      };
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

function newestRead({ state }: DatedRun): number {
  return state.coverage().at(-1)?.to ?? Number.NEGATIVE_INFINITY;
}

function blindSpot({ resource: { strategy } }: DatedRun): string {
  const what = strategy.figures ? "no count and no figure by day" : "no count";
  return `a change to an old record that moves ${what}: only reading shows it, which every sync does in turn (\`--audit\`)`;
}
