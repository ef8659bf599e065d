import { readPages } from "../api/pages.js";
import type { ApiRecord, Query } from "../resources/types.js";
import { progressed, type SyncRun } from "./run.js";

/** A list that is kept in memory until it is whole. */
export interface Gathered {
  items: ApiRecord[];
  /** `total_items` of the last answer. */
  total: number;
  /** How many answers it took: what comes in one is of one moment. */
  answers: number;
  /** Whether the API's count fell meanwhile: a record may then have slipped past, although the count agrees. */
  fell: boolean;
}

/** Reads all pages of a list once. */
export async function gather(run: SyncRun, path: string, query: Query): Promise<Gathered> {
  const { api, progress, resource, row, signal } = run;
  const list: Gathered = { items: [], total: 0, answers: 0, fell: false };
  for await (const page of readPages(api, path, query, { scope: resource.scope, signal })) {
    const { total_items, total_pages } = page.pagination;
    list.items.push(...page.records);
    list.answers += 1;
    list.fell ||= total_items < list.total;
    list.total = total_items;
    row.rows_read += page.records.length;
    progress.rows += page.records.length;
    progressed(run, Math.max(0, total_pages - page.page));
  }
  return list;
}
