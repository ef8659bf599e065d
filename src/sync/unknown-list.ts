import { readPages } from "../api/pages.js";
import { RequestRefused } from "../errors.js";
import type { ApiRecord, Query } from "../resources/types.js";
import { formatInstant } from "../times.js";
import type { SyncContext } from "./context.js";
import type { Pass } from "./pass.js";

/**
 * Reads a list of which the API document shows neither parameters nor payload. Parameters are strict, so the first
 * request is bare; only when `pagination` comes back are pages asked for, and a refused `per_page` is left out.
 * @returns what was found; null when the pages never agreed with their total
 */
export async function readUnknownList(context: SyncContext): Promise<Pass | null> {
  const { api, clock, mirror, progress, resource, run, shortfalls, signal, store } = context;
  const startedAt = clock.now();
  const first = await api.get(resource.path, resource.query, { scope: resource.scope, signal });
  const { pagination } = first;
  const bare = first.items ?? [{ json: first.json, value: first.data }];
  const items = pagination && pagination.total_items > bare.length ? await readMore(context) : bare;
  const seen = new Map<number, null>();
  mirror.db.transaction(() => {
    const written = store.write(items, { readAt: formatInstant(first.receivedAt) });
    for (const id of written.ids) seen.set(id, null);
    run.rows_new += written.added;
    run.rows_changed += written.changed;
  })();
  run.rows_read += items.length;
  progress.rows += items.length;
  const total = pagination?.total_items ?? seen.size;
  if (pagination && seen.size !== total) {
    shortfalls.push(
      `the list never settled: ${seen.size} distinct records were found where the API counts ${total}`,
    );
    return null;
  }
  return {
    seen,
    total,
    shrank: false,
    nextPage: 2,
    totalPages: 1,
    descending: false,
    oldest: Number.NaN,
    startedAt,
  };
}

/** All pages, a hundred to a page where the endpoint takes `per_page`. */
async function readMore(context: SyncContext): Promise<ApiRecord[]> {
  try {
    return await collect(context, { ...context.resource.query, per_page: 100 });
  } catch (error) {
    if (!(error instanceof RequestRefused)) throw error;
    return await collect(context, context.resource.query);
  }
}

async function collect(context: SyncContext, query: Query): Promise<ApiRecord[]> {
  const { api, resource, signal } = context;
  const records: ApiRecord[] = [];
  for await (const page of readPages(api, resource.path, query, { scope: resource.scope, signal }))
    records.push(...page.records);
  return records;
}
