import { readPages } from "../api/pages.js";
import { RequestRefused } from "../errors.js";
import type { ApiRecord, Query } from "../resources/types.js";
import { formatInstant } from "../times.js";
import type { SyncContext } from "./context.js";
import { isWhole, type Pass, whyNotWhole } from "./pass.js";

const mostAttempts = 4;

/**
 * Reads a list of which the API document shows neither parameters nor payload, until what is found agrees with its
 * total, where it has one.
 * @returns what was found; null when the pages never agreed with their total
 */
export async function readUnknownList(context: SyncContext): Promise<Pass | null> {
  const { clock, mirror, progress, resource, run, shortfalls, store } = context;
  let pass: Pass | undefined;
  for (let attempt = 1; attempt <= mostAttempts; attempt += 1) {
    const startedAt = clock.now();
    const { items, total, receivedAt } = await askUnknown(context, resource.path);
    const seen = new Map<number, null>();
    mirror.db.transaction(() => {
      const written = store.write(items, { readAt: formatInstant(receivedAt) });
      for (const id of written.ids) seen.set(id, null);
      run.rows_new += written.added;
      run.rows_changed += written.changed;
    })();
    run.rows_read += items.length;
    progress.rows += items.length;
    const blank = { shrank: false, nextPage: 2, totalPages: 1, descending: false, oldest: Number.NaN };
    pass = { ...blank, seen, total: total ?? seen.size, startedAt };
    if (isWhole(pass)) return pass;
  }
  shortfalls.push(`the list ${pass ? whyNotWhole(pass) : "was not read"}`);
  return null;
}

/** Everything at a path; `total` is what the API counts there, null where it does not say. */
export interface Unknown {
  items: readonly ApiRecord[];
  total: number | null;
  /** Milliseconds: when it was asked for. */
  receivedAt: number;
}

/**
 * Asks for all there is at a path whose form is not documented. Parameters are strict, so the first request is bare;
 * only when `pagination` announces more are pages asked for, and a refused `per_page` is left out. An answer that is
 * no list is one record.
 */
export async function askUnknown(context: SyncContext, path: string): Promise<Unknown> {
  const { api, resource, signal } = context;
  const first = await api.get(path, resource.query, { scope: resource.scope, signal });
  const { pagination, receivedAt } = first;
  const items = first.items ?? [{ json: first.json, value: first.data }];
  if (!pagination) return { items, total: null, receivedAt };
  if (pagination.total_items <= items.length) return { items, total: pagination.total_items, receivedAt };
  try {
    return { ...(await readAllPages(context, path, { ...resource.query, per_page: 100 })), receivedAt };
  } catch (error) {
    if (!(error instanceof RequestRefused)) throw error;
    return { ...(await readAllPages(context, path, resource.query)), receivedAt };
  }
}

async function readAllPages({ api, resource, signal }: SyncContext, path: string, query: Query) {
  const items: ApiRecord[] = [];
  let total = 0;
  for await (const page of readPages(api, path, query, { scope: resource.scope, signal })) {
    items.push(...page.records);
    total = page.pagination.total_items;
  }
  return { items, total };
}
