import { deleteInfo, type Mirror, readInfo, writeInfo } from "../mirror/database.js";

/** Returns the name of the entry of `mirror_info` with a run's ID. */
function infoName(resource: string): string {
  return `unrepairable:${resource}`;
}

/**
 * Records the run of a `verify` that found only problems which the API has to correct, such as unreadable dates; null
 * clears it.
 */
export function writeUnrepairableRun(mirror: Mirror, resource: string, runId: number | null): void {
  if (runId === null) deleteInfo(mirror, infoName(resource));
  else writeInfo(mirror, infoName(resource), String(runId));
}

/** True if this run is a `verify` that found only problems which the API has to correct. */
export function isUnrepairableRun(mirror: Mirror, resource: string, runId: number): boolean {
  return readInfo(mirror, infoName(resource)) === String(runId);
}
