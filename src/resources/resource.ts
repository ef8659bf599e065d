import type { JsonObject } from "../util/json-value.js";
import type { QueryParameters } from "../util/urls.js";
import type { Field } from "./fields.js";

/** Declares a list or report of the API, the way in which it is read, and the tables in which it is stored. */
export interface Resource<S extends Strategy = Strategy> {
  name: string;
  about: string;
  path: string;
  scope: string;
  /** Parameters that are sent with every request. */
  query: QueryParameters;
  /**
   * `unknown` sends the first request without `page`, and reads further pages if the response has a `pagination`
   * object.
   */
  pagination: "documented" | "unknown";
  strategy: S;
  /**
   * The dotted paths of the fields that identify a record (`host.id`). If the fields are missing, the record is
   * identified by its position in the list.
   */
  key: readonly string[];
  /** The main table. Each list in `fields` declares a child table. */
  table: string;
  tableAbout: string;
  fields: readonly Field[];
  /** True if undocumented fields become columns when they first appear. */
  discoversColumns: boolean;
  /** The main table's date column for `--since` and `--until`, if any. */
  dateColumn: string | null;
  /** True if earlier versions of records are kept for `changes` and `--as-of`. */
  keepsHistory: boolean;
  indexes: readonly (readonly string[])[];
}

export const resourceDefaults = {
  query: {},
  pagination: "documented",
  key: ["id"],
  discoversColumns: false,
  dateColumn: null,
  keepsHistory: true,
  indexes: [],
} as const satisfies Partial<Resource>;

/**
 * How a resource is read. Each strategy has a file in `sync`.
 * - dated: reads by date, newest first, and re-reads a trailing window in every run (orders, content)
 * - full: reads all pages in every run
 * - details: reads all pages, and sends a request for each record whose details may have changed
 * - monthly: reads one response per calendar month
 * - ranking: reads all pages of a ranking and stores a daily snapshot
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
  /** The parameters for a date range. The start of the range is inclusive. */
  fromParameter: string;
  untilParameter: string;
  /** `inclusive` if the range includes the instant in `untilParameter`. */
  untilBound: "inclusive" | "exclusive";
  /**
   * Filters whose counts in the API are compared with the mirror. Append new filters and never reorder them, because
   * mirrors store the positions of matching filters (`filterBits`).
   */
  countedFilters?: readonly CountedFilter[];
  totalsSource?: TotalsSource;
}

/** An API filter for the records in which `field` is true. */
export interface CountedFilter {
  name: string;
  query: QueryParameters;
  field: string;
}

export interface DetailsStrategy {
  kind: "details";
  /** Returns the path of a record's details. */
  path(key: string): string;
  /** True if a record's details can change without a change to the record in the list. */
  canChange(record: JsonObject): boolean;
  /** The details are records of `resource` with the foreign key `parent`. If null, they replace the list item. */
  detailRecords: { resource: Resource; parent: string } | null;
}

export interface MonthlyStrategy {
  kind: "monthly";
  totalsSource: TotalsSource;
  /** The resource that lists the hosts for `--per-host`. */
  hostResource: string;
}

/**
 * The API's daily totals. A total changes when a record of that day changes, so a single request finds the old days to
 * re-read. Totals are compared with earlier totals and not with the records, because their exact definition is not
 * documented.
 */
export interface TotalsSource {
  path: string;
  query: QueryParameters;
  /** The response field with one point per day. `dayField`, `countField` and `amountFields` belong to a point. */
  totalsField: string;
  dayField: string;
  countField: string;
  amountFields: readonly string[];
}

/** Returns the resource's counted filters with their bits in `records.flags`. */
export function filterBits({ strategy }: Resource): (CountedFilter & { bit: number })[] {
  const filters = strategy.kind === "dated" ? (strategy.countedFilters ?? []) : [];
  return filters.map((filter, position) => ({ ...filter, bit: 1 << position }));
}

export function acceptsDates({ strategy }: Resource): boolean {
  return strategy.kind === "dated" || strategy.kind === "monthly";
}

/** Returns the resource whose records are the details, or null if there are no such records. */
export function detailsResource({ strategy }: Resource): Resource | null {
  return strategy.kind === "details" ? (strategy.detailRecords?.resource ?? null) : null;
}

/** True if each record consists of a list item and its details. */
export function mergesDetails({ strategy }: Resource): boolean {
  return strategy.kind === "details" && strategy.detailRecords === null;
}
