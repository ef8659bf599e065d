import type { Brand } from "./brand.js";

/**
 * Points that the API's document leaves open, or that a server may do differently, each as the document says it or as a
 * reader would wish. The help of `brandapi sandbox` names the choices. Tests vary each by itself.
 */
export const documentedBehaviour = {
  /** The most records on a page, whatever was asked for; `pagination.per_page` says it. */
  maxPerPage: 100,
  /** Records of equal date, and lists without dates. */
  ties: first("kept", "reversed", "changing"),
  /** The order of orders and content. `attribution`: the record that came last is first. */
  order: first("date", "id", "attribution"),
  /**
   * How much of a date is shown of what is kept and filtered by; `rounded` is to the next second, `coarse` has no seconds,
   * and every fourth of `unreadable` does not exist.
   */
  datePrecision: first(
    "everything",
    "milliseconds",
    "seconds",
    "rounded",
    "minutes",
    "coarse",
    "midnight",
    "days",
    "unreadable",
  ),
  /** Records without a date: listed only without a range, or in every range. */
  undated: first("apart", "everywhere"),
  /** Ranges of dates are accepted, and ignored. */
  ignoresDateFilters: first(false, true),
  /** Each answer also holds the record just below the range. */
  includesRecordBelow: first(false, true),
  /** `total_items` and the pages never say more. */
  maxTotal: Number.POSITIVE_INFINITY,
  /** The brand as `total_items` still sees it: totals that lag. */
  totalsFrom: first<Brand | null>(null),
  /** The figures by day: of all days, of the last 90 only, or 402. */
  dailyTotals: first("all", "recent", "absent"),
  /** The brand as the figures still see it. */
  dailyTotalsFrom: first<Brand | null>(null),
  revenue: first("net", "gross"),
  /** Cancelled orders: left out of the figures, or counted in them. */
  cancelled: first("out", "in"),
  /** The revenue of most days is restated from hour to hour, whatever happens to their orders. */
  dailyTotalsDrift: first(false, true),
  /** Days on which nothing happened: a bucket of zeros, or none. */
  emptyDays: first("zero", "missing"),
  /** The selection of `status=refunded`: orders refunded fully, or with any refund. */
  refundedFilter: first("fully", "any"),
  /** `active`, `cancelled` and `refunded` overlap, or each order is in exactly one. */
  statusFilters: first("overlap", "partition"),
  /** The answer to a page past the last. */
  pastEnd: first("empty", "refused"),
  pagesWhenEmpty: first(0, 1),
  /** Gifts, codes and surveys: in pages, or in one answer that takes no parameter. */
  undocumentedLists: first("paged", "whole"),
};

export type ApiVariants = typeof documentedBehaviour;

/** Returns the first of some values; the others are what it may be instead. */
function first<const V>(value: V, ..._others: V[]): V {
  return value;
}
