import { Incomplete } from "../errors.js";
import { formatInstant } from "../lib/times.js";
import { countKnown, countPresent } from "../state/index.js";
import type { SyncRun } from "./run.js";

/**
 * Refuses removals that nobody should believe unasked: of more than half of over 20 records, or of all there are. Held
 * against all present records and, so that new ones do not make a removal likelier, against those known before.
 * @throws Incomplete
 */
export function guardRemovals(run: SyncRun, ids: readonly number[], name = run.resource.name): void {
  const present = countPresent(run.mirror, name);
  const known = countKnown(run.mirror, name);
  const old = ids.filter((id) => id <= known.newest).length;
  refuseRemovals(run, ids.length, present);
  refuseRemovals(run, old, known.count);
}

/** @throws Incomplete if so many removals of so many records are implausible, and nobody accepted them */
export function refuseRemovals({ options, resource }: SyncRun, removals: number, present: number): void {
  const isImplausible = removals > 0 && (removals === present || (present > 20 && removals > present / 2));
  if (isImplausible && !options.acceptRemovals)
    throw new Incomplete(
      `${resource.name}: the API no longer returns ${removals} of ${present} mirrored records: nothing was removed.`,
      { hint: "if that is right, run the same command again with `--accept-removals`" },
    );
}

/** Marks the missing records as removed (`removed_at`). @throws Incomplete as `guardRemovals` does */
export function removeMissing(run: SyncRun): void {
  const { clock, mirror, state, store } = run;
  const ids = state.missing.all().map(({ id }) => id);
  if (ids.length === 0) return;
  guardRemovals(run, ids);
  mirror.transaction(() => {
    store.remove(ids, formatInstant(clock.now()));
    state.missing.clear();
  });
}
