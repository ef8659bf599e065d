import { readCoverage, stretches, trimCoverage } from "../state/coverage.js";
import { candidateDates, dateOfNth } from "../state/removals.js";
import type { SyncContext } from "../sync/context.js";
import type { Goal } from "../sync/plan.js";
import { closeEarlier, hasKnownFigures } from "../sync/proof/close.js";
import { countChecks, type Difference, findDifferences } from "../sync/proof/counts.js";
import { dayOf, joinDays, joinRanges } from "../sync/proof/days.js";
import { closeDifferences } from "../sync/proof/differing.js";
import { askTripwire, movedDays, rememberDays } from "../sync/proof/tripwire.js";
import { countItems, readAgain } from "../sync/walk.js";
import { formatInstant } from "../times.js";
import { differingDays } from "./compare.js";
import { type MonthResult, monthsOf, stateOf, type Verdict } from "./report.js";

/**
 * Proves a resource that the API can filter by date, with few requests: the counts of the whole history under each
 * filter, halved down to the day where they differ, and the figures by day, where there are any.
 */
export async function verifyDated(context: SyncContext, repair: boolean): Promise<Omit<Verdict, "requests">> {
  const { mirror, resource } = context;
  trimCoverage(mirror, resource.name, context.now);
  const verdict = { resource: resource.name, blind_spot: blindSpot(context) };
  const covered = stretches(readCoverage(mirror, resource.name));
  const [first] = covered;
  if (!first)
    return {
      ...verdict,
      state: "unproven",
      months: [{ month: "all", state: "unproven", why: "never read completely", read_at: null }],
      unread: true,
    };
  const wire = await askTripwire(context);
  const moved = wire ? movedDays(context, wire) : [];
  const differences = await findDifferences(context, first);
  const open = undecided(context);
  if (repair && moved.length + differences.length + open.length > 0) {
    for (const range of joinRanges([...joinDays(moved), ...differences])) await readAgain(context, range);
    const rest = await closeDifferences(context, await findDifferences(context, first));
    // What was read just now has not moved since. Without figures from before, there is nothing to compare with.
    if (wire && hasKnownFigures(context)) rememberDays(context, wire);
    // Last: each reading can show that a record is gone.
    await closeEarlier(context);
    if (wire) rememberDays(context, wire);
    const months = judge(context, covered, [...rest, ...undecided(context)], []);
    return { ...verdict, state: stateOf(months) === "proven" ? "repaired" : stateOf(months), months };
  }
  const months = [
    ...(await olderThan(context, first)),
    ...judge(context, covered, [...differences, ...open], await differingDays(context, moved)),
  ];
  return { ...verdict, state: stateOf(months), months };
}

/**
 * Where there are records that a read did not find where they are dated, and that no run could decide about: they are
 * still shown as present, and counted as gone.
 */
function undecided({ mirror, resource, now }: SyncContext): Difference[] {
  const byDay = new Map<string, Difference>();
  for (const date of candidateDates(mirror, resource.name)) {
    const at = date ?? now;
    const one = byDay.get(dayOf(at)) ?? { from: at, to: at, check: "still where dated", api: 0, mirror: 0 };
    byDay.set(dayOf(at), {
      ...one,
      from: Math.min(one.from, at),
      to: Math.max(one.to, at),
      mirror: one.mirror + 1,
    });
  }
  return [...byDay.values()];
}

/** What the API has from before the first date that was ever asked for. */
async function olderThan(context: SyncContext, { from }: Goal): Promise<MonthResult[]> {
  if (!Number.isFinite(from)) return [];
  const items = await countItems(context, Number.NEGATIVE_INFINITY, from - 1);
  if (items === 0) return [];
  const { name } = context.resource;
  const why = `${items} older ${name} were never read: \`brandapi sync ${name} --full\` reads them`;
  return [{ month: `before ${formatInstant(from).slice(0, 10)}`, state: "unproven", why, read_at: null }];
}

function judge(
  context: SyncContext,
  covered: readonly Goal[],
  differences: readonly Difference[],
  moved: readonly string[],
): MonthResult[] {
  const { mirror, resource, now } = context;
  const spans = readCoverage(mirror, resource.name);
  const oldest =
    dateOfNth(mirror, resource.name, { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY }, 1) ??
    now;
  const from = Math.max(oldest, covered[0]?.from ?? oldest);
  const checks = countChecks(context).map(({ name }) => name);
  return monthsOf({ from, to: now }).map(({ month, ...range }) => {
    const inside = spans.filter((span) => span.from <= range.to && span.to >= range.from);
    const read_at =
      inside.length === 0 ? null : formatInstant(Math.min(...inside.map(({ readAt }) => readAt)));
    const counts = differences.filter((one) => one.from <= range.to && one.to >= range.from);
    const days = moved.filter((day) => day.startsWith(month));
    if (counts.length + days.length > 0)
      return { month, state: "different", why: differenceText(counts, days), read_at };
    if (
      !covered.some((one) => one.from <= range.from && one.to >= Math.min(range.to, covered.at(-1)?.to ?? 0))
    )
      return { month, state: "unproven", why: "not read completely", read_at };
    return { month, state: "proven", why: `the API counts the same (${checks.join(", ")})`, read_at };
  });
}

function differenceText(counts: readonly Difference[], days: readonly string[]): string {
  const parts = counts.map(
    ({ check, api, mirror, to }) =>
      `${formatInstant(to).slice(0, 10)}: ${check}: ${api} in the API, ${mirror} here`,
  );
  if (days.length > 0) parts.push(`figures moved since they were read: ${days.join(", ")}`);
  return parts.join("; ");
}

function blindSpot({ resource }: SyncContext): string {
  return resource.strategy.kind === "window"
    ? "a change to an old record that moves no count and no figure by day, such as a partial refund where the figures are gross, or one record that left while another came where there are no such figures: only reading again shows it, which every sync does in turn (`--audit`)"
    : "a change to an item that moves no count, such as an assignment's state, or one item that left while another came: only reading again shows it, which every sync does in turn (`--audit`)";
}
