import { Incomplete } from "../errors.js";
import { candidates, clearCandidates, isImplausible } from "../state/removals.js";
import { formatInstant } from "../times.js";
import type { SyncContext } from "./context.js";

/**
 * Marks the records that a complete, proven read did not find.
 * @param looked.present how many the mirror held as present where the read looked
 * @param looked.left how many would be left of all that was ever read
 * @throws Incomplete when the share is implausible, or nothing would be left, and nobody accepted it
 */
export function removeMissing(context: SyncContext, looked: { present: number; left: number }): void {
  const { mirror, options, resource, run, store } = context;
  const missing = candidates(mirror, resource.name);
  if (missing.length === 0) return;
  const isDoubtful = looked.left === 0 || isImplausible(missing.length, looked.present);
  if (isDoubtful && !options.acceptRemovals)
    throw new Incomplete(
      `${resource.name}: the API no longer returns ${missing.length} of ${looked.present} mirrored records: nothing was removed.`,
      { hint: "if that is right, run the same command again with `--accept-removals`" },
    );
  mirror.db.transaction(() => {
    run.rows_removed += store.remove(missing, formatInstant(context.clock.now()));
    clearCandidates(mirror, resource.name);
  })();
}
