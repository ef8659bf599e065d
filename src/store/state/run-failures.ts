import { deleteInfo, type Mirror, readInfo, writeInfo } from "../mirror/database.js";

/** The error of a resource that the key or plan does not allow (402 or 403). */
export interface Refusal {
  at: string;
  error: string;
  hint: string | null;
}

function refusalName(resource: string): string {
  return `refused:${resource}`;
}

/** Stores a resource's refusal. Null deletes it after a successful read. */
export function writeRefusal(mirror: Mirror, resource: string, refusal: Refusal | null): void {
  const name = refusalName(resource);
  mirror.transaction(() =>
    refusal ? writeInfo(mirror, name, JSON.stringify(refusal)) : deleteInfo(mirror, name),
  );
}

/** Returns a resource's refusal in its last run, or null if the run was allowed to read the resource. */
export function readRefusal(mirror: Mirror, resource: string): Refusal | null {
  const json = readInfo(mirror, refusalName(resource));
  return json === null ? null : (JSON.parse(json) as Refusal);
}

/** A command that failed before it read anything or because the API rejected the key. */
export interface FailedRun {
  command: string;
  at: string;
  error: string;
  hint: string | null;
  /** True if the API rejected the key or this machine's address, which also affects later runs. */
  isRefused: boolean;
}

const failedRunName = "failed_run";

/** Stores a failed command. Null deletes it when a later command has started. */
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

function unrepairableName(resource: string): string {
  return `unrepairable:${resource}`;
}

/**
 * Stores the `run_id` of a `verify` that found only problems that the API must correct, such as unreadable
 * dates. Null deletes it.
 */
export function writeUnrepairableRun(mirror: Mirror, resource: string, runId: number | null): void {
  if (runId === null) deleteInfo(mirror, unrepairableName(resource));
  else writeInfo(mirror, unrepairableName(resource), String(runId));
}

/** True if the run is a `verify` that found only problems that the API must correct. */
export function isUnrepairableRun(mirror: Mirror, resource: string, runId: number): boolean {
  return readInfo(mirror, unrepairableName(resource)) === String(runId);
}
