import type { Run } from "../store/state/runs.js";
import type { TableDifference } from "../store/tables/table-check.js";
import type { CountTotals } from "../sync/strategy.js";
import type { Evidence } from "./evidence.js";

/** The result for a calendar month, or for everything if a resource has no dates. */
export interface MonthResult {
  /** `2026-01`; `all`; a range of dates that was never read; `undated` or `dates` for records without a usable date. */
  month: string;
  state: "proven" | "unproven" | "different";
  /** The reason for the state: why it is proven or unproven, or how it differs. */
  why: string;
  /** When the records were last read, ISO 8601: the oldest read in the month. */
  read_at: string | null;
}

/** The result for a resource's records. */
export interface RecordsResult extends CountTotals {
  resource: string;
  state: "proven" | "unproven" | "different" | "repaired";
  months: MonthResult[];
  /** The changes that the verification cannot detect; empty if there are none. */
  blind_spot: string;
  /** The number of records above the floor that were never read. */
  unread?: number;
  /** The number of records dated in the future, which cannot be read yet, and their newest date. */
  future?: { records: number; until: string } | null;
  /** The number of mirrored records without a valid date. */
  undated?: number;
  /** Why the API's counts contradict each other, or its list never settled. The last month says why. */
  unsettled?: boolean;
  /** The run that repaired the resource, and the rows that it wrote. */
  repaired?: Pick<Run, "run_id" | "rows_new" | "rows_changed" | "rows_removed">;
  /** Returns each compared number, and what cannot be verified. */
  readEvidence?: () => Evidence[];
}

/** The comparison of a resource's tables with its records. */
export interface TablesResult {
  state: "proven" | "different" | "repaired";
  /** The tables that differ, or did before they were rebuilt; `why` describes the difference. */
  differences: (TableDifference & { why: string })[];
}

/** The result for a resource's records and its tables: a line of `verify --json`. */
export interface VerificationResult extends RecordsResult {
  /** The number of requests, including those of a repair. */
  requests: number;
  tables: TablesResult;
  /** The problems, one clause each. `status` shows them until a later verification has none. */
  found: string[];
}

export function unprovenMonth(month: string, why: string): MonthResult {
  return { month, state: "unproven", why, read_at: null };
}

/** Returns the result when there was nothing to compare. */
export function unprovenResult(resource: string, why: string): RecordsResult {
  const months = [unprovenMonth("all", why)];
  const uncounted = { api_total: null, mirror_total: null, differing: null };
  return { resource, state: "unproven", months, blind_spot: "", ...uncounted };
}

/** Combines the states of all months: `different` takes precedence over `unproven`. */
export function stateOf(months: readonly MonthResult[]): MonthResult["state"] {
  const states = new Set(months.map(({ state }) => state));
  if (states.has("different")) return "different";
  return states.has("unproven") || months.length === 0 ? "unproven" : "proven";
}

/** The month of records whose dates are unreadable, or outside the range in which the API returns them. */
export const unexpectedDates = "dates";

/** True if unexpected dates, which only the API can correct, keep a resource from being verified. */
export function hasUnexpectedDates({ months }: Pick<RecordsResult, "months">): boolean {
  return months.some(({ month }) => month === unexpectedDates);
}
