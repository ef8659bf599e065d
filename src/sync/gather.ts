import { isDeepStrictEqual } from "node:util";
import { lastPage, readPages } from "../api/pages.js";
import type { ApiRecord, Query } from "../resources/types.js";
import { progressed, type SyncRun } from "./run.js";

/** A list that is kept in memory until it is whole. */
export interface Gathered {
  items: ApiRecord[];
  /** The page that each came on. */
  pages: number[];
  /** `total_items` of the last answer; null where the API does not say. */
  total: number | null;
  /** How many answers it took: what comes in one is of one moment. */
  answers: number;
  /** Whether the API's count fell meanwhile: a record may then have slipped past, although the count agrees. */
  fell: boolean;
  /** Whether the API announces more and refuses to be asked for it: to ask again shows nothing else. */
  isAllThereIs: boolean;
  /** Whether it came as a list; otherwise one object was all. */
  isList: boolean;
  /** How many the API says a page has where none is asked for; null where it speaks of no pages. */
  perPage: number | null;
  /** Milliseconds: when the first answer was asked for. */
  askedAt: number;
}

/** Reads all pages of a list once. */
export async function gather(run: SyncRun, path: string, query: Query): Promise<Gathered> {
  const { api, resource, signal } = run;
  const items: ApiRecord[] = [];
  const pages: number[] = [];
  let [total, answers, fell, askedAt] = [0, 0, false, run.clock.now()];
  let perPage: number | null = null;
  let isAllThereIs = false;
  for await (const page of readPages(api, path, query, { scope: resource.scope, signal })) {
    const { per_page, total_items, total_pages } = page.pagination;
    perPage = per_page;
    for (const record of page.records) {
      items.push(record);
      pages.push(page.page);
    }
    answers += 1;
    askedAt = Math.min(askedAt, page.askedAt);
    fell ||= total_items < total;
    total = total_items;
    isAllThereIs = total_pages > lastPage;
    progressed(run, page.records.length, total_pages - page.page);
  }
  return { items, pages, total, answers, fell, isAllThereIs, isList: true, perPage, askedAt };
}

const mostAttempts = 4;
const leastRepeats = 2;

/**
 * Reads a list until it agrees with its total, a bounded number of times.
 * @param keyOf tells its records apart
 * @returns `isAnswer`: whether the items are as those of one answer, so that two of the same key are two records
 */
export async function gatherWhole(
  read: () => Promise<Gathered>,
  keyOf: (record: ApiRecord, position: number, page: number) => string,
): Promise<Gathered & { isWhole: boolean; isAnswer: boolean }> {
  let before: readonly string[] | undefined;
  let repeats = 0;
  for (let attempt = 1; ; attempt += 1) {
    const list = await read();
    const { answers, fell, isAllThereIs, items, pages } = list;
    const texts = items.map(({ json }) => json);
    repeats = isDeepStrictEqual(texts, before) ? repeats + 1 : 0;
    // A record that comes twice in two pages has moved between them, unless the list stands still: by chance, or behind
    // two servers that take turns, one repeat may show the same.
    const isAnswer = answers === 1 || repeats >= leastRepeats;
    const distinct = isAnswer
      ? items.length
      : new Set(items.map((item, at) => keyOf(item, at, pages[at] ?? 1))).size;
    const isWhole = distinct === (list.total ?? distinct) && !fell;
    if (isWhole || isAllThereIs || attempt === mostAttempts) return { ...list, isWhole, isAnswer };
    before = texts;
  }
}
