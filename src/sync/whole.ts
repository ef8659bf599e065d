import { type ListPage, type Reading, readList } from "../api/list.js";
import { readPages } from "../api/pages.js";
import type { Query } from "../resources/types.js";
import { mostPerPage, progressed, type SyncRun } from "./run.js";
import { writeAnswer, writeEach } from "./write.js";

/** Reads a list by page numbers into the mirror until it is whole. */
export async function readWhole(run: SyncRun, query: Query): Promise<Reading<number>> {
  const { api, resource, signal, store } = run;
  const options = { scope: resource.scope, signal, recognise: store.recognise };
  const ends: Reading<number>[] = [];
  async function* pages(): AsyncGenerator<ListPage<number>, void> {
    ends.push(
      yield* readList<number>(() =>
        readPages(api, resource.path, { ...query, per_page: mostPerPage }, options),
      ),
    );
  }
  await writeEach(run, pages(), function* ({ found, page, pagination, receivedAt, records }) {
    const position = (page - 1) * pagination.per_page;
    for (const id of yield* writeAnswer(run, { records, askedAt: receivedAt, position })) found.add(id);
    progressed(run, records.length, pagination.total_pages - page);
  });
  const [end] = ends;
  if (!end) throw new Error("a list ended before it was read");
  return end;
}
