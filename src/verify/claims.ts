import { everything, type Range } from "../lib/ranges.js";
import { instantOrNull, minuteOf } from "../lib/times.js";
import { countPresent } from "../state/index.js";
import type { List } from "../sync/list.js";
import type { SyncRun } from "../sync/run.js";
import { countingSql, curlLine, sqliteLine, totalItems } from "./repeat.js";

/** A number of the API beside the mirror's, and the two lines that print them: a member of `evidence`. */
export interface Claim {
  resource: string;
  check: string;
  /** ISO 8601; null: without an end. */
  from: string | null;
  to: string | null;
  api: number | null;
  mirror: number | null;
  /** Null: it proves nothing, and `note` says why. */
  agrees: boolean | null;
  asked_at: string | null;
  /** A curl line, and one for the sqlite3 shell. */
  request: string | null;
  sql: string | null;
  note: string | null;
  /** The night (`2026-11-25`) by which each of these records is read again. */
  read_again_by: string | null;
}

/** @param sql what the line for the sqlite3 shell selects */
export function claimOf(
  { mirror, resource }: SyncRun,
  check: string,
  range: Range,
  known: Partial<Claim>,
): Claim {
  const [from, to] = [instantOrNull(range.from), instantOrNull(range.to)];
  const {
    api = null,
    agrees = null,
    asked_at = null,
    request = null,
    note = null,
    read_again_by = null,
  } = known;
  const sql = known.sql ? sqliteLine(mirror, known.sql) : null;
  const counts = { api, mirror: known.mirror ?? null, agrees, asked_at };
  return { resource: resource.name, check, from, to, ...counts, request, sql, note, read_again_by };
}

/** Returns the claim of a list that was compared whole. Of an undocumented list it asks bare, as a sync does. */
export function listClaim(run: SyncRun, { askedAt, total }: List, known: Partial<Claim>): Claim {
  const { path, pagination, query } = run.resource;
  const request =
    pagination === "unknown"
      ? curlLine(path, query, "jq '.pagination.total_items // ([.data] | flatten(1) | length)'")
      : curlLine(path, { ...query, page: 1, per_page: 1 }, totalItems);
  const sql = countingSql(run.resource, everything);
  return claimOf(run, "one by one", everything, {
    api: total,
    asked_at: instantOrNull(askedAt),
    request,
    sql,
    ...known,
  });
}

/** Returns the claim of a resource that the API restates at any time: only when it was read. */
export function restatedClaim(run: SyncRun): Claim {
  const times = run.state.coverage().map(({ readAt }) => readAt);
  const [first, last] = [Math.min(...times), Math.max(...times)].map((at) =>
    times.length > 0 ? minuteOf(at) : "never",
  );
  const note = `the API restates it at any time; read ${first}${first === last ? "" : ` to ${last}`}`;
  const counted = {
    mirror: countPresent(run.mirror, run.resource.name),
    sql: countingSql(run.resource, everything),
  };
  return claimOf(run, "unproven", everything, { ...counted, note });
}
