import { pluralize } from "../util/text.js";
import { formatDuration, formatInstant, formatMinute } from "../util/times.js";
import { deleteInfo, type Mirror, readInfo, writeInfo } from "./database.js";

/** The run that holds a mirror, as another process sees it. Times are ISO 8601. */
export interface CurrentRun {
  started_at: string;
  /** The progress it noted last; null if it has not begun to read. */
  progress: RunProgress | null;
}

/** How far a run is. */
export interface RunProgress {
  command: string;
  /** The resource that is being read; null between two. */
  resource: string | null;
  /** Its place among the resources of the run, from 1. */
  position: number;
  of: number;
  requests: number;
  /** Requests to come; null if that is not known of every resource. */
  requests_left: number | null;
  at: string;
}

/** A run that ended before it read anything, or because the API rejected the key. */
export interface FailedRun {
  command: string;
  at: string;
  error: string;
  hint: string | null;
  /** True if the API rejected the key, or refuses this machine: no later run can succeed until a person acts. */
  isRefused: boolean;
}

const name = "under_way";
const failedName = "failed_run";

export function noteProgress(mirror: Mirror, progress: RunProgress): void {
  mirror.transaction(() => writeInfo(mirror, name, JSON.stringify(progress)));
}

/** Notes a failed run until another gets further; null: one did. */
export function noteFailedRun(mirror: Mirror, run: FailedRun | null): void {
  mirror.transaction(() => {
    if (run) writeInfo(mirror, failedName, JSON.stringify(run));
    else deleteInfo(mirror, failedName);
  });
}

export function readFailedRun(mirror: Mirror): FailedRun | null {
  const noted = readInfo(mirror, failedName);
  return noted === null ? null : (JSON.parse(noted) as FailedRun);
}

/** @param since when the lock was taken, in milliseconds since 1970: an older note is of a run that was killed */
export function readCurrentRun(mirror: Mirror, since: number): CurrentRun {
  const noted = readInfo(mirror, name);
  const progress = noted === null ? null : (JSON.parse(noted) as RunProgress);
  const isOfThis = progress !== null && Date.parse(progress.at) >= Math.floor(since);
  return { started_at: formatInstant(since), progress: isOfThis ? progress : null };
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
