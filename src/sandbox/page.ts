import type { Brand } from "./brand.js";
import { inRange, type Part, type Range, shownDate, whole } from "./dated.js";
import type { Doubts } from "./doubts.js";
import type { Asked, Pagination, Reply } from "./endpoint.js";
import { Refusal } from "./refusal.js";

/** A request's selection from a list. */
export interface Selection<T> {
  records(brand: Brand): readonly T[];
  /** The member that dates a record; without one, the list promises no order. */
  dated?: keyof T;
  range?: Range;
  keep?: ((record: T) => boolean) | undefined;
  isOldestFirst?: boolean;
  /** Gives a record the form in which the list serves it. */
  shape?(record: T): object;
}

/** Returns the page of a list that is asked for; totals can be those of the brand as it was. */
export function listed<T extends object>(
  { brand, doubts, now }: Asked,
  query: Pick<Pagination, "page" | "per_page">,
  { records, dated, range = { from: null, to: null }, keep, isOldestFirst, shape }: Selection<T>,
): Reply {
  const select = (from: Brand): Part<T> => {
    const part = inRange(records(from), dated, range, doubts, now);
    if (!keep && !isOldestFirst) return part;
    const found = part.list.slice(part.start, part.end).filter(keep ?? (() => true));
    return whole(isOldestFirst ? found.reverse() : found);
  };
  const found = select(brand);
  const { end, start } = doubts.totalsOf ? select(doubts.totalsOf) : found;
  const shown = (record: T) => {
    const date = doubts.shows !== "everything" && dated && record[dated];
    return typeof date === "string" ? { ...record, [String(dated)]: shownDate(date, doubts.shows) } : record;
  };
  return pageOf(found, query, doubts, { total: end - start, shape: shape ?? shown });
}

/** @throws Refusal for a page past the end, if the API refuses those */
export function pageOf<T extends object>(
  { list, start, end }: Part<T>,
  { page, per_page }: Pick<Pagination, "page" | "per_page">,
  doubts: Doubts,
  { total = end - start, shape = (record: T): object => record } = {},
): Reply {
  const size = Math.min(per_page, doubts.mostPerPage);
  const total_items = Math.min(total, doubts.mostCounted);
  const total_pages = Math.ceil(total_items / size) || doubts.pagesOfNone;
  if (page > Math.max(1, total_pages) && doubts.pastEnd === "refused")
    throw new Refusal(400, "invalid_parameter", `page must be at most ${total_pages}.`);
  const onPage = list.slice(start + (page - 1) * size, Math.min(end, start + page * size));
  const data = onPage.map((record) => shape(record));
  const [has_next, has_prev] = [page < total_pages, page > 1];
  return { data, pagination: { page, per_page: size, total_items, total_pages, has_next, has_prev } };
}
