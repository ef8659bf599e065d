import type { JsonObject } from "../util/json-value.js";
import type { QueryParameters } from "../util/urls.js";
import type { Field } from "./fields.js";

/**
 * How a resource is read. Each strategy has a file in `sync`.
 * - dated: reads newest first, filtered by date; each run re-reads a trailing window (orders, content)
 * - full: reads all pages in every run
 * - details: reads all pages, and sends one request for each record whose details may have changed
 * - monthly: reads one response per calendar month
 * - ranking: reads all pages of a ranking and stores its figures once a day
 */
export type Strategy =
  | DatedStrategy
  | { kind: "full" }
  | DetailsStrategy
  | MonthlyStrategy
  | { kind: "ranking" };

export interface DatedStrategy {
  kind: "dated";
  /** The name of the field that contains the date. */
  date: string;
  /**
   * The API's parameters for a range. The range includes the instant `from`; `end` determines whether the range also
   * includes the instant `until`.
   */
  from: string;
  until: string;
  end: "inclusive" | "exclusive";
  /**
   * API filters that are used to compare counts, but not to read records. Mirrors store the positions of the matching
   * filters (`filterBits`), so new filters are added at the end, and the order never changes.
   */
  countedFilters?: readonly CountedFilter[];
  totalsSource?: TotalsSource;
}

export interface DetailsStrategy {
  kind: "details";
  /** Returns the path of a record's details. */
  path(key: string): string;
  /** True if the details can change while the list item stays the same. */
  canChange(record: JsonObject): boolean;
  /**
   * If the value is `merge`, the details replace the list item. Otherwise, the details are records of `resource`, and
   * `parent` names the field with their parent's key.
   */
  into: "merge" | { resource: Resource; parent: string };
}

export interface MonthlyStrategy {
  kind: "monthly";
  totalsSource: TotalsSource;
  /** The name of the resource whose hosts `sync --per-host` requests. */
  hostList: string;
}

/** An API filter, and the field that is true in matching records. */
export interface CountedFilter {
  name: string;
  query: QueryParameters;
  member: string;
}

/**
 * The API's daily totals. A day's totals change when one of that day's records changes, so a single request shows which
 * old days to re-read. Because the exact definition of the totals is not documented, they are compared with earlier
 * totals rather than with sums over the records.
 */
export interface TotalsSource {
  path: string;
  query: QueryParameters;
  /**
   * `points` is the response field that contains the list of points. `day` is the field of a point that contains its
   * day.
   */
  points: string;
  day: string;
  /**
   * `count` is the field of a point that contains the number of records. `amounts` are the fields that contain amounts
   * of money.
   */
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
   * If the value is `documented`, pages of 100 records are requested. If the value is `unknown`, the first request does
   * not specify a page, and more pages are requested only if the response has a `pagination` object.
   */
  pagination: "documented" | "unknown";
  strategy: How;
  /**
   * The fields that identify a record, as dotted paths (`host.id`). If the list is empty, or a record lacks these
   * fields, the record is identified by its position in the API's list.
   */
  key: readonly string[];
  /** The parameters sent with every list request. */
  query: QueryParameters;
  /** The name of the main table. */
  table: string;
  tableAbout: string;
  fields: readonly Field[];
  /** True if undocumented scalars get a column when they first appear. */
  discoversColumns: boolean;
  /** The main table's column that `--since` and `--until` filter by; null if there is none. */
  date: string | null;
  /** True if earlier versions of records are stored for `changes` and `--as-of`. */
  history: boolean;
  /** The main table's indexes, which speed up users' queries. */
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

/** Returns the counted filters of a resource, each with its bit in `records.flags`. */
export function filterBits({ strategy }: Resource): (CountedFilter & { bit: number })[] {
  const filters = strategy.kind === "dated" ? (strategy.countedFilters ?? []) : [];
  return filters.map((filter, position) => ({ ...filter, bit: 1 << position }));
}

/** True if a resource can be synced with `--since` and `--until`. */
export function acceptsDates({ strategy }: Resource): boolean {
  return strategy.kind === "dated" || strategy.kind === "monthly";
}

/** Returns the resource that a resource's details belong to, or null if the details are not separate records. */
export function detailsResource({ strategy }: Resource): Resource | null {
  return strategy.kind === "details" && strategy.into !== "merge" ? strategy.into.resource : null;
}

/** True if a record's details replace its list item. */
export function mergesDetails({ strategy }: Resource): boolean {
  return strategy.kind === "details" && strategy.into === "merge";
}

/** Daily orders and sales for the complete history, in one response (API document, "2. GET /analytics/clicks"). */
export const analyticsTotals: TotalsSource = {
  path: "/analytics/clicks",
  query: { group_by: "day", limit: 1 },
  points: "timeseries",
  day: "date",
  count: "orders",
  amounts: ["revenue", "subtotal_revenue"],
};
