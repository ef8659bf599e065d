import { pluralize } from "../../util/text.js";
import { formatDuration, formatInstant, formatMinute } from "../../util/times.js";
import { type Mirror, readInfo, writeInfo } from "../mirror/database.js";

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

/** Entries of `mirror_info`. */
const progressName = "under_way";

export function writeProgress(mirror: Mirror, progress: RunProgress): void {
  mirror.transaction(() => writeInfo(mirror, progressName, JSON.stringify(progress)));
}

/** @param since when the lock was taken, in milliseconds since 1970: older progress belongs to a run that was killed */
export function readCurrentRun(mirror: Mirror, since: number): CurrentRun {
  const json = readInfo(mirror, progressName);
  const progress = json === null ? null : (JSON.parse(json) as RunProgress);
  const isCurrent = progress !== null && Date.parse(progress.at) >= Math.floor(since);
  return { started_at: formatInstant(since), progress: isCurrent ? progress : null };
}

/** Returns `since 2026-11-22 04:57 UTC, 12m ago (sync of orders, 10 of 10, 431 requests, about 570 to go)`. */
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
