import type { Range } from "../lib/ranges.js";
import { instantOrNull } from "../lib/times.js";
import type { SyncRun } from "../sync/run.js";

/** One number of the API beside the mirror's, and the two lines that print them: a member of `evidence`. */
export interface Claim {
  resource: string;
  /** What was counted; `unproven` and `blind spot`: nothing was. */
  check: string;
  /** ISO 8601; null: without an end. */
  from: string | null;
  to: string | null;
  api: number | null;
  mirror: number | null;
  /** Null: it proves nothing, and `note` says why. */
  agrees: boolean | null;
  asked_at: string | null;
  /** A curl line; null: the API was not asked. */
  request: string | null;
  /** A line for the sqlite3 shell. */
  sql: string | null;
  note: string | null;
}

/** Returns a claim of a range; what is not given is null. */
export function claimOf({ resource }: SyncRun, check: string, range: Range, known: Partial<Claim>): Claim {
  const [from, to] = [instantOrNull(range.from), instantOrNull(range.to)];
  const unknown = {
    api: null,
    mirror: null,
    agrees: null,
    asked_at: null,
    request: null,
    sql: null,
    note: null,
  };
  return { resource: resource.name, check, from, to, ...unknown, ...known };
}
