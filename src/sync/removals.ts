import { Incomplete } from "../errors.js";
import { countPresent } from "../store/stored-record.js";
import { formatInstant } from "../util/times.js";
import type { SyncRun } from "./session.js";

/**
 * Refuses implausible removals: of more than half of over 20 records, or of all.
 * @throws Incomplete unless `--accept-removals` was given
 */
export function checkRemovals({ options, resource }: SyncRun, removals: number, present: number): void {
  const isImplausible = removals > 0 && (removals === present || (present > 20 && removals > present / 2));
  if (isImplausible && !options.acceptRemovals)
    throw new Incomplete(
      `${resource.name}: the API no longer returns ${removals} of ${present} mirrored records: nothing was removed.`,
      { hint: `if that is right, run \`brandapi sync ${resource.name} --accept-removals\`` },
    );
}

/** Marks the missing records as removed (`removed_at`). @throws Incomplete as `guardRemovals` does */
export function removeMissing(run: SyncRun): void {
  const { clock, mirror, resource, state, store } = run;
  // A record that a marked slice returned is not gone, although the range of its date does not have it.
  const marked = state.markedIds();
  const ids = state.missing.all().flatMap(({ id }) => (marked.has(id) ? [] : id));
  checkRemovals(run, ids.length, countPresent(mirror, resource.name));
  if (ids.length > 0)
    mirror.transaction(() => {
      store.remove(ids, formatInstant(clock.now()));
      state.missing.delete(ids);
    });
}
