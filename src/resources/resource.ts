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
  dateField: string;
  /** The API's parameters for a range, whose first instant is always included. */
  fromParameter: string;
  untilParameter: string;
  /** Determines whether the range includes the instant in `untilParameter`. */
  untilBound: "inclusive" | "exclusive";
  /**
   * API filters for comparing counts. Mirrors store the positions of the matching filters (`filterBits`), so new
   * filters are added at the end, and the order never changes.
   */
  countedFilters?: readonly CountedFilter[];
  totalsSource?: TotalsSource;
}

export interface DetailsStrategy {
  kind: "details";
  path(key: string): string;
  /** True if the details can change while the list item stays the same. */
  canChange(record: JsonObject): boolean;
  /**
   * `merge` replaces the list item. Otherwise, details are records of `resource`, and `parent` is their foreign key.
   */
  into: "merge" | { resource: Resource; parent: string };
}

export interface MonthlyStrategy {
  kind: "monthly";
  totalsSource: TotalsSource;
  /** The resource whose hosts `sync --per-host` requests. */
  hostList: string;
}

/** An API filter, and the field that is true in matching records. */
export interface CountedFilter {
  name: string;
  query: QueryParameters;
  field: string;
}

/**
 * The API's daily totals. They change when a record of that day changes, so a single request shows which old days to
 * re-read. Their exact definition is not documented, so they are compared with earlier totals rather than with sums
 * over the records.
 */
export interface TotalsSource {
  path: string;
  query: QueryParameters;
  /** The response field that contains one point per day. The fields below belong to a point. */
  pointsField: string;
  dayField: string;
  countField: string;
  amountFields: readonly string[];
}

export interface Resource<How extends Strategy = Strategy> {
  /** The name on the command line. */
  name: string;
  about: string;
  path: string;
  scope: string;
  /** If `unknown`, the first request specifies no page, and more pages are read if the response has a `pagination`. */
  pagination: "documented" | "unknown";
  strategy: How;
  /**
   * The fields that identify a record, as dotted paths (`host.id`). A record without them is identified by its position
   * in the API's list.
   */
  key: readonly string[];
  /** The parameters sent with every list request. */
  query: QueryParameters;
  /** The main table. Lists in `fields` declare child tables. */
  table: string;
  tableAbout: string;
  fields: readonly Field[];
  /** True if undocumented scalars get a column when they first appear. */
  discoversColumns: boolean;
  /** The main table's column that `--since` and `--until` filter by; null if there is none. */
  date: string | null;
  /** True if earlier versions of records are stored for `changes` and `--as-of`. */
  history: boolean;
  /** Indexes of the main table for users' queries. */
  indexes: readonly (readonly string[])[];
}

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

/** True for a resource that supports `sync --since` and `--until`. */
export function acceptsDates({ strategy }: Resource): boolean {
  return strategy.kind === "dated" || strategy.kind === "monthly";
}

/** Returns the resource of the details, or null if the details are not separate records. */
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
  pointsField: "timeseries",
  dayField: "date",
  countField: "orders",
  amountFields: ["revenue", "subtotal_revenue"],
};
