/** All that the API's document leaves open, or that a server may do all the same: each varies by itself. */
export interface Behaviour {
  /** The most records on a page, whatever was asked for: `pagination.per_page` says it. */
  mostPerPage: number;
  /** The order of records of equal date, and of lists without dates; `changing`: another one at each request. */
  ties: "stable" | "reversed" | "changing";
  /** What orders and content are sorted by: their dates, or when they came into the list. */
  order: "dates" | "attribution";
  /** How much of a date is shown of what is kept and filtered by; `mixed`: more of some than of others. */
  shows: "everything" | "milliseconds" | "seconds" | "minutes" | "days" | "mixed";
  /** Records without a date: in every range of dates, or only where no range is asked for. */
  undated: "everywhere" | "apart";
  undatedStand: "first" | "last";
  /** What a day as `end_date` means. */
  endDay: "whole" | "midnight";
  /** Figures by day: of all days, of the last 90 only, or 402. */
  figures: "all" | "recent" | "absent";
  revenue: "gross" | "net";
  /** Whether figures by day count cancelled orders. */
  cancelled: "in" | "out";
  /** `drifting`: revenue of most days is restated from hour to hour, for no record's sake. */
  rates: "fixed" | "drifting";
  /** Days without orders: a bucket of zeros, or none. */
  emptyDays: "zero" | "missing";
  /** What still tells of the records as they were when the request before was answered. */
  lags: "nothing" | "totals" | "figures" | "both";
  /** What `status=refunded` selects: orders refunded fully, or with any refund. */
  refunded: "fully" | "any";
  /** Whether `active`, `cancelled` and `refunded` are disjoint and all there is. */
  statuses: "partition" | "overlap" | "gaps";
  /** What comes past the last page: an empty one, or 400. */
  pastEnd: "empty" | "refused";
  /** `total_pages` of an empty list. */
  pagesOfNone: 0 | 1;
  /** Gifts, codes and surveys: in one answer that takes no parameter, or in pages. */
  unshown: "whole" | "paged";
  /** Answers are of the instant in which they are asked for; `late`: some come after others that were asked later. */
  delivery: "at once" | "late";
  /** Totals, and the numbers of pages, never say more: search engines count no further. */
  mostCounted: number;
}

/** What the document says, read as a reader would wish. */
export const documented: Behaviour = {
  mostPerPage: 100,
  ties: "stable",
  order: "dates",
  shows: "everything",
  undated: "apart",
  undatedStand: "last",
  endDay: "whole",
  figures: "all",
  revenue: "gross",
  cancelled: "in",
  rates: "fixed",
  emptyDays: "missing",
  lags: "nothing",
  refunded: "fully",
  statuses: "partition",
  pastEnd: "empty",
  pagesOfNone: 1,
  unshown: "paged",
  delivery: "at once",
  mostCounted: Number.POSITIVE_INFINITY,
};
