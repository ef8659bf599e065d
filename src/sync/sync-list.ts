import type { Range } from "../lib/ranges.js";
import { formatInstant } from "../lib/times.js";
import type { Json, Query } from "../resources/types.js";
import { presentIds, type Shown } from "../state/index.js";
import { readList, whyNotWhole } from "./list.js";
import type { SyncRun } from "./run.js";

/**
 * Reads a list into the mirror. If a present record is not on it, it is read once more, because a record
 * that leaves while another comes moves a third one to a page that was read already. The list claims what was there at its first reading.
 * @param what names the list in the shortfall that is noted if it is not whole
 * @param range the dates of which the list shows every record
 */
export async function syncList(
  run: SyncRun,
  what: string,
  query: Query,
  range: Range,
  check?: (records: readonly Json[]) => void,
): Promise<Omit<Shown, "range"> | null> {
  const { mirror, resource, row, shortfalls, state, store } = run;
  const ids = new Set<number>();
  const isOneMissing = () => presentIds(mirror, resource.name, range).some((id) => !ids.has(id));
  let askedAt = Number.POSITIVE_INFINITY;
  for (let reading = 1; reading === 1 || (reading === 2 && isOneMissing()); reading += 1) {
    const list = await readList(run, { query, check });
    if (!list.isWhole) {
      shortfalls.push(`${what} ${whyNotWhole(list)}`);
      return null;
    }
    askedAt = Math.min(askedAt, list.askedAt);
    mirror.transaction(() => {
      let position = 0;
      for (const { items, askedAt: at } of list.answers) {
        const written = store.write(items, { readAt: formatInstant(at), position });
        position += items.length;
        state.missing.forget(written);
        for (const id of written) ids.add(id);
      }
    });
  }
  return { ids, askedAt, runId: row.run_id };
}
