import type { Doubts } from "./doubts.js";
import { Refusal } from "./refusal.js";

/** The text of `data`, and `pagination` on paginated lists. */
export interface Reply {
  data: string;
  pagination?: Pagination;
}

export interface Pagination {
  page: number;
  per_page: number;
  total_items: number;
  total_pages: number;
  has_next: boolean;
  has_prev: boolean;
}

export function whole(data: unknown): Reply {
  return { data: JSON.stringify(data) };
}

/** Records are never changed in place, so the text of each is made once. */
const texts = new WeakMap<object, string>();

function textOf(record: object): string {
  const text = texts.get(record) ?? JSON.stringify(record);
  texts.set(record, text);
  return text;
}

/**
 * Returns one page of a list that is at hand whole.
 * @param total what `total_items` says
 * @param shape gives a record the form in which the list serves it
 * @throws Refusal for a page past the end, where the API refuses those
 */
export function pageOf<T extends object>(
  list: readonly T[],
  query: { page: number; per_page: number },
  doubts: Doubts,
  total = list.length,
  shape: (record: T) => object = (record) => record,
): Reply {
  const size = Math.min(query.per_page, doubts.mostPerPage);
  const counted = Math.min(total, doubts.mostCounted);
  const pages = Math.ceil(counted / size) || doubts.pagesOfNone;
  const start = (query.page - 1) * size;
  if (query.page > Math.max(1, pages) && doubts.pastEnd === "refused")
    throw new Refusal(400, "invalid_parameter", `page must be at most ${pages}.`);
  return {
    data: `[${list
      .slice(start, start + size)
      .map((record) => textOf(shape(record)))
      .join(",")}]`,
    pagination: {
      page: query.page,
      per_page: size,
      total_items: counted,
      total_pages: pages,
      has_next: query.page < pages,
      has_prev: query.page > 1,
    },
  };
}
