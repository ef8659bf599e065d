import { isDated } from "./brand.js";
import { areTotalsLate, isCapped, isShownByDay, resolutionMs } from "./evidence.js";
import { isMisled, readingRun, wasMisinformed } from "./misled.js";
import type { Version } from "./truth.js";
import type { RunEnd, World } from "./world.js";

/**
 * What the program may miss, on purpose: its README's limits name all of it, and nothing else is allowed.
 *
 * 1. Lists and crowds, read by page number: one leaves while another comes, between the same two answers. Whoever
 *    slipped past shows at the next run.
 * 2. Totals that lag: the last page of a list that is full, and makes it as many as it says there are, hides who has
 *    just come. The next run shows them, and nobody is removed for it.
 * 3. A record whose date is rewritten where no figures by day show it, while an unrelated one vanishes or the count is
 *    answered wrongly: it may be removed until it is read again.
 * 4. A list by page numbers whose total says less than there is, with no next page: it ends there. Where neither the
 *    dates are in order nor the totals right, two of them may agree by chance; so does a total that stops at a number
 *    when one leaves and as many are left, while they are read.
 * 5. Answers with status 200 that are not as the API is, where nothing speaks against them: see `misled.ts`. What they
 *    hide shows when its place is read again.
 *
 * (Records without a date are removed by `--full` alone: no claim is made of them, so there is nothing to allow.)
 */
export function mayBeHidden(world: World, readAt: number, keptAt: number): boolean {
  if (endsTooSoon(world)) return true;
  const run = readingRun(world, readAt);
  if (!run) return false;
  if (isMisled(world, run)) return true;
  if (isCapped(world.api.behaviour) && movesIn(world, run).left.length > 0) return true;
  const isLateList = !isDated(world.watched) && areTotalsLate(world);
  const hides = ({ from, answered }: Move) => Number.isFinite(from) && answered === run.answered - 1;
  return (isLateList && moves(world).came.some(hides)) || hasSwap(world, run, keptAt);
}

/** Whether nothing tells of all that is on the list. */
export function endsTooSoon({ api, watched }: World): boolean {
  return isCapped(api.behaviour) && (!isDated(watched) || api.behaviour.order === "attribution");
}

/** Whether a record that the API has all along may be removed by this run; `held` is what the mirror had of it. */
export function mayBeRemoved(world: World, run: RunEnd, key: string, held: Version | undefined): boolean {
  const told = run.wrong.flatMap(({ how, part }) => (part === "list" ? how : []));
  // Who is missing is looked for in one more reading: it takes two.
  if (isMisled(world, run) && told.length > 1) return true;
  if (!isDated(world.watched)) return endsTooSoon(world) || swapsOfList(world, run) > 1;
  const last = world.truth.versions.get(key)?.findLast(({ from }) => from <= run.endedAt);
  if (!last || !held) return false;
  const isShown = isShownByDay(world, last) && !wasMisinformed(world, run);
  const isMoved = held.keptAt !== last.keptAt && !isShown;
  const vanished = moves(world).left.some((one) => one.key !== key && one.from <= run.endedAt);
  const isMiscounted = run.wrong.some(({ isCount }) => isCount);
  return (isMoved && (vanished || isMiscounted)) || hasSwap(world, run, last.keptAt);
}

/** Whether one left while another came, in this run, where a reader by page number saw neither go nor come. */
function hasSwap(world: World, run: RunEnd, keptAt: number): boolean {
  if (!isDated(world.watched)) return swapsOfList(world, run) > 0;
  const { behaviour } = world.api;
  const { left, came } = movesIn(world, run);
  const isNear = (other: Move) =>
    behaviour.order === "attribution" || Math.abs(other.keptAt - keptAt) <= resolutionMs(behaviour) * 1_000;
  return left.some(isNear) && came.some(isNear);
}

/** Between how many two answers one left and another came. */
function swapsOfList(world: World, run: RunEnd): number {
  const { left, came } = movesIn(world, run);
  const gaps = left.map(({ answered }) => answered).filter((gap) => came.some((one) => one.answered === gap));
  return new Set(gaps).size;
}

function movesIn(world: World, { startedAt, endedAt }: RunEnd): ReturnType<typeof moves> {
  const { left, came } = moves(world);
  const isIn = ({ from }: Move) => from > startedAt && from <= endedAt;
  return { left: left.filter(isIn), came: came.filter(isIn) };
}

type Move = Pick<Version, "from" | "answered" | "keptAt"> & { key: string };

/** Who left its place in the list, and who came to one. */
function moves({ truth, watched }: World): { left: Move[]; came: Move[] } {
  const left: Move[] = [];
  const came: Move[] = [];
  for (const [key, versions] of truth.versions)
    for (const [at, version] of versions.entries()) {
      const before = versions[at - 1];
      const wasThere = before !== undefined && before.json !== null;
      const isThere = version.json !== null;
      const isMoved = isDated(watched) && wasThere && isThere && before.keptAt !== version.keptAt;
      if (wasThere && (!isThere || isMoved)) left.push({ ...version, key, keptAt: before.keptAt });
      if (isThere && (!wasThere || isMoved)) came.push({ ...version, key });
    }
  return { left, came };
}
