import { countCurrent } from "../store/records.js";
import type { IncompleteReason, ResourceSession, SyncRun } from "./session.js";

/**
 * Returns the reason to hold back a removal, or null to apply it. By default, a run must not remove all records, or
 * more than half of the records in a list of over 20, because such a removal suggests an error in the API.
 */
export function findHoldBackReason(
  { options, resource: { name } }: ResourceSession,
  removals: number,
  present: number,
): IncompleteReason | null {
  const isImplausible = removals > 0 && (removals === present || (present > 20 && removals > present / 2));
  if (!isImplausible || options.acceptRemovals) return null;
  return {
    text: `the API no longer returns ${removals} of ${present} mirrored records: nothing was removed`,
    hint: `if these records were really removed, run \`brandapi sync ${name} --accept-removals\``,
  };
}

/** Removes missing records. If implausibly many are missing, removes none and returns the reason. */
export function removeMissing(run: SyncRun): IncompleteReason[] {
  const { clock, mirror, resource, state, writer } = run;
  const ids = state.loadRemovableRecords().map(({ id }) => id);
  const reason = findHoldBackReason(run, ids.length, countCurrent(mirror, resource.name));
  if (reason) return [reason];
  if (ids.length === 0) return [];
  mirror.transaction(() => {
    writer.remove(ids, clock.now());
    state.missing.delete(ids);
  });
  return [];
}
