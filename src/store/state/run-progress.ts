import { pluralize } from "../../util/text.js";
import { formatDuration, formatInstant, formatMinute } from "../../util/times.js";
import { type Mirror, readInfo, writeInfo } from "../mirror/database.js";

/** The run that has locked a mirror. Times are in ISO 8601. */
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
  /** The resource's position in the run, starting at 1, and the number of resources. */
  position: number;
  of: number;
  requests: number;
  /** The expected number of remaining requests, or null if unknown. */
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
