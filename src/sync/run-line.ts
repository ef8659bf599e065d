import { findResource } from "../resources/registry.js";
import { detailsResource } from "../resources/resource.js";
import type { RunRow } from "../store/runs.js";
import { pluralize } from "../util/text.js";
import { formatDuration } from "../util/times.js";

interface RunFacts {
  floor: string | null;
  comparesTotals: boolean;
  listRows?: number | undefined;
}

/**
 * Formats the line that a run prints when it ends. Numbers have no thousands separators, because scripts parse these
 * lines.
 */
export function formatRunLine(run: RunRow, facts: RunFacts): string {
  const took = Date.parse(run.finished_at ?? run.started_at) - Date.parse(run.started_at);
  const counts = [
    `${formatRows(run, facts)} read`,
    `${run.rows_new} new`,
    `${run.rows_changed} changed`,
    `${run.rows_removed} removed`,
    pluralize(run.requests, "request", String),
    ...(run.retries > 0 ? [pluralize(run.retries, "retry", String)] : []),
  ].join(", ");
  return `${counts} in ${formatDuration(Math.max(0, took))}, ${formatResult(run, facts)}`;
}

/** Returns the number of rows read, such as `5`, or `9 surveys and 12 results` if the details have their own table. */
function formatRows({ resource, rows_read }: RunRow, { listRows }: RunFacts): string {
  const known = findResource(resource);
  const details = known && detailsResource(known)?.name.split("-").at(-1);
  if (!details) return String(rows_read);
  if (listRows === undefined) return `${rows_read} ${resource} and ${details}`;
  const count = (rows: number, name: string) => pluralize(rows, name.replace(/s$/, ""), String);
  return `${count(listRows, resource)} and ${count(rows_read - listRows, details)}`;
}

function formatResult(run: RunRow, { floor, comparesTotals }: RunFacts): string {
  const { covered_from: from, error, outcome, resource, verified } = run;
  if (outcome !== "done") return `${outcome}${error && outcome !== "stopped" ? `: ${error}` : ""}`;
  if (!verified) return "not verified";
  const verifiedBy = comparesTotals ? "verified" : "verified by counts";
  if (from === null) return verifiedBy;
  const older =
    from === floor
      ? `older ${resource} were never requested; \`--full\` reads them`
      : `not all older ${resource} were read`;
  return `${verifiedBy} from ${from.slice(0, 10)} (${older})`;
}
