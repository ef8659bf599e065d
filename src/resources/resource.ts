import type { JsonObject } from "../util/json-value.js";
import type { QueryParameters } from "../util/urls.js";
import type { Field } from "./fields.js";

/**
 * How a resource is read. Each strategy has a file in `sync`.
 * - dated: newest first, filtered by date; each run re-reads a trailing window (orders, content)
 * - full: all pages in every run
 * - details: all pages, and one request for each record whose details may have changed
 * - monthly: one response per calendar month
 * - ranking: all pages of a ranking, whose figures are stored once a day
 */
export type Strategy =
  | DatedStrategy
  | { kind: "full" }
  | DetailsStrategy
  | MonthlyStrategy
  | { kind: "ranking" };

export interface DatedStrategy {
  kind: "dated";
  /** The name of the member with the date. */
  date: string;
  /**
   * The API's parameters for a range. The instant of `from` is included; `end` defines whether the instant of `until`
   * is included as well.
   */
  from: string;
  until: string;
  end: "inclusive" | "exclusive";
  /** Filters of the API that are used to compare counts, but not to read records. */
  countedFilters?: readonly CountedFilter[];
  totalsSource?: TotalsSource;
}

export interface DetailsStrategy {
  kind: "details";
  /** Returns the path of a record's details. */
  path(key: string): string;
  /** True if the details can change while the item in the list stays the same. */
  canChange(record: JsonObject): boolean;
  /**
   * `merge`: the details replace the item. Otherwise the details are records of `resource`, with the key of their
   * parent in `parent`.
   */
  into: "merge" | { resource: Resource; parent: string };
}

export interface MonthlyStrategy {
  kind: "monthly";
  totalsSource: TotalsSource;
  /** The name of the resource whose hosts `sync --per-host` requests. */
  hostList: string;
}

/** A filter of the API, and the member that is true in the matching records. */
export interface CountedFilter {
  name: string;
  query: QueryParameters;
  member: string;
}

/**
 * The API's totals by day. They change when a record of the day changes, so one request shows which old days to
 * re-read. Their exact definition is not documented, so they are compared with earlier totals and not with sums of
 * records.
 */
export interface TotalsSource {
  path: string;
  query: QueryParameters;
  /** `points` is the member of the response with a list of points. `day` is the member of a point with its day. */
  points: string;
  day: string;
  /** `count` is the member of a point with the number of records. `amounts` are the members with amounts of money. */
  count: string;
  amounts: readonly string[];
}

export interface Resource<How extends Strategy = Strategy> {
  /** The name on the command line. */
  name: string;
  about: string;
  path: string;
  scope: string;
  /**
   * `documented`: pages of 100. `unknown`: the first request has no page, and more pages are requested only if the
   * response has a `pagination`.
   */
  pagination: "documented" | "unknown";
  strategy: How;
  /**
   * The members that identify a record, as paths with dots (`host.id`). A record without these members, or any record
   * if the list is empty, is identified by its position in the list.
   */
  key: readonly string[];
  /** Parameters of all list requests. */
  query: QueryParameters;
  /** The name of the main table. */
  table: string;
  tableAbout: string;
  fields: readonly Field[];
  /** True if undocumented scalars get a column when they first appear. */
  discoversColumns: boolean;
  /** The column of the main table that `--since` and `--until` filter by, if any. */
  date: string | null;
  /** True if earlier versions of records are stored for `changes` and `--as-of`. */
  history: boolean;
  /** Indexes of the main table for users' queries. */
  indexes: readonly (readonly string[])[];
}

/** The defaults. Each resource overrides some of them. */
export const common = {
  pagination: "documented",
  key: ["id"],
  query: {},
  discoversColumns: false,
  history: true,
  date: null,
  indexes: [],
} as const satisfies Partial<Resource>;

/** True if a resource can be synced with `--since` and `--until`. */
export function acceptsDates({ strategy }: Resource): boolean {
  return strategy.kind === "dated" || strategy.kind === "monthly";
}

/** Returns the resource of the details of a resource; null if its details are not separate records. */
export function detailsResource({ strategy }: Resource): Resource | null {
  return strategy.kind === "details" && strategy.into !== "merge" ? strategy.into.resource : null;
}

/** True if the details of records replace the items of the list. */
export function mergesDetails({ strategy }: Resource): boolean {
  return strategy.kind === "details" && strategy.into === "merge";
}

/** Orders and sales by day for the complete history, in one response (API document, "2. GET /analytics/clicks"). */
export const analyticsTotals: TotalsSource = {
  path: "/analytics/clicks",
  query: { group_by: "day", limit: 1 },
  points: "timeseries",
  day: "date",
  count: "orders",
  amounts: ["revenue", "subtotal_revenue"],
};
