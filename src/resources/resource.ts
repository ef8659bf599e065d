import type { JsonObject, QueryParameters } from "../util/json-value.js";
import type { Field } from "./fields.js";

/** How resources are declared: pure data beside the API document's own words. Tables and help follow from it. */

/**
 * How a resource is read. A closed set: each is one file in sync/strategies.
 * - dated:    newest first, filtered by a date: a trailing window is read again (orders, content)
 * - full:     every page, every time
 * - details:  every page, then one request for each record that needs it
 * - monthly:  one answer a calendar month
 * - snapshot: a ranking as it stands, kept once a day
 */
export type Strategy =
  | DatedStrategy
  | { kind: "full" }
  | DetailsStrategy
  | MonthlyStrategy
  | { kind: "snapshot" };

export interface DatedStrategy {
  kind: "dated";
  /** The member that holds the date. */
  date: string;
  /** The API's parameters for a range, and whether the instant of `until` belongs to it; that of `from` does. */
  from: string;
  until: string;
  end: "inclusive" | "exclusive";
  /** Filters that are only ever counted. */
  countedFilters?: readonly CountedFilter[];
  dailyTotals?: DailyTotals;
}

export interface DetailsStrategy {
  kind: "details";
  /** The path of one record's details, by the record's key. */
  path(key: string): string;
  /** True if the details can have changed although the list's record has not. */
  canChange(record: JsonObject): boolean;
  /** `merge`: details become the record. A resource: they are its records, with `parent` in their context. */
  into: "merge" | { resource: Resource; parent: string };
}

export interface MonthlyStrategy {
  kind: "monthly";
  dailyTotals: DailyTotals;
}

/** A filter of the API, and the member that is true in the records that it should select. */
export interface CountedFilter {
  name: string;
  query: QueryParameters;
  member: string;
}

/**
 * Totals by day that change when a record of the day does: one request tells which old days to read again. Their
 * definitions are not documented, so they are compared with themselves over time, and never taken as the truth.
 */
export interface DailyTotals {
  path: string;
  query: QueryParameters;
  /** The member of the response that holds its points, and the member of a point that holds its day. */
  points: string;
  day: string;
  /** The members of a point that hold the number of records, and amounts of money. */
  count: string;
  amounts: readonly string[];
}

export interface Resource<How extends Strategy = Strategy> {
  /** The name on the command line. */
  name: string;
  about: string;
  path: string;
  scope: string;
  /** `documented`: pages of 100. `unknown`: asked bare first, paged only when `pagination` comes back. */
  pagination: "documented" | "unknown";
  strategy: How;
  /**
   * The paths of the members that identify a record, dots between (`host.id`). A record that lacks them is
   * keyed by its position in the answer; so is every record where the list is empty.
   */
  key: readonly string[];
  /** Parameters that every request of this resource carries. */
  query: QueryParameters;
  /** The main table. */
  table: string;
  tableAbout: string;
  fields: readonly Field[];
  /** True if scalars that this version does not know become columns when they are first seen. */
  discoversColumns: boolean;
  /** The column of the main table that `--since` and `--until` filter by, if any. */
  date: string | null;
  /** True if previous forms of a record are kept, for `changes` and `--as-of`. */
  history: boolean;
  /** Indexes of the main table, for people's queries. */
  indexes: readonly (readonly string[])[];
}

/** The members that most resources share: a module gives those that differ after it. */
export const common = {
  pagination: "documented",
  key: ["id"],
  query: {},
  discoversColumns: false,
  history: true,
  date: null,
  indexes: [],
} as const satisfies Partial<Resource>;

/** True if `--since` and `--until` apply to how a resource is read. */
export function acceptsDates({ strategy }: Resource): boolean {
  return strategy.kind === "dated" || strategy.kind === "monthly";
}

/** Returns the resource whose records are a resource's details, kept beside it; null if there is none. */
export function detailsResource({ strategy }: Resource): Resource | null {
  return strategy.kind === "details" && strategy.into !== "merge" ? strategy.into.resource : null;
}

/** True if a record is made of the list's item and of its details. */
export function mergesDetails({ strategy }: Resource): boolean {
  return strategy.kind === "details" && strategy.into === "merge";
}

/** Each day's clicks and sales over the complete history, in one response: the API document, "2. GET /analytics/clicks". */
export const analyticsDailyTotals: DailyTotals = {
  path: "/analytics/clicks",
  query: { group_by: "day", limit: 1 },
  points: "timeseries",
  day: "date",
  count: "orders",
  amounts: ["revenue", "subtotal_revenue"],
};
