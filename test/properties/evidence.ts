import { isDated } from "./brand.js";
import type { Claims, Range } from "./claims.js";
import type { Version } from "./truth.js";
import type { RunEnd, World } from "./world.js";

const dayMs = 86_400_000;

/**
 * A verified run has seen all that the API offers as evidence: its counts of what is covered, and the figures of days
 * that moved since they were read.
 */
export function unseenEvidence(world: World, end: RunEnd, claims: Claims): string[] {
  if (!isDated(world.watched)) return [];
  return [...unseenCounts(world, end, claims), ...unseenFigures(world, end, claims)];
}

/** The counts that the API offers. A filter that the API means otherwise than its records say is known to its API only. */
function countsOf({
  variants,
  watched,
}: World): [name: string, counts: (record: Version["record"]) => boolean][] {
  const all: [string, () => boolean] = ["all", () => true];
  if (watched !== "orders" || variants.refundedFilter === "any" || variants.statusFilters === "partition")
    return [all];
  return [
    all,
    ["cancelled", ({ is_cancelled }) => is_cancelled === true],
    ["refunded", ({ is_refunded }) => is_refunded === true],
  ];
}

function unseenCounts(world: World, end: RunEnd, { distrusted, present, stretches }: Claims): string[] {
  const states = statesIn(world, end);
  const mine = present.flatMap(({ version }) => version ?? []);
  const checks = countsOf(world).filter(([name]) => !distrusted.has(name));
  const found: string[] = [];
  for (const range of stretches)
    for (const [name, counts] of checks) {
      const count = (versions: Version[]) =>
        versions.filter((one) => isIn(range, one) && counts(one.record)).length;
      if (!states.some((state) => count(state) === count(mine)))
        found.push(`verified, with ${count(mine)} ${name} where the API counts ${states.map(count)}`);
    }
  return found;
}

function isIn({ from, to }: Range, { second }: Version): boolean {
  return second >= from && second <= to;
}

/** Finds days whose figures moved after they were read, and of which the mirror still has what it had. */
function unseenFigures(world: World, end: RunEnd, { present, readsOf }: Claims): string[] {
  const { variants, lags, runs, watched } = world;
  // What lags or drifts is no evidence that the API offers.
  const areFigures = variants.dailyTotals !== "absent" && !variants.dailyTotalsDrift && lags !== "figures";
  if (watched !== "orders" || !areFigures || end.isBlind) return [];
  const recent = variants.dailyTotals === "recent" ? end.startedAt - 89 * dayMs : Number.NEGATIVE_INFINITY;
  const now = statesIn(world, end).map((state) => figuresOf(world, state));
  const mine = figuresOf(
    world,
    present.flatMap(({ version }) => version ?? []),
  );
  return [...new Set([...mine.keys(), ...now.flatMap((figures) => [...figures.keys()])])].flatMap((day) => {
    const reads = readsOf({ from: day, to: day + dayMs - 1 });
    if (day < recent || reads === null || reads.some((read) => read >= end.startedAt)) return [];
    const oldest = Math.min(...reads);
    const reading = runs.find(({ endedAt, startedAt }) => startedAt <= oldest && oldest <= endedAt);
    const then = reading ? statesIn(world, reading).map((state) => figuresOf(world, state)) : [];
    const isSame = now.some((figures) =>
      [mine, ...then].some((known) => known.get(day) === figures.get(day)),
    );
    return isSame
      ? []
      : [
          `verified, and the figures of ${new Date(day).toISOString().slice(0, 10)} have moved since it was read`,
        ];
  });
}

/** The API's records at each instant of a run. */
function statesIn({ truth }: World, { endedAt, startedAt }: RunEnd): Version[][] {
  return [startedAt, ...truth.changes.filter((at) => at > startedAt && at <= endedAt)].map(truth.at);
}

/** The figures of each day that has any, as text, by its midnight. */
function figuresOf({ variants }: World, versions: readonly Version[]): Map<number, string> {
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
