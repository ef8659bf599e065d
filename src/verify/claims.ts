import { everything, type Range } from "../lib/ranges.js";
import { instantOrNull } from "../lib/times.js";
import { countPresent } from "../state/index.js";
import type { List } from "../sync/list.js";
import type { SyncRun } from "../sync/run.js";
import { countingSql, curlLine, sqliteLine } from "./repeat.js";

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
}

const counts = { api: null, mirror: null, agrees: null, asked_at: null };
const words = { request: null, sql: null, note: null };

/** @param known.sql what the line for the sqlite3 shell selects */
export function claimOf(run: SyncRun, check: string, range: Range, known: Partial<Claim>): Claim {
  const dates = { from: instantOrNull(range.from), to: instantOrNull(range.to) };
  const sql = known.sql ? sqliteLine(run.mirror, known.sql) : null;
  return { resource: run.resource.name, check, ...dates, ...counts, ...words, ...known, sql };
}

/** Returns the claim of a list that was compared whole. It is asked bare, because not each list is known to have pages. */
export function listClaim(run: SyncRun, { askedAt, total }: List, known: Partial<Claim>): Claim {
  const counting = "jq '.pagination.total_items // ([.data] | flatten(1) | length)'";
  const request = curlLine(run.resource.path, run.resource.query, counting);
  const sql = countingSql(run.resource, everything);
  const asked_at = instantOrNull(askedAt);
  return claimOf(run, "one by one", everything, { api: total, asked_at, request, sql, ...known });
}

/** Returns the claim of a resource that the API restates at any time. */
export function restatedClaim(run: SyncRun): Claim {
  const mirror = countPresent(run.mirror, run.resource.name);
  const sql = countingSql(run.resource, everything);
  return claimOf(run, "unproven", everything, { mirror, sql, note: "the API restates it at any time" });
}
