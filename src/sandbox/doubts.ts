import type { Brand } from "./brand.js";

/** What the API's document leaves open, or a server may do all the same. Tests vary each by itself. */
export interface Doubts {
  /** The most records on a page, whatever was asked for; `pagination.per_page` says it. */
  mostPerPage: number;
  /** Records of equal date, and lists without dates. */
  ties: "kept" | "reversed" | "changing";
  /** The order of orders and content. `attribution`: the record that came last is first. */
  order: "date" | "id" | "attribution";
  /** How much of a date is shown of what is kept and filtered by; `rounded` is to the next second. */
  shows: "everything" | "milliseconds" | "seconds" | "rounded" | "minutes" | "midnight" | "days";
  /** Records without a date: listed only without a range, or in every range. */
  undated: "apart" | "everywhere";
  /** Each answer also holds the record just below the range. */
  belowRange: boolean;
  /** `total_items` and the pages never say more. */
  mostCounted: number;
  /** The brand as `total_items` still sees it: totals that lag. */
  totalsOf: Brand | null;
  /** The figures by day: of all days, of the last 90 only, or 402. */
  figures: "all" | "recent" | "absent";
  /** The brand as the figures still see it. */
  figuresOf: Brand | null;
  revenue: "net" | "gross";
  /** Whether figures count cancelled orders. */
  cancelled: "out" | "in";
  /** The revenue of most days is restated from hour to hour, whatever happens to their orders. */
  drift: boolean;
  /** Days on which nothing happened: a bucket of zeros, or none. */
  emptyDays: "zero" | "missing";
  /** What `status=refunded` selects: orders refunded fully, or with any refund. */
  refunded: "fully" | "any";
  /** Whether `active`, `cancelled` and `refunded` overlap, or part all orders. */
  statuses: "overlap" | "partition";
  /** What a page past the last answers. */
  pastEnd: "empty" | "refused";
  pagesOfNone: 0 | 1;
  /** Gifts, codes and surveys: in pages, or in one answer that takes no parameter. */
  unshown: "paged" | "whole";
}

/** What the document says, read as a reader would wish; the help of `brandapi sandbox` names the choices. */
export const documented: Doubts = {
  mostPerPage: 100,
  ties: "kept",
  order: "date",
  shows: "everything",
  undated: "apart",
  belowRange: false,
  mostCounted: Number.POSITIVE_INFINITY,
  totalsOf: null,
  figures: "all",
  figuresOf: null,
  revenue: "net",
  cancelled: "out",
  drift: false,
  emptyDays: "zero",
  refunded: "fully",
  statuses: "overlap",
  pastEnd: "empty",
  pagesOfNone: 0,
  unshown: "paged",
};
