import { Incomplete } from "../errors.js";
import { candidates, countPresent, isImplausible } from "../mirror/removals.js";
import { formatInstant } from "../times.js";
import type { SyncContext } from "./context.js";

/**
 * Marks the records that a complete, proven read did not find.
 * @param present how many the mirror held as present where the read looked
 * @param found how many the read found there
 * @throws Incomplete when the share is implausible, or the answer was empty, and nobody accepted it
 */
export function removeMissing(context: SyncContext, looked: { present: number; found: number }): void {
  const { mirror, options, resource, run, store } = context;
  const missing = candidates(mirror, resource.name);
  if (missing.length === 0) return;
  const empty = looked.found === 0;
  if (!options.acceptRemovals && (empty || isImplausible(missing.length, looked.present)))
    throw new Incomplete(
      `${resource.name}: the API no longer returns ${missing.length} of ${looked.present} mirrored records: nothing was removed.`,
      { hint: "if that is right, run the same command again with `--accept-removals`" },
    );
  mirror.db.transaction(() => {
    run.rows_removed += store.remove(missing, formatInstant(context.clock.now()));
  })();
}

/** The mirror's count before the read, for `removeMissing`. */
export function presentBefore(
  { mirror, resource }: SyncContext,
  range?: { from: number; to: number },
): number {
  return countPresent(mirror, resource.name, range);
}
