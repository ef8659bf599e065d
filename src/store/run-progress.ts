import { pluralize } from "../util/text.js";
import { formatDuration, formatInstant, formatMinute } from "../util/times.js";
import { deleteInfo, type Mirror, readInfo, writeInfo } from "./database.js";

/** The run that has locked a mirror, as another process sees it. Times are ISO 8601. */
export interface CurrentRun {
  started_at: string;
  /** The progress that it saved last; null if it has not read anything yet. */
  progress: RunProgress | null;
}

/** The progress of a run, saved for `status` in another terminal. */
export interface RunProgress {
  command: string;
  /** The resource that is being read; null between two resources. */
  resource: string | null;
  /** The position of that resource, from 1, and the number of resources in the run. */
  position: number;
  of: number;
  requests: number;
  /** The expected number of further requests; null if it is unknown for some resource. */
  requests_left: number | null;
  at: string;
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

/** Entries of `mirror_info`. */
const progressName = "under_way";
const failedRunName = "failed_run";

export function noteProgress(mirror: Mirror, progress: RunProgress): void {
  mirror.transaction(() => writeInfo(mirror, progressName, JSON.stringify(progress)));
}

/** Records a failed run; null clears it, because a later run has started. */
export function noteFailedRun(mirror: Mirror, run: FailedRun | null): void {
  mirror.transaction(() => {
    if (run) writeInfo(mirror, failedRunName, JSON.stringify(run));
    else deleteInfo(mirror, failedRunName);
  });
}

export function readFailedRun(mirror: Mirror): FailedRun | null {
  const json = readInfo(mirror, failedRunName);
  return json === null ? null : (JSON.parse(json) as FailedRun);
}

/** @param since when the lock was taken, in milliseconds since 1970: older progress belongs to a run that was killed */
export function readCurrentRun(mirror: Mirror, since: number): CurrentRun {
  const json = readInfo(mirror, progressName);
  const progress = json === null ? null : (JSON.parse(json) as RunProgress);
  const isCurrent = progress !== null && Date.parse(progress.at) >= Math.floor(since);
  return { started_at: formatInstant(since), progress: isCurrent ? progress : null };
}

/** Returns `since 2026-11-22 04:57 UTC, 12m ago (sync of orders, 10 of 10, 431 requests, about 570 to go)`. */
export function currentRunText({ started_at, progress }: CurrentRun, now: number): string {
  const age = formatDuration(Math.max(0, now - Date.parse(started_at)));
  return `since ${formatMinute(started_at)} UTC, ${age} ago (${progressText(progress)})`;
}

function progressText(progress: RunProgress | null): string {
  if (progress === null) return "nothing read yet";
  const { command, of, position, requests, requests_left, resource } = progress;
  return [
    resource === null ? command : `${command} of ${resource}`,
    ...(of > 1 ? [`${position} of ${of}`] : []),
    pluralize(requests, "request"),
    ...(requests_left ? [`about ${requests_left} to go`] : []),
  ].join(", ");
}
