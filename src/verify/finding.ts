import type { Run } from "../store/runs.js";
import type { Evidence } from "./evidence.js";

/** The verdict on a calendar month; on everything, if a resource has no dates. */
export interface MonthResult {
  /** `2026-01`, or `all`; the dates, if they were never read. */
  month: string;
  state: "proven" | "unproven" | "different";
  /** Why it is proven or not, or what is different. */
  why: string;
  /** When the records were last read, ISO 8601: the oldest read in the month. */
  read_at: string | null;
}

/** One resource's verdict: a line of `verify --json`. */
export interface Verdict extends CountTotals {
  resource: string;
  state: "proven" | "unproven" | "different" | "repaired";
  months: MonthResult[];
  /** Requests that it took, those of a repair included. */
  requests: number;
  /** The changes that this proof cannot see; empty if there are none. */
  blind_spot: string;
  /** How many records the API has that were asked for and not read yet. */
  unread?: number;
  /** Records dated in the future, which cannot be read yet, and their newest date. */
  future?: { records: number; until: string } | null;
  /** How many mirrored records have no readable date. */
  undated?: number;
  /** Set if the API's counts or its list did not agree with themselves. */
  unsettled?: boolean;
  /** The run of a repair, and the rows that it has written. */
  mended?: Pick<Run, "run_id" | "rows_new" | "rows_changed" | "rows_removed">;
  /** Returns each number that the verdict goes by, and what it does not prove. */
  claims?: () => Evidence[];
}

/** The counts of a proof: as in `sync_runs`. */
export type CountTotals = Pick<Run, "api_total" | "mirror_total" | "differing">;

/** A verdict before its requests are known. */
export type VerificationResult = Omit<Verdict, "requests">;

export function unprovenMonth(month: string, why: string): MonthResult {
  return { month, state: "unproven", why, read_at: null };
}

/** The verdict where nothing could be compared. */
export function unprovenResult(resource: string, why: string): VerificationResult {
  const months = [unprovenMonth("all", why)];
  const uncounted = { api_total: null, mirror_total: null, differing: null };
  return { resource, state: "unproven", months, blind_spot: "", ...uncounted };
}

/** The verdict of all months together: what is different outweighs what is unproven. */
export function stateOf(months: readonly MonthResult[]): "proven" | "unproven" | "different" {
  const states = new Set(months.map(({ state }) => state));
  if (states.has("different")) return "different";
  return states.has("unproven") || months.length === 0 ? "unproven" : "proven";
}
