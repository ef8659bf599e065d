import { findResource } from "../resources/registry.js";
import type { RunRow } from "../store/runs.js";
import { pluralize } from "../util/format-text.js";
import { startOfSecond } from "../util/time-ranges.js";
import { formatDuration, formatMinute, formatStart } from "../util/timestamps.js";
import type { IncompleteReason, SyncResult } from "./session.js";

/** Formats a finished run's output line. Numbers have no thousands separators, because scripts parse these lines. */
export function formatRunLine(run: RunRow, result: Partial<SyncResult>): string {
  const took = Date.parse(run.finished_at ?? run.started_at) - Date.parse(run.started_at);
  const counts = [
    `${formatRows(run, result)} read`,
    `${run.rows_new} new`,
    `${run.rows_changed} changed`,
    `${run.rows_removed} removed`,
    pluralize(run.requests, "request", String),
    ...(run.retries > 0 ? [pluralize(run.retries, "retry", String)] : []),
  ].join(", ");
  return `${counts} in ${formatDuration(Math.max(0, took))}, ${formatResult(run, result)}`;
}

/**
 * Formats the number of rows read: for example, `5`, or `9 surveys and 12 results` if the details have a separate
 * table.
 */
function formatRows({ resource, rows_read }: RunRow, { listedRecords }: Partial<SyncResult>): string {
  const strategy = findResource(resource)?.strategy;
  if (strategy?.kind !== "details" || !strategy.detailRecords) return String(rows_read);
  const { record, detail } = strategy.detailRecords.singular;
  if (listedRecords === undefined) return `${rows_read} ${record}s and ${detail}s`;
  return `${pluralize(listedRecords, record, String)} and ${pluralize(rows_read - listedRecords, detail, String)}`;
}

function formatResult(run: RunRow, result: Partial<SyncResult>): string {
  const { covered_from: from, error, outcome, verified } = run;
  const { isLimitedToCounts = false, hasGaps = false, incompleteReasons = [] } = result;
  if (incompleteReasons.length > 0) return `${outcome}: ${joinReasons(incompleteReasons)}.`;
  if (outcome !== "done") return outcome === "stopped" || error === null ? outcome : `${outcome}: ${error}`;
  if (!verified) return "not verified";
  const verifiedBy = isLimitedToCounts ? "verified by counts" : "verified";
  // A run with an earlier `--until` says nothing about later dates.
  const end = endsEarly(run) ? ` through ${formatEnd(run.until)}` : "";
  if (from === null) return verifiedBy + end;
  const older = hasGaps
    ? "not all older records were read"
    : "older records were never requested; `--full` reads them";
  return `${verifiedBy} from ${formatStart(from)}${end} (${older})`;
}

function endsEarly(run: RunRow): run is RunRow & { until: string } {
  return run.until !== null && Date.parse(run.until) < startOfSecond(Date.parse(run.started_at)) - 1_000;
}

/** Formats the last date of a run: a day, or a minute if it is not the end of a day. */
function formatEnd(until: string): string {
  return until.endsWith("T23:59:59.999Z") ? until.slice(0, 10) : formatMinute(until);
}

export function joinReasons(reasons: readonly IncompleteReason[]): string {
  return reasons.map(({ text }) => text.replace(/\.$/, "")).join("; ");
}
