import { everything } from "../lib/ranges.js";
import { instantOrNull, minuteOf } from "../lib/times.js";
import { countPresent } from "../state/index.js";
import type { List } from "../sync/list.js";
import type { SyncRun } from "../sync/run.js";
import { type Claim, claimOf } from "./claim.js";
import { countingSql, curlLine, sqliteLine, totalItems } from "./repeat.js";

/** Returns the claim of a list that was compared whole. @param why what is different, or why it is not proven */
export function listClaim(run: SyncRun, list: List, known: Pick<Claim, "agrees" | "mirror" | "note">): Claim {
  const { path, pagination, query } = run.resource;
  // Nothing is documented of its pages, so it is asked as it was: bare.
  const counting = "jq '.pagination.total_items // ([.data] | flatten(1) | length)'";
  const request =
    pagination === "unknown"
      ? curlLine(path, query, counting)
      : curlLine(path, { ...query, page: 1, per_page: 1 }, totalItems);
  const sql = sqliteLine(run.mirror, countingSql(run.resource, everything));
  const asked_at = instantOrNull(list.askedAt);
  return claimOf(run, "all, one by one", everything, { api: list.total, asked_at, request, sql, ...known });
}

/** Returns the claim of a resource that the API restates at any time: only when it was read. */
export function restatedClaim(run: SyncRun): Claim {
  const { mirror, resource, state } = run;
  const read = state.coverage();
  const times = read.map(({ readAt }) => readAt).sort((a, b) => a - b);
  const [first, last] = [times[0], times.at(-1)];
  const when = first === undefined || last === undefined ? "never read" : `read ${spanOf(first, last)}`;
  return claimOf(
    run,
    "unproven",
    read.length > 0 ? { from: read[0]?.from ?? 0, to: read.at(-1)?.to ?? 0 } : everything,
    {
      mirror: countPresent(mirror, resource.name),
      sql: sqliteLine(mirror, countingSql(resource, everything)),
      note: `the API restates it at any time; ${when}`,
    },
  );
}

function spanOf(first: number, last: number): string {
  return minuteOf(first) === minuteOf(last) ? minuteOf(first) : `${minuteOf(first)} to ${minuteOf(last)}`;
}
