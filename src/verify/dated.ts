import { dayOf, everything, holds, join, monthsOf, type Range, touches, within } from "../lib/ranges.js";
import { instantOrNull, minuteOf } from "../lib/times.js";
import type { DatedRun } from "../sync/run.js";
import { type Evidence, gatherEvidence, newestRead } from "./evidence.js";
import { type Finding, type MonthResult, stateOf, unproven } from "./report.js";

/**
 * Proves a resource that the API can filter by date by the evidence that a sync goes by, told month by month: the counts
 * of all that was read, the figures by day, and what lies after the last reading.
 */
export async function verifyDated(run: DatedRun): Promise<Finding> {
  const { mirror, now, resource, state } = run;
  mirror.transaction(() => state.trim(now));
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
  const months = [...olderThan(run, evidence, floor), ...judge(run, evidence), ...newerThan(run, evidence)];
  const wanted = evidence.unread.filter(({ to }) => to >= floor);
  const left = { unread: sumOf(wanted), uncompared: wanted.some(({ isOpen }) => isOpen) };
  return { ...base, state: stateOf(months), months, ...left };
}

/** What the API has from before the oldest date that was read: nobody asked for it, or a reading was stopped above it. */
function olderThan(run: DatedRun, { unread }: Evidence, floor: number): MonthResult[] {
  const older = unread.find(({ from }) => !Number.isFinite(from));
  if (!older) return [];
  const isWanted = older.to >= floor;
  // Fewer than here, or other ones, are told as what differs; as many below the floor say nothing.
  if (older.more === 0 && !(isWanted && older.isOpen)) return [];
  const { name } = run.resource;
  const why = isWanted
    ? `${unreadText(older.more, `older ${name}`, "were not read yet")}: \`brandapi sync ${name}\` goes on`
    : `${older.more} older ${name} were never asked for: \`brandapi sync ${name} --full\` reads them`;
  return [{ month: `before ${dayOf(older.to + 1)}`, state: "unproven", why, read_at: null }];
}

function newerThan(run: DatedRun, { unread }: Evidence): MonthResult[] {
  const newest = newestRead(run);
  const newer = unread.filter(({ isOpen, more, to }) => to > newest && (more > 0 || isOpen));
  if (newer.length === 0) return [];
  const { name } = run.resource;
  const more = sumOf(newer);
  const why = `${unreadText(more, `newer ${name}`, "were never read")}: \`brandapi sync ${name}\` reads them`;
  return [{ month: `since ${minuteOf(newest)}`, state: "unproven", why, read_at: null }];
}

function sumOf(unread: Evidence["unread"]): number {
  return unread.reduce((sum, { more }) => sum + more, 0);
}

/** As many as here need not be those that are here. */
function unreadText(more: number, which: string, how: string): string {
  return more > 0 ? `${more} ${which} ${how}` : `${which} ${how}, though as many are here`;
}

/** Each month of what was read, and what speaks against it. What no month has is told by itself: nothing is left out. */
function judge(run: DatedRun, { against, unread, whyProven }: Evidence): MonthResult[] {
  const { now, state } = run;
  const coverage = state.coverage();
  const covered = join(coverage);
  const newest = newestRead(run);
  const hasOlder = unread.some(({ from }) => !Number.isFinite(from));
  const hasNewer = unread.some(({ to }) => to > newest);
  // It may be of a time before all that the mirror has: an order that was moved there.
  const known = state.oldest({ from: 0, to: now }) ?? newest;
  const [lowest = everything] = covered;
  const from = Number.isFinite(lowest.from)
    ? lowest.from
    : Math.min(known, newest, lowest.to, ...against.map(({ to }) => to).filter((to) => to >= 0));
  const months = monthsOf({ from, to: newest });

  function judgeMonth(whole: Range): Pick<MonthResult, "state" | "why"> {
    const range = within([whole], { from, to: newest })[0] ?? whole;
    const here = against.filter((one) => touches(one, { ...whole, from: range.from }));
    if (here.length > 0) return different(here);
    if (!holds(covered, range)) return { state: "unproven", why: "not read completely" };
    if (hasOlder && whole.from < from) return { state: "unproven", why: `read from ${minuteOf(from)}` };
    if (hasNewer && whole.to > newest) return { state: "unproven", why: `read until ${minuteOf(newest)}` };
    return { state: "proven", why: whyProven(range) };
  }

  const listed = { from, to: months.at(-1)?.to ?? newest };
  const elsewhere = against.filter((one) => !touches(one, listed));
  return [
    ...months.map(({ month, ...whole }) => {
      const ages = coverage.filter((one) => touches(one, whole)).map(({ readAt }) => readAt);
      return { month, ...judgeMonth(whole), read_at: instantOrNull(Math.min(...ages)) };
    }),
    ...[...new Set(elsewhere.map(({ month }) => month))].map((month) => {
      const its = elsewhere.filter((one) => one.month === month);
      return { month, ...different(its), read_at: null };
    }),
  ];
}

function different(against: Evidence["against"]): Pick<MonthResult, "state" | "why"> {
  const oldestFirst = against.toSorted((a, b) => a.from - b.from);
  return { state: "different", why: oldestFirst.map(({ text }) => text).join("; ") };
}

function blindSpot({ resource: { strategy } }: DatedRun): string {
  return strategy.figures
    ? "a change to an old record that moves no count and no figure by day, such as a partial refund where the figures are gross: only reading again shows it, which every sync does in turn (`--audit`)"
    : "a change to a record that moves no count, or one that left while another came in the same month: only reading again shows it, which every sync does in turn (`--audit`)";
}
