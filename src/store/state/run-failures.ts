import { deleteInfo, type Mirror, readInfo, writeInfo } from "../mirror/database.js";

/** The API's refusal of a resource (402 or 403). `at`: ISO 8601. */
export interface Refusal {
  at: string;
  error: string;
  hint: string | null;
}

/** Returns the name of the entry of `mirror_info` with a resource's refusal. */
function refusalName(resource: string): string {
  return `refused:${resource}`;
}

/** Records that the key or the plan does not allow a resource; null clears it, because it was read again. */
export function writeRefusal(mirror: Mirror, resource: string, refusal: Refusal | null): void {
  const name = refusalName(resource);
  mirror.transaction(() =>
    refusal ? writeInfo(mirror, name, JSON.stringify(refusal)) : deleteInfo(mirror, name),
  );
}

/** Returns the refusal that ended the resource's last run that reached the API; null if there was none. */
export function readRefusal(mirror: Mirror, resource: string): Refusal | null {
  const json = readInfo(mirror, refusalName(resource));
  return json === null ? null : (JSON.parse(json) as Refusal);
}

/** A run that ended before it read anything, or because the API rejected the key. */
export interface FailedRun {
  command: string;
  at: string;
  error: string;
  hint: string | null;
  /** True if the API rejected the key or this machine's address: later runs fail too until somebody acts. */
  isRefused: boolean;
}

const failedRunName = "failed_run";

/** Records a failed run; null clears it, because a later run has started. */
export function writeFailedRun(mirror: Mirror, run: FailedRun | null): void {
  mirror.transaction(() => {
    if (run) writeInfo(mirror, failedRunName, JSON.stringify(run));
    else deleteInfo(mirror, failedRunName);
  });
}

export function readFailedRun(mirror: Mirror): FailedRun | null {
  const json = readInfo(mirror, failedRunName);
  return json === null ? null : (JSON.parse(json) as FailedRun);
}

/** Returns the name of the entry of `mirror_info` with a run's ID. */
function unrepairableName(resource: string): string {
  return `unrepairable:${resource}`;
}

/**
 * Records the run of a `verify` that found only problems which the API has to correct, such as unreadable dates; null
 * clears it.
 */
export function writeUnrepairableRun(mirror: Mirror, resource: string, runId: number | null): void {
  if (runId === null) deleteInfo(mirror, unrepairableName(resource));
  else writeInfo(mirror, unrepairableName(resource), String(runId));
}

/** True if this run is a `verify` that found only problems which the API has to correct. */
export function isUnrepairableRun(mirror: Mirror, resource: string, runId: number): boolean {
  return readInfo(mirror, unrepairableName(resource)) === String(runId);
}
