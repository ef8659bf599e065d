import { findResource } from "../resources/registry.js";
import { detailsResource } from "../resources/resource.js";
import type { Run } from "../store/state/runs.js";
import { pluralize } from "../util/text.js";
import { formatDuration } from "../util/times.js";

/**
 * Returns the summary line of a run.
 * @param known.floor the oldest date ever requested, ISO 8601; null: no lower limit
 * @param known.comparesTotals false if the run compared counts but no daily totals, although the API usually returns
 * them
 */
export function runLine(run: Run, known: { floor: string | null; comparesTotals: boolean }): string {
  const took = Date.parse(run.finished_at ?? run.started_at) - Date.parse(run.started_at);
  const counts = [
    `${run.rows_read}${kindsOf(run)} read`,
    `${run.rows_new} new`,
    `${run.rows_changed} changed`,
    `${run.rows_removed} removed`,
    pluralize(run.requests, "request"),
    ...(run.retries > 0 ? [pluralize(run.retries, "retry")] : []),
  ].join(", ");
  return `${counts} in ${formatDuration(Math.max(0, took))}, ${resultOf(run, known)}`;
}

/** Returns " surveys and results" if a run reads both, because the row count then includes both tables. */
function kindsOf({ resource }: Run): string {
  const known = findResource(resource);
  const details = known && detailsResource(known);
  return details ? ` ${resource} and ${details.name.split("-").at(-1)}` : "";
}

function resultOf(run: Run, { floor, comparesTotals }: Parameters<typeof runLine>[1]): string {
  const { covered_from: from, error, outcome, resource, verified } = run;
  if (outcome !== "done") return `${outcome}${error && outcome !== "stopped" ? `: ${error}` : ""}`;
  if (!verified) return "not verified";
  const verifiedBy = comparesTotals ? "verified" : "verified by counts";
  if (from === null) return verifiedBy;
  const older =
    from === floor
      ? `older ${resource} were never asked for; \`--full\` reads them`
      : `older ${resource} were never read`;
  return `${verifiedBy} from ${from.slice(0, 10)} (${older})`;
}
