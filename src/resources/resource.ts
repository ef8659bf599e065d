import type { JsonObject } from "../util/json-value.js";
import type { QueryParameters } from "../util/urls.js";
import type { Field } from "./fields.js";

/** The declaration of a resource: data in the words of the API document. Tables, help and engines follow from it. */

/**
 * How a resource is read. Each strategy is one file in `sync`.
 * - dated:    newest first, filtered by a date; a run reads a trailing window again (orders, content)
 * - full:     every page in every run
 * - details:  every page, and one request for each record whose details may have changed
 * - monthly:  one response per calendar month
 * - ranking:  every page of a ranking; its figures are stored once a day
 */
export type Strategy =
  | DatedStrategy
  | { kind: "full" }
  | DetailsStrategy
  | MonthlyStrategy
  | { kind: "ranking" };

export interface DatedStrategy {
  kind: "dated";
  /** The member with the date. */
  date: string;
  /**
   * The API's parameters for a range. The range includes the instant of `from`; `end` defines whether it includes that
   * of `until`.
   */
  from: string;
  until: string;
  end: "inclusive" | "exclusive";
  /** Filters of the API that are used to compare counts, never to read records. */
  countedFilters?: readonly CountedFilter[];
  dailyTotals?: DailyTotals;
}

export interface DetailsStrategy {
  kind: "details";
  /** Returns the path of a record's details. */
  path(key: string): string;
  /** True if the details may change while the record's item in the list stays the same. */
  canChange(record: JsonObject): boolean;
  /** `merge`: the details replace the item. A resource: they are its records, with the key of their parent as `parent`. */
  into: "merge" | { resource: Resource; parent: string };
}

export interface MonthlyStrategy {
  kind: "monthly";
  dailyTotals: DailyTotals;
  /** The name of the resource whose hosts `sync --per-host` requests. */
  hostList: string;
}

/** A filter of the API, and the member that is true in the records that it selects. */
export interface CountedFilter {
  name: string;
  query: QueryParameters;
  member: string;
}

/**
 * The API's totals by day. They change when a record of the day changes, so one request shows which old days to read
 * again. Their exact definition is not documented: they are compared with earlier totals, not with sums of records.
 */
export interface DailyTotals {
  path: string;
  query: QueryParameters;
  /** The member of the response with the points, and the member of a point with its day. */
  points: string;
  day: string;
  /** The members of a point with the number of records and with amounts. */
  count: string;
  amounts: readonly string[];
}

export interface Resource<How extends Strategy = Strategy> {
  /** The name on the command line. */
  name: string;
  about: string;
  path: string;
  scope: string;
  /** `documented`: pages of 100. `unknown`: the first request has no page; further pages only if the response has `pagination`. */
  pagination: "documented" | "unknown";
  strategy: How;
  /**
   * The members that identify a record, as paths with dots (`host.id`). Records without them are identified by their
   * position in the list, and so are all records if `key` is empty.
   */
  key: readonly string[];
  /** Parameters of every list request. */
  query: QueryParameters;
  /** The name of the main table. */
  table: string;
  tableAbout: string;
  fields: readonly Field[];
  /** True if undeclared scalars get a column when they first appear. */
  discoversColumns: boolean;
  /** The column of the main table that `--since` and `--until` filter by, if any. */
  date: string | null;
  /** True if earlier versions of records are stored, for `changes` and `--as-of`. */
  history: boolean;
  /** Indexes of the main table, for users' queries. */
  indexes: readonly (readonly string[])[];
}

/** The defaults: a resource spreads them first and overrides what differs. */
export const common = {
  pagination: "documented",
  key: ["id"],
  query: {},
  discoversColumns: false,
  history: true,
  date: null,
  indexes: [],
} as const satisfies Partial<Resource>;

/** True if `sync --since` and `--until` apply to a resource. */
export function acceptsDates({ strategy }: Resource): boolean {
  return strategy.kind === "dated" || strategy.kind === "monthly";
}

/** Returns the resource that a resource's details are stored as; null if it has none. */
export function detailsResource({ strategy }: Resource): Resource | null {
  return strategy.kind === "details" && strategy.into !== "merge" ? strategy.into.resource : null;
}

/** True if details replace the items of the list. */
export function mergesDetails({ strategy }: Resource): boolean {
  return strategy.kind === "details" && strategy.into === "merge";
}

/** Orders and sales by day over the complete history, in one response (API document, "2. GET /analytics/clicks"). */
export const analyticsDailyTotals: DailyTotals = {
  path: "/analytics/clicks",
  query: { group_by: "day", limit: 1 },
  points: "timeseries",
  day: "date",
  count: "orders",
  amounts: ["revenue", "subtotal_revenue"],
};
