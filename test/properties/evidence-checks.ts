import type { MirrorClaims, Range } from "./claims.js";
import { isDated } from "./model.js";
import type { Version } from "./versions.js";
import type { RunResult, World } from "./world.js";

const dayMs = 86_400_000;

/** Checks that a verified mirror agrees with the API's counts and daily totals. */
export function checkEvidence(world: World, end: RunResult, claims: MirrorClaims): string[] {
  if (!isDated(world.listName)) return [];
  return [...checkCounts(world, end, claims), ...checkDailyTotals(world, end, claims)];
}

/**
 * Returns the counts that the mirror can reproduce: all records and, for orders, the cancelled and refunded orders.
 * With some API variants, the status filters do not match the orders' flags, so only all records are counted.
 */
function countsOf({
  variants,
  listName,
}: World): [name: string, counts: (record: Version["record"]) => boolean][] {
  const all: [string, () => boolean] = ["all", () => true];
  if (listName !== "orders" || variants.refundedFilter === "any" || variants.statusFilters === "partition")
    return [all];
  return [
    all,
    ["cancelled", ({ is_cancelled }) => is_cancelled === true],
    ["refunded", ({ is_refunded }) => is_refunded === true],
  ];
}

function checkCounts(
  world: World,
  end: RunResult,
  { ignoredFilters, present, coveredRanges }: MirrorClaims,
): string[] {
  const states = statesIn(world, end);
  const checks = countsOf(world).filter(([name]) => !ignoredFilters.has(name));
  const found: string[] = [];
  for (const range of coveredRanges)
    for (const [name, counts] of checks) {
      // The API filters by exact dates, but the mirror contains only the dates in responses, which can be less precise.
      const apiCounts = states.map(
        (state) => state.filter(({ record, second }) => isIn(range, second) && counts(record)).length,
      );
      const mine = present.filter(
        ({ dated, version }) => dated !== null && isIn(range, dated) && version && counts(version.record),
      ).length;
      if (!apiCounts.includes(mine))
        found.push(`verified, but the mirror counts ${mine} (${name}) and the API counts ${apiCounts}`);
    }
  return found;
}

function isIn({ from, to }: Range, instant: number): boolean {
  return instant >= from && instant <= to;
}

/** Checks that a verified mirror has no outdated records for a day whose totals changed after the day was read. */
function checkDailyTotals(world: World, end: RunResult, { present, readTimes }: MirrorClaims): string[] {
  const { variants, lags, runs, listName } = world;
  const canCompare =
    variants.dailyTotals !== "absent" && !variants.dailyTotalsDrift && lags !== "dailyTotals";
  if (listName !== "orders" || !canCompare || end.hadNoDailyTotals) return [];
  const recent = variants.dailyTotals === "recent" ? end.startedAt - 89 * dayMs : Number.NEGATIVE_INFINITY;
  const now = statesIn(world, end).map((state) => dailyTotals(world, state));
  const mine = dailyTotals(
    world,
    present.flatMap(({ version }) => version ?? []),
  );
  return [...new Set([...mine.keys(), ...now.flatMap((figures) => [...figures.keys()])])].flatMap((day) => {
    const reads = readTimes({ from: day, to: day + dayMs - 1 });
    if (day < recent || reads === null || reads.some((read) => read >= end.startedAt)) return [];
    const oldest = Math.min(...reads);
    const reading = runs.find(({ endedAt, startedAt }) => startedAt <= oldest && oldest <= endedAt);
    const then = reading ? statesIn(world, reading).map((state) => dailyTotals(world, state)) : [];
    const isSame = now.some((figures) =>
      [mine, ...then].some((known) => known.get(day) === figures.get(day)),
    );
    return isSame
      ? []
      : [`verified, but the totals of ${new Date(day).toISOString().slice(0, 10)} changed after it was read`];
  });
}

/** Returns each state of the API's data during a run. */
function statesIn({ versionHistory }: World, { endedAt, startedAt }: RunResult): Version[][] {
  return [startedAt, ...versionHistory.changes.filter((at) => at > startedAt && at <= endedAt)].map(
    versionHistory.at,
  );
}

/** Returns the daily totals as strings, keyed by the start of the day. Omits days without orders. */
function dailyTotals({ variants }: World, versions: readonly Version[]): Map<number, string> {
  const days = new Map<number, [orders: number, revenue: number, subtotal: number]>();
  for (const { record, second } of versions) {
    if (Number.isNaN(second) || (record.is_cancelled === true && variants.cancelled === "out")) continue;
    const day = Math.floor(second / dayMs) * dayMs;
    const [orders, revenue, subtotal] = days.get(day) ?? [0, 0, 0];
    const refund = variants.revenue === "net" ? Number(record.refund_amount) : 0;
    days.set(day, [
      orders + 1,
      revenue + Math.round((Number(record.total_amount) - refund) * 100),
      subtotal + Math.round(Number(record.subtotal_amount) * 100),
    ]);
  }
  return new Map([...days].map(([day, figures]) => [day, figures.join()]));
}
