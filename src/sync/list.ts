import { lastPage, readPages } from "../api/index.js";
import { Incomplete, RequestRefused } from "../errors.js";
import { keyOf } from "../records/index.js";
import type { Json, Query, Resource } from "../resources/types.js";
import { mostPerPage, progressed, type SyncRun } from "./run.js";

/** One answer of a list, and when it was asked for, in milliseconds since 1970. */
interface ListAnswer {
  items: readonly Json[];
  askedAt: number;
}

/** One reading of a list. */
interface Reading {
  answers: ListAnswer[];
  /** `total_items` of the last answer, or the number of items if the list has no pages. */
  total: number;
  /** True if the API's count fell meanwhile. */
  fell: boolean;
}

/** A list, kept in memory until it is whole. */
export interface List extends Reading {
  items: Json[];
  /** Milliseconds since 1970: when the first answer was asked for. */
  askedAt: number;
  /** How many distinct records it has. */
  distinct: number;
  /** True if these are as many as the API counts, and the count did not fall meanwhile. */
  isWhole: boolean;
}

/** A list, or a part of it; without members, the resource's own. */
interface Asked {
  path?: string;
  query?: Query;
  /** Looks at each answer before it is kept. */
  check?: ((records: readonly Json[]) => void) | undefined;
  /** Returns null for a record without an id. */
  idOf?: (record: Json) => string | null;
}

type Wanted = Asked & { path: string; query: Query };

/** A9: a list settles within so many readings. */
const mostReadings = 3;

/**
 * Reads a list until it is whole, at most three times.
 * @throws Incomplete if it has more pages than can be asked for
 */
export async function readList(run: SyncRun, asked: Asked = {}): Promise<List> {
  const { resource } = run;
  const wanted = { path: resource.path, ...asked, query: { ...resource.query, ...asked.query } };
  const readOnce = resource.pagination === "unknown" ? readUndescribed : readAllPages;
  const idOf = asked.idOf ?? ((record) => idIn(resource, record));
  for (let reading = 1; ; reading += 1) {
    const list = await readOnce(run, wanted);
    const distinct = countDistinct(list.answers, idOf);
    const isWhole = distinct === list.total && !list.fell;
    const items = list.answers.flatMap((answer) => answer.items);
    const askedAt = Math.min(...list.answers.map((answer) => answer.askedAt));
    if (isWhole || reading === mostReadings) return { ...list, items, askedAt, distinct, isWhole };
  }
}

function idIn(resource: Resource, record: Json): string | null {
  const key = keyOf(resource, record, 0);
  return key === "#0" ? null : key;
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

async function readAllPages(run: SyncRun, { check, path, query }: Wanted): Promise<Reading> {
  const { api, resource } = run;
  const list: Reading = { answers: [], total: 0, fell: false };
  const pages = readPages(api, path, { per_page: mostPerPage, ...query }, resource.scope);
  for await (const { items, page, pagination, askedAt } of pages) {
    if (pagination.total_pages > lastPage)
      throw new Incomplete(
        `${path} has more pages than the API lets anyone read: ${pagination.total_pages}.`,
      );
    check?.(items);
    list.answers.push({ items, askedAt });
    list.fell ||= pagination.total_items < list.total;
    list.total = pagination.total_items;
    progressed(run, items.length, pagination.total_pages - page);
  }
  return list;
}

/**
 * Reads a list whose pages the API document does not describe: bare first, because parameters are strict. Pages are asked
 * for only if the answer announces more; a refused `per_page` is left out. One object is a list of one.
 */
async function readUndescribed(run: SyncRun, { path, query }: Wanted): Promise<Reading> {
  const { api, resource } = run;
  const { data, items, pagination, askedAt } = await api.get(path, query, resource.scope);
  const records = items ?? [data];
  const total = pagination?.total_items ?? records.length;
  for (const per_page of total > records.length ? [mostPerPage, undefined] : [])
    try {
      return await readAllPages(run, { path, query: { ...query, per_page } });
    } catch (error) {
      if (!(error instanceof RequestRefused)) throw error;
    }
  progressed(run, records.length, 0);
  return { answers: [{ items: records, askedAt }], total, fell: false };
}

/** Says why a list is not whole, as a clause. */
export function whyNotWhole({ distinct, total }: List): string {
  return `never settled: ${distinct} distinct records were read where the API counts ${total}`;
}
