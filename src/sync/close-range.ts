import { clearCheckpoint } from "../mirror/checkpoints.js";
import { readCoverage } from "../mirror/coverage.js";
import { candidates, countPresent } from "../mirror/removals.js";
import type { SyncContext } from "./context.js";
import type { Goal } from "./plan.js";
import { removeMissing } from "./removal.js";
import { countItems } from "./walk.js";

/** Removes what a proven range no longer holds, once the API's own count agrees that it is gone. */
export async function closeRange(context: SyncContext, goal: Goal): Promise<void> {
  const { mirror, resource } = context;
  const missing = candidates(mirror, resource.name).length;
  try {
    if (missing === 0) return;
    const present = countPresent(mirror, resource.name, goal);
    if (await countsAgree(context, missing)) removeMissing(context, { present, found: present - missing });
    else
      context.shortfalls.push(
        `${missing} records are no longer where they were dated, but the API's count does not say that they are gone: nothing was removed`,
      );
  } finally {
    clearCheckpoint(mirror, resource.name);
  }
}

/**
 * A record that is missing in a range may have moved to another date. Only when the whole covered history has as
 * many fewer records is it gone.
 */
async function countsAgree(context: SyncContext, missing: number): Promise<boolean> {
  const [first] = readCoverage(context.mirror, context.resource.name);
  const covered = { from: first?.from ?? Number.NEGATIVE_INFINITY, to: context.now };
  const counted = await countItems(context, covered.from, covered.to);
  return counted === countPresent(context.mirror, context.resource.name, covered) - missing;
}
