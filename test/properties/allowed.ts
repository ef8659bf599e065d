import { isShownByDay, resolutionMs } from "./evidence.js";
import type { RunEnd, World } from "./world.js";

/**
 * What the program may miss, on purpose: its README's limits name all of it, and nothing else is allowed.
 *
 * 1. Lists and crowds, read by page number: one leaves while another comes, between the same two answers. Whoever
 *    slipped past shows at the next run.
 * 2. A record whose date is rewritten where no figures by day show it, while an unrelated one vanishes: it may be
 *    removed until it is read again.
 *
 * (Records without a date are removed by `--full` alone: no claim is made of them, so there is nothing to allow.)
 */
export function mayBeHidden(world: World, readAt: number, keptAt: number): boolean {
  const run = world.runs.find(({ startedAt, endedAt }) => startedAt <= readAt && readAt <= endedAt);
  return run !== undefined && hasSwap(world, run, keptAt);
}

export function mayBeRemoved(world: World, run: RunEnd, key: string): boolean {
  const versions = world.truth.versions.get(key) ?? [];
  const last = versions.findLast(({ from }) => from <= run.endedAt);
  if (!last) return false;
  if (world.watched === "roster") return hasSwap(world, run, last.keptAt);
  // Since what time this program can have read it where it was before.
  const moved = versions.some(({ json, keptAt }) => json !== null && keptAt !== last.keptAt);
  const vanished = [...world.truth.versions].some(
    ([other, list]) =>
      other !== key &&
      list.some(
        (version, at) =>
          version.from <= run.endedAt &&
          at > 0 &&
          (version.json === null || version.keptAt !== list[at - 1]?.keptAt),
      ),
  );
  return (moved && vanished && !isShownByDay(world, last)) || hasSwap(world, run, last.keptAt);
}

/** Whether one left while another came, in this run, where a reader by page number saw neither go nor come. */
function hasSwap(world: World, { startedAt, endedAt }: RunEnd, keptAt: number): boolean {
  const { behaviour } = world.api;
  const isList = world.watched === "roster";
  const left: { keptAt: number; answered: number }[] = [];
  const came: typeof left = [];
  for (const versions of world.truth.versions.values())
    for (const [at, version] of versions.entries()) {
      if (version.from <= startedAt || version.from > endedAt) continue;
      const before = versions[at - 1];
      const wasThere = before !== undefined && before.json !== null;
      const isThere = version.json !== null;
      const isMoved = !isList && wasThere && isThere && before.keptAt !== version.keptAt;
      if (before && wasThere && (!isThere || isMoved))
        left.push({ keptAt: before.keptAt, answered: version.answered });
      if (isThere && (!wasThere || isMoved)) came.push(version);
    }
  if (isList) return left.some((one) => came.some(({ answered }) => answered === one.answered));
  const isNear = (other: { keptAt: number }) =>
    behaviour.order === "attribution" || Math.abs(other.keptAt - keptAt) <= resolutionMs(behaviour) * 1_000;
  return left.some(isNear) && came.some(isNear);
}
