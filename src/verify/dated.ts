import { dayOf, dayRange, gaps, holds, join, monthsOf, touches } from "../ranges.js";
import { countItems, type Difference } from "../sync/counts.js";
import { askFigures } from "../sync/figures.js";
import { readRange } from "../sync/read.js";
import { differencesOf, reconcile } from "../sync/reconcile.js";
import type { SyncRun } from "../sync/run.js";
import { formatInstant } from "../times.js";
import { countMore, type Evidence, gatherEvidence, newerRange, newestRead } from "./evidence.js";
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
  const covered_from = Number.isFinite(floor) ? formatInstant(floor) : null;
  const base = { resource: resource.name, blind_spot: blindSpot(run), covered_from };
  if (state.coverage().length === 0)
    return {
      ...unproven(resource.name, "never read completely", base.blind_spot),
      covered_from,
      never_read: true,
    };
  if (repair) await mend(run);
  const evidence = await gatherEvidence(run);
  const older = await olderThan(run, floor);
  const between = await countBetween(run);
  const months = [
    ...older.months,
    ...judge(run, evidence, older.months.length > 0),
    ...newerThan(run, evidence),
  ];
  const isMended = row.rows_new + row.rows_changed + row.rows_removed > 0 && shortfalls.length === 0;
  const found = stateOf(months);
  const unread = Math.max(0, evidence.unread) + older.unread + between;
  return { ...base, state: repair && isMended && found === "proven" ? "repaired" : found, months, unread };
}

async function mend(run: SyncRun): Promise<void> {
  const figures = await askFigures(run);
  for (const range of [newerRange(run), ...gaps(run.state.coverage())]) await readRange(run, range, figures);
  await reconcile(run, figures, Number.POSITIVE_INFINITY, () => differencesOf(run, figures));
}

/** What the API has from before the oldest date that was read: nobody asked for it, or a reading was stopped above it. */
async function olderThan(run: SyncRun, floor: number): Promise<{ months: MonthResult[]; unread: number }> {
  const lowest = run.state.coverage()[0]?.from ?? Number.NEGATIVE_INFINITY;
  if (!Number.isFinite(lowest)) return { months: [], unread: 0 };
  const { name } = run.resource;
  const items = await countItems(run, { from: Number.NEGATIVE_INFINITY, to: lowest - 1 });
  if (items === 0) return { months: [], unread: 0 };
  const isWanted = floor < lowest;
  const why = isWanted
    ? `${items} older ${name} were not read yet: \`brandapi sync ${name}\` goes on`
    : `${items} older ${name} were never asked for: \`brandapi sync ${name} --full\` reads them`;
  const month = { month: `before ${dayOf(lowest)}`, state: "unproven" as const, why, read_at: null };
  return { months: [month], unread: isWanted ? items : 0 };
}

/** How many more records the API has than the mirror between what was read: the months there are not read completely. */
async function countBetween(run: SyncRun): Promise<number> {
  let unread = 0;
  for (const gap of gaps(run.state.coverage())) unread += Math.max(0, await countMore(run, gap));
  return unread;
}

function newerThan(run: SyncRun, { unread }: Evidence): MonthResult[] {
  if (unread === 0) return [];
  const { name } = run.resource;
  const since = formatInstant(newestRead(run)).slice(0, 16).replace("T", " ");
  const month = { month: `since ${since}`, read_at: null };
  if (unread < 0)
    return [{ ...month, state: "different", why: `${-unread} ${name} are no longer in the API` }];
  const why = `${unread} newer ${name} were never read: \`brandapi sync ${name}\` reads them`;
  return [{ ...month, state: "unproven", why }];
}

function judge(
  run: SyncRun,
  { days, differences, missing, unread, whyProven }: Evidence,
  hasOlder: boolean,
): MonthResult[] {
  const { now, state } = run;
  const coverage = state.coverage();
  const covered = join(coverage);
  const newest = newestRead(run);
  // Evidence may be of a time before all that the mirror has: an order that was moved there.
  const spokenOf = [
    ...differences.map(({ to }) => to),
    ...[...days, ...missing.keys()].map((day) => dayRange(day).to),
  ];
  const known = state.oldest({ from: Number.NEGATIVE_INFINITY, to: now }) ?? newest;
  const oldest = Math.min(known, newest, ...spokenOf);
  const floor = covered[0]?.from ?? oldest;
  const from = Number.isFinite(floor) ? floor : Math.min(oldest, covered[0]?.to ?? oldest);
  return monthsOf({ from, to: newest }).map(({ month, ...whole }) => {
    const range = { from: Math.max(whole.from, from), to: Math.min(whole.to, newest) };
    const ages = coverage.filter((one) => touches(one, range)).map(({ readAt }) => readAt);
    const read_at = ages.length === 0 ? null : formatInstant(Math.min(...ages));
    const moved = days.filter((day) => day.startsWith(month));
    const speaking = [
      ...differences.filter((one) => touches(one, range)).map(differenceText),
      ...[...missing]
        .filter(([day]) => day.startsWith(month))
        .map(([day, n]) => `${day}: ${n} no longer there`),
      ...(moved.length > 0 ? [`figures moved since they were read: ${moved.join(", ")}`] : []),
    ];
    if (speaking.length > 0) return { month, state: "different", why: speaking.join("; "), read_at };
    if (!holds(covered, range)) return { month, state: "unproven", why: "not read completely", read_at };
    if (hasOlder && whole.from < from)
      return { month, state: "unproven", why: `read from ${formatInstant(from).slice(0, 16)}`, read_at };
    if (unread !== 0 && whole.to > newest)
      return { month, state: "unproven", why: `read until ${formatInstant(newest).slice(0, 16)}`, read_at };
    return { month, state: "proven", why: whyProven(range), read_at };
  });
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
