import type { Run } from "../store/runs.js";
import type { CountTotals } from "../sync/session.js";
import type { Evidence } from "./evidence.js";

/** The result for a calendar month, or for everything if a resource has no dates. */
export interface MonthResult {
  /** `2026-01`, `all`, or the dates if they were never read. */
  month: string;
  state: "proven" | "unproven" | "different";
  /** Why it is proven or unproven, or what is different. */
  why: string;
  /** When the records were last read, ISO 8601: the oldest read in the month. */
  read_at: string | null;
}

/** The result for one resource: a line of `verify --json`. */
export interface Verdict extends CountTotals {
  resource: string;
  state: "proven" | "unproven" | "different" | "repaired";
  months: MonthResult[];
  /** The requests that it took, including those of a repair. */
  requests: number;
  /** The changes that this proof cannot see; empty if there are none. */
  blind_spot: string;
  /** How many records within the floor were not read yet. */
  unread?: number;
  /** Records dated in the future, which cannot be read yet, and their newest date. */
  future?: { records: number; until: string } | null;
  /** How many mirrored records have no readable date. */
  undated?: number;
  /** Set if the API's counts contradict each other, or its list never settled. */
  unsettled?: boolean;
  /** The run that repaired the resource, and the rows that it wrote. */
  mended?: Pick<Run, "run_id" | "rows_new" | "rows_changed" | "rows_removed">;
  /** Returns each number that was compared, and what cannot be verified. */
  claims?: () => Evidence[];
}

/** A result without the number of requests. */
export type VerificationResult = Omit<Verdict, "requests">;

export function unprovenMonth(month: string, why: string): MonthResult {
  return { month, state: "unproven", why, read_at: null };
}

/** Returns the result if nothing could be compared. */
export function unprovenResult(resource: string, why: string): VerificationResult {
  const months = [unprovenMonth("all", why)];
  const uncounted = { api_total: null, mirror_total: null, differing: null };
  return { resource, state: "unproven", months, blind_spot: "", ...uncounted };
}

/** Returns the state of all months together: different outweighs unproven. */
export function stateOf(months: readonly MonthResult[]): "proven" | "unproven" | "different" {
  const states = new Set(months.map(({ state }) => state));
  if (states.has("different")) return "different";
  return states.has("unproven") || months.length === 0 ? "unproven" : "proven";
}
