import type { Run } from "../store/state/runs.js";
import type { TableDifference } from "../store/tables/table-check.js";
import type { CountTotals } from "../sync/strategy.js";
import type { Evidence } from "./evidence.js";

/**
 * What a part of a result is about:
 * - `month`: a calendar month of records
 * - `list`: a complete list without dates
 * - `unread`: a range of dates that was never read
 * - `undated`: records that the API counts, but returns in no range of dates
 * - `unexpected-dates`: records whose dates are unreadable, or outside the range in which the API returns them
 */
export type PartKind = "month" | "list" | "unread" | "undated" | "unexpected-dates";

/** The result for a part of a resource. */
export interface PartResult {
  kind: PartKind;
  /** The printed name: a month (`2026-01`), a range of dates, `all`, `undated` or `dates`. */
  month: string;
  state: "proven" | "unproven" | "different";
  /** The reason for the state. */
  why: string;
  /** The oldest reading of the part's records, ISO 8601. */
  read_at: string | null;
}

/** The result for a resource's records. */
export interface RecordsResult extends CountTotals {
  resource: string;
  state: "proven" | "unproven" | "different" | "repaired";
  months: PartResult[];
  /** The changes that the verification cannot detect, as a noun; empty if there are none. */
  blind_spot: string;
  /** The number of records above the floor that were never read. */
  unread?: number;
  /** The number of records dated in the future, which cannot be read yet, and their newest date. */
  future?: { records: number; until: string } | null;
  /** The number of mirrored records without a valid date. */
  undated?: number;
  /** True if the API's counts contradict each other, or its list never settled. */
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

/** A problem, as a clause. */
export interface Problem {
  kind: "different" | "unread" | "tables" | "unsettled" | "unexpected-dates";
  text: string;
}

/** The result for a resource's records and its tables. */
export interface VerificationResult extends RecordsResult {
  /** The number of requests, including those of a repair. */
  requests: number;
  tables: TablesResult;
  /** `status` shows them until a later verification has none. */
  problems: Problem[];
}

/** A line of `verify --json`. */
export interface PrintedResult extends Omit<VerificationResult, "problems" | "readEvidence"> {
  /** The problems, one clause each. */
  found: string[];
  /** With `--evidence`. */
  evidence?: Evidence[] | undefined;
}

export function unprovenPart(kind: PartKind, name: string, why: string): PartResult {
  return { kind, month: name, state: "unproven", why, read_at: null };
}

/** Returns the result when there was nothing to compare. */
export function unprovenResult(resource: string, why: string): RecordsResult {
  const months = [unprovenPart("list", "all", why)];
  const uncounted = { api_total: null, mirror_total: null, differing: null };
  return { resource, state: "unproven", months, blind_spot: "", ...uncounted };
}

/** Combines the states of all parts: `different` takes precedence over `unproven`. */
export function combineParts(parts: readonly PartResult[]): PartResult["state"] {
  const states = new Set(parts.map(({ state }) => state));
  if (states.has("different")) return "different";
  return states.has("unproven") || parts.length === 0 ? "unproven" : "proven";
}

/** Returns the problems of a result. @param tableError the problem with the tables */
export function listProblems(records: RecordsResult, tableError: string | null): Problem[] {
  const { months: parts, resource, unread, unsettled } = records;
  const problems: Problem[] = [];
  const differing = parts.filter(({ state }) => state === "different").map(({ month }) => month);
  const more = differing.length > 3 ? ` and ${differing.length - 3} more` : "";
  const names = `${differing.slice(0, 3).join(", ")}${more}`;
  if (differing.length > 0)
    problems.push({ kind: "different", text: `${resource} differs from the API (${names})` });
  if (unread) problems.push({ kind: "unread", text: `${unread} ${resource} were not read yet` });
  if (tableError !== null) problems.push({ kind: "tables", text: tableError });
  const dates = parts.find(({ kind }) => kind === "unexpected-dates");
  const contradiction = parts.find(({ kind }) => kind === "undated" || kind === "list");
  if (dates)
    problems.push({ kind: "unexpected-dates", text: `${resource} with unexpected dates: ${dates.why}` });
  else if (unsettled && contradiction)
    problems.push({ kind: "unsettled", text: `${resource} cannot be verified: ${contradiction.why}` });
  return problems;
}

/** True if there are problems, and only the API can correct them. */
export function needsApi(problems: readonly Problem[]): boolean {
  return problems.length > 0 && problems.every(({ kind }) => kind === "unexpected-dates");
}
