import { deleteInfo, loadInfo, loadJsonInfo, type Mirror, saveInfo, saveJsonInfo } from "./database.js";
import type { RunRow } from "./runs.js";

/*
 * Problems that have no column in `sync_runs`, so commands store them in `mirror_info`. Later commands such as `status`
 * report them.
 */

export interface AccessDenial {
  at: string;
  error: string;
  hint: string | null;
}

export function saveAccessDenial(mirror: Mirror, resourceName: string, denial: AccessDenial | null): void {
  mirror.transaction(() => saveJsonInfo(mirror, `denied:${resourceName}`, denial));
}

export function loadAccessDenial(mirror: Mirror, resourceName: string): AccessDenial | null {
  return loadJsonInfo(mirror, `denied:${resourceName}`);
}

export interface FailedCommand {
  command: string;
  at: string;
  error: string;
  hint: string | null;
  /** True if the API rejected the key or this machine's address, in which case later runs will fail as well. */
  isRefused: boolean;
}

/** Records that a command failed. The next command that opens the mirror for writing clears the record. */
export function saveFailedCommand(mirror: Mirror, failed: FailedCommand): void {
  mirror.transaction(() => saveJsonInfo(mirror, "failed_command", failed));
}

export function clearFailedCommand(mirror: Mirror): void {
  mirror.transaction(() => deleteInfo(mirror, "failed_command"));
}

export function loadFailedCommand(mirror: Mirror): FailedCommand | null {
  return loadJsonInfo(mirror, "failed_command");
}

/**
 * What all problems found by a `verify` run have in common:
 * - unrepairable: The problems, such as unreadable dates, must be fixed in the API.
 * - unread_only: The problems are unread records or outdated details.
 */
type VerifyFinding = "unrepairable" | "unread_only";

/** Stores a finding and the `run_id` of its `verify` run. If `runId` is null, deletes the finding instead. */
export function saveVerifyFinding(
  mirror: Mirror,
  finding: VerifyFinding,
  resourceName: string,
  runId: number | null,
): void {
  const name = `${finding}:${resourceName}` as const;
  if (runId === null) deleteInfo(mirror, name);
  else saveInfo(mirror, name, String(runId));
}

export function hasVerifyFinding(
  mirror: Mirror,
  finding: VerifyFinding,
  { resource, run_id }: Pick<RunRow, "resource" | "run_id">,
): boolean {
  return loadInfo(mirror, `${finding}:${resource}`) === String(run_id);
}
