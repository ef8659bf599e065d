import type { JsonObject } from "../util/json-value.js";
import type { QueryParameters } from "../util/urls.js";
import type { Field } from "./fields.js";

/** A list or report that the API offers, how it is read, and the tables in which it is stored. */
export interface Resource<S extends Strategy = Strategy> {
  name: string;
  about: string;
  path: string;
  scope: string;
  /** Query parameters that every request contains. */
  query: QueryParameters;
  /**
   * How the list is paginated. For `unknown`, the first request has no `page`, and further pages are read if the
   * response has a `pagination` object.
   */
  pagination: "documented" | "unknown";
  strategy: S;
  /**
   * The paths of the fields that identify a record, such as `host.id`. If a record lacks these fields, it is identified
   * by its position in the list.
   */
  key: readonly string[];
  /** The main table. Each list in `fields` has a child table. */
  table: string;
  tableAbout: string;
  fields: readonly Field[];
  /** True if undocumented fields become columns when they first appear. */
  discoversColumns: boolean;
  /** The date column to which `--since` and `--until` apply, if the main table has one. */
  dateColumn: string | null;
  /** True if the mirror keeps earlier versions of records for `changes` and `--as-of`. */
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
 * How a resource is read. `sync/sync-resources.ts` maps each kind to the functions that implement it.
 * - dated: reads by date, newest first, and re-reads a trailing window in every run (orders, content)
 * - list: reads all pages in every run
 * - details: reads all pages, and sends a request for each record whose details may have changed
 * - monthly: reads one response per calendar month
 * - ranking: reads all pages of a ranking and stores a daily snapshot
 */
export type Strategy =
  | DatedStrategy
  | { kind: "list" }
  | DetailsStrategy
  | MonthlyStrategy
  | { kind: "ranking" };

/** The `sync` flags that apply only to certain strategies. */
export type StrategyFlag =
  | "--since"
  | "--until"
  | "--window"
  | "--audit"
  | "--details"
  | "--group-by"
  | "--host"
  | "--per-host";

interface StrategyTraits {
  syncFlags: readonly StrategyFlag[];
  /**
   * True if every completed sync has read the entire resource. Such a sync can still be unverified, because of
   * unreadable dates or duplicate IDs. If false, an unverified sync may have read only part of the resource.
   */
  isAlwaysReadInFull: boolean;
  /** True if the API may restate the values at any time. In that case, they cannot be verified. */
  isUnverifiable: boolean;
}

/** The strategy properties that code outside `sync` depends on. */
export const strategyTraits: Readonly<Record<Strategy["kind"], StrategyTraits>> = {
  dated: {
    syncFlags: ["--since", "--until", "--window", "--audit"],
    isAlwaysReadInFull: true,
    isUnverifiable: false,
  },
  list: { syncFlags: [], isAlwaysReadInFull: true, isUnverifiable: false },
  details: { syncFlags: ["--details"], isAlwaysReadInFull: false, isUnverifiable: false },
  monthly: {
    syncFlags: ["--since", "--until", "--window", "--group-by", "--host", "--per-host"],
    isAlwaysReadInFull: false,
    isUnverifiable: true,
  },
  ranking: { syncFlags: [], isAlwaysReadInFull: false, isUnverifiable: true },
};

export interface DatedStrategy {
  kind: "dated";
  dateField: string;
  /** The query parameters for a date range. The start of the range is inclusive. */
  fromParameter: string;
  untilParameter: string;
  /** `inclusive` if the range includes the instant in `untilParameter`. */
  untilBound: "inclusive" | "exclusive";
  /**
   * The status filters for which the API's record counts are compared with the mirror's. Only append to this list,
   * because mirrors store the positions of the filters that match a record (`listStatusFilters`).
   */
  statusFilters?: readonly StatusFilter[];
  totalsSource?: TotalsSource;
}

/** An API filter for the records in which `field` is true. */
export interface StatusFilter {
  name: string;
  query: QueryParameters;
  field: string;
}

export interface DetailsStrategy {
  kind: "details";
  /** Returns the API path of a record's details. */
  path(key: string): string;
  /** True if a record's details can change while its list item stays the same. */
  canChange(record: JsonObject): boolean;
  /**
   * The separate resource in which details are stored, or null if details are merged into the record. In the separate
   * resource, `parentField` refers to the record. `singular` contains the singular nouns for output lines.
   */
  detailRecords: {
    resource: Resource;
    parentField: string;
    singular: { record: string; detail: string };
  } | null;
}

export interface MonthlyStrategy {
  kind: "monthly";
  totalsSource: TotalsSource;
  /** The resource that lists the hosts for `--per-host`. */
  hostResource: string;
}

/**
 * Declares where the API returns daily totals. A day's total changes when one of its records changes, so a single
 * request reveals all old days that must be re-read. Totals are compared with earlier totals rather than with the
 * records, because the exact definition of the totals is not documented.
 */
export interface TotalsSource {
  path: string;
  query: QueryParameters;
  /**
   * The response field that contains one object per day. `dayField`, `countField` and `amountFields` are fields of
   * these objects.
   */
  totalsField: string;
  dayField: string;
  countField: string;
  amountFields: readonly string[];
}

/** Returns the resource's status filters, each with its bit in the `records.status_bits` column. */
export function listStatusFilters({ strategy }: Resource): (StatusFilter & { statusBit: number })[] {
  const filters = strategy.kind === "dated" ? (strategy.statusFilters ?? []) : [];
  return filters.map((filter, position) => ({ ...filter, statusBit: 1 << position }));
}

export function acceptsDates({ strategy }: Resource): boolean {
  return strategyTraits[strategy.kind].syncFlags.includes("--since");
}

/** Returns the separate resource that stores the details of this resource's records, or null if it has none. */
export function detailsResource({ strategy }: Resource): Resource | null {
  return strategy.kind === "details" ? (strategy.detailRecords?.resource ?? null) : null;
}

/** True if each record consists of a list item merged with its details. */
export function mergesDetails({ strategy }: Resource): boolean {
  return strategy.kind === "details" && strategy.detailRecords === null;
}
