import type { ApiVariants } from "./api-variants.js";
import { type Brand, type ListName, type Order, parseInstant, timeText } from "./brand.js";
import { campaignStates } from "./data/campaign-data.js";
import { contentSources, mediaTypes } from "./data/library-data.js";
import { mixBits } from "./data/random.js";
import {
  type Endpoint,
  type EndpointContext,
  ErrorResponse,
  type PageInfo,
  type ResponseData,
} from "./endpoint.js";
import { endOf, type Instant, instant, oneOf, paging, readQuery, someOf, uuids } from "./parameters.js";

/** An inclusive range in microseconds since 1970; null: no end. */
export interface InstantRange {
  from: number | null;
  to: number | null;
}

/** A list sorted by date, newest first; of equal dates, the record that came last is first. */
interface Sorted<T> {
  records: readonly T[];
  /** Microseconds since 1970, falling. */
  instants: Float64Array;
  undated: readonly T[];
}

/** Each list is sorted once: a happening puts another array in its place. */
const sortedLists = new WeakMap<readonly object[], Sorted<object>>();

/** The records of a list from one place up to another: a list of a million is not copied for each page. */
export interface ListSlice<T> {
  list: readonly T[];
  start: number;
  end: number;
}

/**
 * Returns the records of a range in the API's order.
 * @param dated the member that dates a record
 * @param request a number of the request's own, for an order that changes
 */
export function selectRange<T extends object>(
  list: readonly T[],
  dated: keyof T | undefined,
  range: InstantRange,
  variants: ApiVariants,
  request: number,
): ListSlice<T> {
  const { from, to } = variants.ignoresDateFilters ? { from: null, to: null } : range;
  const { instants, records, undated } = sorted(list, dated, variants.ties, request);
  const start = to === null ? 0 : firstWhere(instants, (at) => at <= to);
  const below = from === null ? instants.length : firstWhere(instants, (at) => at < from);
  const end = Math.min(records.length, Math.max(start, below) + (variants.includesRecordBelow ? 1 : 0));
  const takesAll = (from ?? to) === null || variants.undated === "everywhere";
  if ((!takesAll || undated.length === 0) && variants.order === "date") return { list: records, start, end };
  const found = [...records.slice(start, end), ...(takesAll ? undated : [])];
  return fullSlice(reordered(list, found, variants.order));
}

export function fullSlice<T>(list: readonly T[]): ListSlice<T> {
  return { list, start: 0, end: list.length };
}

function sorted<T extends object>(
  list: readonly T[],
  dated: keyof T | undefined,
  ties: ApiVariants["ties"],
  request: number,
): Sorted<T> {
  if (ties === "changing") return sort(list, dated, (place) => mixBits(place + request * 7_919));
  if (ties === "reversed") return sort(list, dated, (place) => -place);
  const before = sortedLists.get(list) as Sorted<T> | undefined;
  const after = before ?? sort(list, dated, (place) => place);
  sortedLists.set(list, after);
  return after;
}

function sort<T extends object>(
  list: readonly T[],
  dated: keyof T | undefined,
  rankOf: (place: number) => number,
): Sorted<T> {
  const dateOf = (record: T) => (dated === undefined ? Number.NaN : parseInstant(record[dated]));
  const all = list.map((record, place) => ({ record, at: dateOf(record), rank: rankOf(place) }));
  const sorted = all.filter(({ at }) => !Number.isNaN(at)).sort((a, b) => b.at - a.at || a.rank - b.rank);
  return {
    records: sorted.map(({ record }) => record),
    instants: Float64Array.from(sorted, ({ at }) => at),
    undated: all.filter(({ at }) => Number.isNaN(at)).map(({ record }) => record),
  };
}

/** Returns the first place from which on a condition holds. The instants fall, and it holds for all below one that it holds for. */
function firstWhere(instants: Float64Array, holds: (at: number) => boolean): number {
  let low = 0;
  let high = instants.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (!holds(instants[middle] as number)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function reordered<T extends object>(
  list: readonly T[],
  found: readonly T[],
  order: ApiVariants["order"],
): readonly T[] {
  if (order === "date") return found;
  const wanted = new Set(found);
  const asCame = list.filter((record) => wanted.has(record));
  const idOf = (record: T) => ("id" in record ? String(record.id) : "");
  return order === "attribution" ? asCame : asCame.sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
}

/** Returns a date as the API shows it, which may be less than it keeps. */
export function shownDate(text: string, shows: ApiVariants["datePrecision"]): string {
  if (shows === "everything" || !text.includes("T")) return text;
  if (shows === "milliseconds") return text.replace(/(\.\d{3})\d+/, "$1");
  if (shows === "days") return text.slice(0, 10);
  if (shows === "midnight") return `${text.slice(0, 10)}T00:00:00Z`;
  if (shows === "coarse") return `${text.slice(0, 16)}Z`;
  // 24:00:00 is no time of day.
  if (shows === "unreadable")
    return /[048]$/.test(text.slice(0, 16)) ? `${text.slice(0, 11)}24:00:00Z` : text;
  if (shows === "minutes") return `${text.slice(0, 16)}:00Z`;
  if (shows === "seconds") return `${text.slice(0, 19)}Z`;
  return `${timeText(Math.round(parseInstant(text) / 1_000_000) * 1_000).slice(0, 19)}Z`;
}

/** A request's selection from a list. */
export interface ListSelection<T> {
  records(brand: Brand): readonly T[];
  /** The member that dates a record; without one, the list promises no order. */
  dated?: keyof T;
  range?: InstantRange;
  keep?: ((record: T) => boolean) | undefined;
  isOldestFirst?: boolean;
  /** Gives a record the form in which the list serves it. */
  shape?(record: T): object;
}

/** Returns the page of a list that is asked for; totals can be those of the brand as it was. */
export function respondWithList<T extends object>(
  { brand, variants, now }: EndpointContext,
  query: Pick<PageInfo, "page" | "per_page">,
  { records, dated, range = { from: null, to: null }, keep, isOldestFirst, shape }: ListSelection<T>,
): ResponseData {
  const select = (from: Brand): ListSlice<T> => {
    const part = selectRange(records(from), dated, range, variants, now);
    if (!keep && !isOldestFirst) return part;
    const found = part.list.slice(part.start, part.end).filter(keep ?? (() => true));
    return fullSlice(isOldestFirst ? found.reverse() : found);
  };
  const found = select(brand);
  const { end, start } = variants.totalsFrom ? select(variants.totalsFrom) : found;
  const shown = (record: T) => {
    const date = variants.datePrecision !== "everything" && dated && record[dated];
    return typeof date === "string"
      ? { ...record, [String(dated)]: shownDate(date, variants.datePrecision) }
      : record;
  };
  return respondWithPage(found, query, variants, { total: end - start, shape: shape ?? shown });
}

/** @throws Refusal for a page past the end, if the API refuses those */
export function respondWithPage<T extends object>(
  { list, start, end }: ListSlice<T>,
  { page, per_page }: Pick<PageInfo, "page" | "per_page">,
  variants: ApiVariants,
  { total = end - start, shape = (record: T): object => record } = {},
): ResponseData {
  const size = Math.min(per_page, variants.maxPerPage);
  const total_items = Math.min(total, variants.maxTotal);
  const total_pages = Math.ceil(total_items / size) || variants.pagesWhenEmpty;
  if (page > Math.max(1, total_pages) && variants.pastEnd === "refused")
    throw new ErrorResponse(400, "invalid_parameter", `page must be at most ${total_pages}.`);
  const onPage = list.slice(start + (page - 1) * size, Math.min(end, start + page * size));
  const data = onPage.map((record) => shape(record));
  const [has_next, has_prev] = [page < total_pages, page > 1];
  return { data, pagination: { page, per_page: size, total_items, total_pages, has_next, has_prev } };
}

const ordersRules = {
  ...paging,
  start_date: instant,
  end_date: instant,
  status: oneOf(["all", "active", "cancelled", "refunded"], "all"),
};

export function orders(asked: EndpointContext): ResponseData {
  const query = readQuery(ordersRules, asked.query);
  return respondWithList(asked, query, {
    records: (brand) => brand.orders,
    dated: "order_date",
    range: ordersRange(query.start_date, query.end_date),
    keep: query.status === "all" ? undefined : (order) => isInStatus(order, query.status, asked.variants),
  });
}

export function ordersRange(start: Instant | null, end: Instant | null): InstantRange {
  return { from: start?.at ?? null, to: end && endOf(end) };
}

/** True if `status` selects the order. `active` is neither cancelled nor refunded; the others may overlap. */
function isInStatus(order: Order, status: string, { refundedFilter, statusFilters }: ApiVariants): boolean {
  const isCancelled = order.is_cancelled === true;
  const hasRefund = order.is_refunded === true || Number(order.refund_amount ?? 0) > 0;
  const isRefunded = refundedFilter === "any" ? hasRefund : order.is_refunded === true;
  if (status === "cancelled") return isCancelled;
  if (status === "refunded") return isRefunded && !(statusFilters === "partition" && isCancelled);
  return !isCancelled && !isRefunded;
}

const opportunitiesRules = { ...paging, status: someOf(campaignStates, (text) => text.toUpperCase()) };

export function opportunities(asked: EndpointContext): ResponseData {
  const query = readQuery(opportunitiesRules, asked.query);
  return respondWithList(asked, query, {
    records: (brand) => brand.opportunities,
    dated: "created_at",
    keep: ({ status }) => isAmong(query.status, status),
    shape: ({ deliverables, assignments, ...rest }) => rest,
  });
}

const contentRules = {
  ...paging,
  source: someOf(contentSources),
  media_type: someOf(mediaTypes),
  opportunity_id: uuids,
  host_id: uuids,
  uploaded_after: instant,
  uploaded_before: instant,
  sort: oneOf(["newest", "oldest"], "newest"),
};

export function content(asked: EndpointContext): ResponseData {
  const query = readQuery(contentRules, asked.query);
  const { uploaded_after, uploaded_before } = query;
  return respondWithList(asked, query, {
    records: (brand) => brand.content,
    dated: "created_at",
    // On or after, but strictly before: API document, /content.
    range: { from: uploaded_after?.at ?? null, to: uploaded_before ? uploaded_before.at - 1 : null },
    keep: (item) =>
      isAmong(query.source, item.source) &&
      isAmong(query.media_type, item.media_type) &&
      isAmong(query.opportunity_id, item.opportunity?.id) &&
      isAmong(query.host_id, item.host?.id),
    isOldestFirst: query.sort === "oldest",
  });
}

function isAmong(wanted: readonly string[] | null, value: string | undefined): boolean {
  return wanted?.some((one) => one === value) ?? true;
}

/** Declares a list that takes no filter. Those that the document does not show may come in one answer. */
export function plainList(name: ListName, scope: string): Endpoint {
  const isUnshown = name === "gifts" || name === "codes" || name === "surveys";
  return {
    path: `/${name}`,
    scope,
    handle(asked) {
      if (!isUnshown || asked.variants.undocumentedLists === "paged")
        return respondWithList<object>(asked, readQuery(paging, asked.query), {
          records: (brand) => brand[name],
        });
      readQuery({}, asked.query);
      return { data: asked.brand[name] };
    },
  };
}
