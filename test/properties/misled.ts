import { isDated } from "./brand.js";
import { resolutionMs } from "./evidence.js";
import type { RunEnd, World } from "./world.js";

export function readingRun({ runs }: World, readAt: number): RunEnd | undefined {
  return runs.find(({ startedAt, endedAt }) => startedAt <= readAt && readAt <= endedAt);
}

export function wasToldWrong(run: RunEnd | undefined): boolean {
  return run?.wrong.some(({ part }) => part === "list") === true;
}

/** Whether it was shown some of its list as it had been before. */
export function wasCached({ wrong }: RunEnd): boolean {
  return wrong.some(({ how, part }) => part === "list" && how === "stale");
}

/**
 * Whether a run was told of its list what nothing in it speaks against: what a cache has kept; nothing at all, or what was
 * not asked for, more than once, so that two wrong answers agree; a part, more than once, where dates are shown so coarsely
 * that answers overlap; nothing, where the mirror holds nothing; a part, where the API says of none how many there are.
 */
export function isMisled(world: World, run: RunEnd | undefined): boolean {
  if (run && wasCached(run)) return true;
  const told = (run?.wrong ?? []).flatMap(({ how, part }) => (part === "list" ? how : []));
  const alike = ["empty", "ignores", ...(resolutionMs(world.api.behaviour) > 1_000 ? ["short"] : [])];
  const isAlike = told.length > 1 && told.some((how) => alike.includes(how));
  if (isAlike || isDated(world.watched)) return isAlike;
  if (told.includes("empty") && run?.before.size === 0) return true;
  // A list that is documented has a `pagination`: without it, it is no list.
  if (world.watched !== "gifts") return false;
  const isUncounted = world.api.behaviour.unshown === "whole";
  return told.includes("unpaged") || (isUncounted && told.includes("short"));
}

/**
 * Whether wrong figures by day came in this run, or came in one before and had them set aside: the mirror then says of
 * them that they are no evidence.
 */
export function wasMisinformed({ runs }: World, end: RunEnd): boolean {
  const isWrong = ({ wrong }: RunEnd) => wrong.some(({ part }) => part === "figures");
  return isWrong(end) || (end.isAside && runs.some((run) => run.endedAt <= end.endedAt && isWrong(run)));
}
