import { dayOf, dayRange, holds, join, monthsOf, type Range, touches, within } from "../ranges.js";
import type { Difference } from "../sync/counts.js";
import { askFigures } from "../sync/figures.js";
import { readRange } from "../sync/read.js";
import { differencesOf, reconcile } from "../sync/reconcile.js";
import type { SyncRun } from "../sync/run.js";
import { formatInstant, instantOrNull } from "../times.js";
import { type Evidence, gatherEvidence, neverRead, newestRead, undated } from "./evidence.js";
import { type Finding, type MonthResult, stateOf, unproven } from "./report.js";

/**
 * Proves a resource that the API can filter by date by the evidence that a sync goes by, told month by month: the counts
 * of all that was read, the figures by day, and what lies after the last reading.
 * @param repair reads what differs first, however much it is
 */
export async function verifyDated(run: SyncRun, repair: boolean): Promise<Finding> {
  const { mirror, now, resource, row, shortfalls, state } = run;
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
  if (repair) await readAndReconcile(run, floor);
  const evidence = await gatherEvidence(run);
  const months = [...olderThan(run, evidence, floor), ...judge(run, evidence), ...newerThan(run, evidence)];
  const isMended = row.rows_new + row.rows_changed + row.rows_removed > 0 && shortfalls.length === 0;
  const found = stateOf(months);
  const wanted = evidence.unread.filter(({ to }) => to >= floor);
  const left = { unread: sumOf(wanted), uncompared: wanted.some(({ isOpen }) => isOpen) };
  return { ...base, state: repair && isMended && found === "proven" ? "repaired" : found, months, ...left };
}

/** Reads what was never read, down to the floor, and then what differs. */
async function readAndReconcile(run: SyncRun, floor: number): Promise<void> {
  const { mirror, state } = run;
  const figures = await askFigures(run);
  const wanted = within(neverRead(run), { from: floor, to: Number.POSITIVE_INFINITY });
  for (const range of wanted.toReversed()) await readRange(run, range, figures);
  mirror.transaction(() => state.finish());
  await reconcile(run, figures, Number.POSITIVE_INFINITY, () => differencesOf(run, figures));
}

/** What the API has from before the oldest date that was read: nobody asked for it, or a reading was stopped above it. */
function olderThan(run: SyncRun, { unread }: Evidence, floor: number): MonthResult[] {
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

function newerThan(run: SyncRun, { unread }: Evidence): MonthResult[] {
  const newest = newestRead(run);
  const newer = unread.filter(({ from, isOpen, more }) => from > newest && (more > 0 || isOpen));
  if (newer.length === 0) return [];
  const { name } = run.resource;
  const since = formatInstant(newest).slice(0, 16).replace("T", " ");
  const more = sumOf(newer);
  const why = `${unreadText(more, `newer ${name}`, "were never read")}: \`brandapi sync ${name}\` reads them`;
  return [{ month: `since ${since}`, state: "unproven", why, read_at: null }];
}

function sumOf(unread: Evidence["unread"]): number {
  return unread.reduce((sum, { more }) => sum + more, 0);
}

/** As many as here need not be those that are here. */
function unreadText(more: number, which: string, how: string): string {
  return more > 0 ? `${more} ${which} ${how}` : `${which} ${how}, though as many are here`;
}

/** Each month of what was read, and what speaks against it. What no month has is told by itself: nothing is left out. */
function judge(run: SyncRun, evidence: Evidence): MonthResult[] {
  const { unread, whyProven } = evidence;
  const { now, state } = run;
  const coverage = state.coverage();
  const covered = join(coverage);
  const newest = newestRead(run);
  const hasOlder = unread.some(({ from }) => !Number.isFinite(from));
  const hasNewer = unread.some(({ to }) => to > newest);
  const speaking = spokenIn(evidence, newest);
  // It may be of a time before all that the mirror has: an order that was moved there.
  const known = state.oldest({ from: 0, to: now }) ?? newest;
  const oldest = Math.min(known, newest, ...speaking.map(({ to }) => to).filter((to) => to >= 0));
  const floor = covered[0]?.from ?? oldest;
  const from = Number.isFinite(floor) ? floor : Math.min(oldest, covered[0]?.to ?? oldest);
  const months = monthsOf({ from, to: newest });
  const told = months.map(({ month, ...whole }): MonthResult => {
    const range = { from: Math.max(whole.from, from), to: Math.min(whole.to, newest) };
    const ages = coverage.filter((one) => touches(one, range)).map(({ readAt }) => readAt);
    const read_at = ages.length === 0 ? null : formatInstant(Math.min(...ages));
    const against = speaking
      .filter((one) => touches(one, { ...range, to: whole.to }))
      .map(({ text }) => text);
    if (against.length > 0) return { month, state: "different", why: against.join("; "), read_at };
    if (!holds(covered, range)) return { month, state: "unproven", why: "not read completely", read_at };
    if (hasOlder && whole.from < from)
      return { month, state: "unproven", why: `read from ${formatInstant(from).slice(0, 16)}`, read_at };
    if (hasNewer && whole.to > newest)
      return { month, state: "unproven", why: `read until ${formatInstant(newest).slice(0, 16)}`, read_at };
    return { month, state: "proven", why: whyProven(range), read_at };
  });
  const listed = { from, to: months.at(-1)?.to ?? newest };
  const elsewhere = speaking.filter((one) => !touches(one, listed));
  const others = [...new Set(elsewhere.map(({ month }) => month))].map((month): MonthResult => {
    const why = elsewhere.filter((one) => one.month === month).map(({ text }) => text);
    return { month, state: "different", why: why.join("; "), read_at: null };
  });
  return [...told, ...others];
}

interface Spoken extends Range {
  month: string;
  text: string;
}

/** What speaks against the mirror, and of which dates: records that have none are in no range. */
function spokenIn({ changed, days, differences, missing }: Evidence, newest: number): Spoken[] {
  const monthOf = (day: string) => day.slice(0, -3);
  const nowhere = { from: Number.POSITIVE_INFINITY, to: Number.NEGATIVE_INFINITY };
  return [
    ...differences.map((one) => ({
      ...one,
      month: monthOf(dayOf(Math.min(one.to, newest))),
      text: differenceText(one),
    })),
    ...[...missing].map(([day, n]) => ({
      ...(day === undated ? nowhere : dayRange(day)),
      month: day === undated ? undated : monthOf(day),
      text: `${day}: ${n} no longer there`,
    })),
    ...changed.map((day) => ({
      ...dayRange(day),
      month: monthOf(day),
      text: `${day}: changed since it was read`,
    })),
    ...[...new Set(days.map(monthOf))].map((month) => {
      const moved = days.filter((day) => monthOf(day) === month);
      const range = { from: dayRange(moved[0] ?? month).from, to: dayRange(moved.at(-1) ?? month).to };
      return { ...range, month, text: `figures moved since they were read: ${moved.join(", ")}` };
    }),
  ];
}

function differenceText({ api, check, from, mirror, to }: Difference): string {
  const last = Number.isFinite(to) ? dayOf(to) : "now";
  const day = !Number.isFinite(from)
    ? `through ${last}`
    : dayOf(from) === last
      ? last
      : `${dayOf(from)} to ${last}`;
  return `${day}: ${check.name}: ${api} in the API, ${mirror} here`;
}

function blindSpot({ resource: { strategy } }: SyncRun): string {
  const hasFigures = strategy.kind === "dated" && strategy.figures !== undefined;
  return hasFigures
    ? "a change to an old record that moves no count and no figure by day, such as a partial refund where the figures are gross: only reading again shows it, which every sync does in turn (`--audit`)"
    : "a change to a record that moves no count, or one that left while another came in the same month: only reading again shows it, which every sync does in turn (`--audit`)";
}
