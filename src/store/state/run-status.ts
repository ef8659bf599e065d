import { pluralize } from "../../util/text.js";
import { formatDuration, formatInstant, formatMinute } from "../../util/times.js";
import { deleteInfo, type Mirror, readInfo, writeInfo } from "../mirror/database.js";

/** The run that has locked a mirror. Times are ISO 8601 strings. */
export interface CurrentRun {
  started_at: string;
  /** The last saved progress, or null before the first response. */
  progress: RunProgress | null;
}

/** A run's progress, stored so that `status` can show it in another terminal. */
export interface RunProgress {
  command: string;
  /** The resource that is being read, or null between two resources. */
  resource: string | null;
  /** The resource's position in the run, starting at 1, and the total number of resources. */
  position: number;
  of: number;
  requests: number;
  /** The expected number of remaining requests, or null if it is unknown. */
  requests_left: number | null;
  at: string;
}

const progressName = "under_way";

export function writeProgress(mirror: Mirror, progress: RunProgress): void {
  mirror.transaction(() => writeInfo(mirror, progressName, JSON.stringify(progress)));
}

/**
 * @param since the time at which the mirror was locked, in milliseconds since 1970; older progress belongs to
 * a run that was killed
 */
export function readCurrentRun(mirror: Mirror, since: number): CurrentRun {
  const json = readInfo(mirror, progressName);
  const progress = json === null ? null : (JSON.parse(json) as RunProgress);
  const isCurrent = progress !== null && Date.parse(progress.at) >= Math.floor(since);
  return { started_at: formatInstant(since), progress: isCurrent ? progress : null };
}

/**
 * Describes a run: `since 2026-11-22 04:57 UTC, 12m ago (sync of orders, 10 of 10, 431 requests, about 570 to
 * go)`.
 */
export function describeCurrentRun({ started_at, progress }: CurrentRun, now: number): string {
  const age = formatDuration(Math.max(0, now - Date.parse(started_at)));
  return `since ${formatMinute(started_at)} UTC, ${age} ago (${describeProgress(progress)})`;
}

function describeProgress(progress: RunProgress | null): string {
  if (progress === null) return "nothing read yet";
  const { command, of, position, requests, requests_left, resource } = progress;
  return [
    resource === null ? command : `${command} of ${resource}`,
    ...(of > 1 ? [`${position} of ${of}`] : []),
    pluralize(requests, "request"),
    ...(requests_left ? [`about ${requests_left} to go`] : []),
  ].join(", ");
}

/** The error for a resource that the key or plan does not allow (402 or 403). */
export interface Refusal {
  at: string;
  error: string;
  hint: string | null;
}

function refusalName(resource: string): string {
  return `refused:${resource}`;
}

/** Stores the error with which the API refused a resource. After a successful read, pass null to delete it. */
export function writeRefusal(mirror: Mirror, resource: string, refusal: Refusal | null): void {
  const name = refusalName(resource);
  mirror.transaction(() =>
    refusal ? writeInfo(mirror, name, JSON.stringify(refusal)) : deleteInfo(mirror, name),
  );
}

/**
 * Returns the error with which the API refused a resource in the resource's last run, or null if that run was allowed
 * to read the resource.
 */
export function readRefusal(mirror: Mirror, resource: string): Refusal | null {
  const json = readInfo(mirror, refusalName(resource));
  return json === null ? null : (JSON.parse(json) as Refusal);
}

/** A command that failed, either before it read anything or because the API rejected the key. */
export interface FailedRun {
  command: string;
  at: string;
  error: string;
  hint: string | null;
  /** True if the API rejected the key or this machine's address. Such a rejection affects later runs as well. */
  isRefused: boolean;
}

const failedRunName = "failed_run";

/** Stores a failed command. Once a later command has started, pass null to delete the stored command. */
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
 * Stores the `run_id` of a `verify` run that found only problems that the API must correct, such as unreadable dates.
 * Pass null to delete the stored ID.
 */
export function writeUnrepairableRun(mirror: Mirror, resource: string, runId: number | null): void {
  if (runId === null) deleteInfo(mirror, unrepairableName(resource));
  else writeInfo(mirror, unrepairableName(resource), String(runId));
}

/** True if the run is a `verify` run that found only problems that the API must correct. */
export function isUnrepairableRun(mirror: Mirror, resource: string, runId: number): boolean {
  return readInfo(mirror, unrepairableName(resource)) === String(runId);
}
