import type { RunRow } from "../store/runs.js";
import type { TableDifference } from "../store/table-check.js";
import type { CountSums } from "../sync/session.js";
import { pluralize } from "../util/format-text.js";
import type { Evidence } from "./evidence.js";

/**
 * The kinds of parts in a result:
 * - `month`: the records in a calendar month
 * - `list`: an entire list without dates
 * - `unread`: a date range or an entire list that has never been read
 * - `unreachable`: records that the API counts but does not return for any date range
 * - `unexpected-dates`: records with unreadable dates or dates outside the requested range
 */
type PartKind = "month" | "list" | "unread" | "unreachable" | "unexpected-dates";

type PrintedPartKind = Exclude<PartKind, "unreachable"> | "undated";

export interface PartResult {
  kind: PartKind;
  /** The name of the part: a month (`2026-01`), a date range, `all`, `undated` or `dates`. */
  part: string;
  state: "proven" | "unproven" | "different";
  why: string;
  /** The earliest of the times (ISO 8601) at which the part's date ranges were last read, or null if unknown. */
  read_at: string | null;
}

/** The sync that repaired the records. */
interface Repair extends Pick<RunRow, "run_id" | "rows_new" | "rows_changed" | "rows_removed"> {
  /** The number of changes that `brandapi changes --run` lists. Records that had never been read are not changes. */
  logged_changes: number;
}

export interface RecordsResult extends CountSums {
  resource: string;
  state: "proven" | "unproven" | "different" | "repaired";
  parts: PartResult[];
  blind_spot: string;
  /**
   * The number of unread records, excluding those dated before the floor. For a list that has been read, the number of
   * records with outdated details.
   */
  unread?: number;
  future?: { records: number; until: string } | null;
  /** The number of current records without a readable date. */
  undated?: number;
  /** True if the API's counts contradict each other, or if a list changed during every read. */
  unsettled?: boolean;
  repaired?: Repair;
  collectEvidence?: () => Evidence[];
}

export interface TablesResult {
  state: "proven" | "different" | "repaired";
  /** The tables that differed from the records, including those that have been rebuilt. */
  differences: (TableDifference & { why: string })[];
}

interface Problem {
  kind: "different" | "unread" | "tables" | "unsettled" | "unexpected-dates";
  text: string;
}

export interface VerificationResult extends RecordsResult {
  requests: number;
  tables: TablesResult;
  problems: Problem[];
}

/**
 * A result as printed by `verify --json`. The `month` field contains the part's name, and the `unreachable` kind is
 * called `undated`.
 */
export interface PrintedResult extends Omit<VerificationResult, "parts" | "problems" | "collectEvidence"> {
  months: (Omit<PartResult, "kind" | "part"> & { kind: PrintedPartKind; month: string })[];
  found: string[];
  evidence?: Evidence[] | undefined;
}

export function printedPartKind(kind: PartKind): PrintedPartKind {
  return kind === "unreachable" ? "undated" : kind;
}

export function createUnprovenPart(kind: PartKind, name: string, why: string): PartResult {
  return { kind, part: name, state: "unproven", why, read_at: null };
}

export function createUnprovenResult(resource: string, why: string): RecordsResult {
  const parts = [createUnprovenPart("list", "all", why)];
  const uncounted = { api_total: null, mirror_total: null, differing: null };
  return { resource, state: "unproven", parts, blind_spot: "", ...uncounted };
}

export function combineParts(parts: readonly PartResult[]): PartResult["state"] {
  const states = new Set(parts.map(({ state }) => state));
  if (states.has("different")) return "different";
  return states.has("unproven") || parts.length === 0 ? "unproven" : "proven";
}

/**
 * Lists the problems in a result.
 * @param tableError a description of tables that differ from the records, or null
 */
export function listProblems(records: RecordsResult, tableError: string | null): Problem[] {
  const { parts, resource, unread, unsettled } = records;
  const problems: Problem[] = [];
  const differing = parts.filter(({ state }) => state === "different").map(({ part }) => part);
  const more = differing.length > 3 ? ` and ${differing.length - 3} more` : "";
  const names = `${differing.slice(0, 3).join(", ")}${more}`;
  if (differing.length > 0)
    problems.push({ kind: "different", text: `${resource} differs from the API (${names})` });
  // A list is always read in full, but the details of its records may not have been read since they changed.
  const isList = parts.some(({ kind }) => kind === "list");
  const have = unread === 1 ? "has" : "have";
  if (unread)
    problems.push({
      kind: "unread",
      text: isList
        ? `${resource} has ${pluralize(unread, "record")} with outdated details`
        : `${resource} has ${pluralize(unread, "record")} that ${have} not been read yet`,
    });
  if (tableError !== null) problems.push({ kind: "tables", text: tableError });
  const dates = parts.find(({ kind }) => kind === "unexpected-dates");
  const contradiction = parts.find(({ kind }) => kind === "unreachable" || kind === "list");
  if (dates)
    problems.push({
      kind: "unexpected-dates",
      text: `${resource} has unexpected dates or IDs: ${dates.why}`,
    });
  else if (unsettled && contradiction)
    problems.push({ kind: "unsettled", text: `${resource} cannot be verified: ${contradiction.why}` });
  return problems;
}

/** True if every problem must be fixed in the API. False if there are no problems. */
export function needsApi(problems: readonly Problem[]): boolean {
  return problems.length > 0 && problems.every(({ kind }) => kind === "unexpected-dates");
}
