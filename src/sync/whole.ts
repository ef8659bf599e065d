import { type ListPage, type Reading, readList } from "../api/list.js";
import { readPages } from "../api/pages.js";
import type { Query, Recognise } from "../resources/types.js";
import { mostPerPage, progressed, type SyncRun } from "./run.js";
import { writeAnswer, writeEach } from "./write.js";

/** Who a list held, as far as may be removed by it. */
export type Listed = Pick<Reading<number>, "askedAt" | "found">;

/** A resource's list by page numbers, until it is whole. */
export function listOf<Key>(
  { api, resource, signal }: Pick<SyncRun, "api" | "resource" | "signal">,
  query: Query,
  recognise?: Recognise,
): AsyncGenerator<ListPage<Key>, Reading<Key>> {
  const options = { scope: resource.scope, signal, recognise };
  const asked = { ...resource.query, ...query, per_page: mostPerPage };
  return readList(() => readPages(api, resource.path, asked, options));
}

/** Reads a list into the mirror until it is whole. */
export async function readWhole(run: SyncRun, query: Query = {}): Promise<Reading<number>> {
  const pages = listOf<number>(run, query, run.store.recognise);
  return await writeEach(run, pages, function* (page) {
    const { found, pagination, records } = page;
    for (const id of yield* writeAnswer(run, page)) found.add(id);
    progressed(run, records.length, pagination.total_pages - page.page);
  });
}
