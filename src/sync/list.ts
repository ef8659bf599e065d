import { lastPage, readPages } from "../api/index.js";
import { RequestRefused } from "../errors.js";
import { keyOf } from "../records/index.js";
import type { Json, Query, Resource } from "../resources/types.js";
import { mostPerPage, progressed, type SyncRun } from "./run.js";

/** A list, kept in memory until it is whole. */
export interface List {
  items: Json[];
  /** The same items, answer by answer. */
  answers: ListAnswer[];
  /** `total_items` of the last answer, or the number of items if the list has no pages. */
  total: number;
  /** Milliseconds since 1970: when the first answer was asked for. */
  askedAt: number;
  /** How many distinct records it has. */
  distinct: number;
  /** True if these are as many as the API counts, and the count did not fall meanwhile. */
  isWhole: boolean;
  /** True if it has more pages than can be asked for. */
  isTooLong: boolean;
}

interface ListAnswer {
  items: readonly Json[];
  /** Milliseconds since 1970: when it was asked for. */
  askedAt: number;
}

/** A9: a list settles within so many readings. */
const mostReadings = 3;

/** One reading of a list. */
interface Reading extends Pick<List, "answers" | "total" | "askedAt" | "isTooLong"> {
  /** True if the API's count fell meanwhile. */
  fell: boolean;
}

/** Reads a list until it is whole, at most three times. @param idOf returns null for a record without an id */
export async function readList(
  read: () => Promise<Reading>,
  idOf: (item: Json) => string | null,
): Promise<List> {
  for (let reading = 1; ; reading += 1) {
    const { fell, ...list } = await read();
    const distinct = countDistinct(list.answers, idOf);
    const isWhole = distinct === list.total && !fell;
    if (isWhole || list.isTooLong || reading === mostReadings)
      return { ...list, items: list.answers.flatMap(({ items }) => items), distinct, isWhole };
  }
}

/** Counts records. Without an id a record is known by what it says; equal ones count as several in one answer only. */
function countDistinct(answers: readonly ListAnswer[], idOf: (item: Json) => string | null): number {
  const names = new Set<string>();
  for (const { items } of answers) {
    const equal = new Map<string, number>();
    for (const item of items) {
      const id = idOf(item);
      const text = id === null ? JSON.stringify(item) : "";
      const nth = (equal.get(text) ?? 0) + 1;
      equal.set(text, nth);
      names.add(id ?? `#${nth} ${text}`);
    }
  }
  return names.size;
}

/** Reads all pages of a list once. */
export async function readOnce(run: SyncRun, path: string, query: Query, check = (_: readonly Json[]) => {}) {
  const { api, clock, resource, signal } = run;
  const list: Reading = { answers: [], total: 0, askedAt: clock.now(), isTooLong: false, fell: false };
  for await (const { items, page, pagination, askedAt } of readPages(api, path, query, {
    scope: resource.scope,
    signal,
  })) {
    check(items);
    if (page === 1) list.askedAt = askedAt;
    list.answers.push({ items, askedAt });
    list.fell ||= pagination.total_items < list.total;
    list.total = pagination.total_items;
    list.isTooLong = pagination.total_pages > lastPage;
    progressed(run, items.length, pagination.total_pages - page);
  }
  return list;
}

/**
 * Reads a list whose pages the API document does not describe: bare first, because parameters are strict. Pages are asked
 * for only if the answer announces more; a refused `per_page` is left out. One object is a list of one.
 */
async function readUndescribed(run: SyncRun, path: string): Promise<Reading> {
  const { api, resource, signal } = run;
  const { data, items, pagination, askedAt } = await api.get(path, resource.query, {
    scope: resource.scope,
    signal,
  });
  const records = items ?? [data];
  const isMore = pagination !== null && pagination.total_items > records.length;
  for (const query of isMore ? [{ ...resource.query, per_page: mostPerPage }, resource.query] : [])
    try {
      return await readOnce(run, path, query);
    } catch (error) {
      if (!(error instanceof RequestRefused)) throw error;
    }
  progressed(run, records.length, 0);
  return {
    answers: [{ items: records, askedAt }],
    total: pagination?.total_items ?? records.length,
    askedAt,
    isTooLong: false,
    fell: false,
  };
}

/** Reads a resource's list, or a part of it, until it is whole. @param check looks at each answer before it is kept */
export async function readListOf(
  run: SyncRun,
  { path, pagination, query: own }: Pick<Resource, "path" | "pagination" | "query"> = run.resource,
  query: Query = {},
  check?: (records: readonly Json[]) => void,
): Promise<List> {
  const asked = { ...own, ...query, per_page: mostPerPage };
  const idOf = (item: Json) => {
    const key = keyOf(run.resource, item, 0);
    return key === "#0" ? null : key;
  };
  return await readList(
    () => (pagination === "unknown" ? readUndescribed(run, path) : readOnce(run, path, asked, check)),
    idOf,
  );
}

/** Says why a list is not whole, as a clause. */
export function whyNotWhole({ distinct, isTooLong, total }: List): string {
  return isTooLong
    ? `is longer than the API lets anyone read: ${distinct} of ${total} were found`
    : `never settled: ${distinct} distinct records were read where the API counts ${total}`;
}
