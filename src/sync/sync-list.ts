import type { Range } from "../lib/ranges.js";
import { formatInstant } from "../lib/times.js";
import type { Json, Query } from "../resources/types.js";
import { presentIds, type Shown } from "../state/index.js";
import { readListOf, whyNotWhole } from "./list.js";
import type { SyncRun } from "./run.js";

/**
 * Reads a list into the mirror. If a present record is not on it, it is read once more, because a record that leaves
 * while another comes draws a third past the reader. The list claims what was there at its first reading.
 * @param what names the list in the shortfall that is noted if it is not whole
 */
export async function syncList(
  run: SyncRun,
  what: string,
  query: Query,
  range: Range,
  check?: (records: readonly Json[]) => void,
): Promise<Shown | null> {
  const { mirror, resource, row, shortfalls, state, store } = run;
  const ids = new Set<number>();
  let askedAt: number | null = null;
  do {
    const list = await readListOf(run, resource, query, check);
    if (!list.isWhole) {
      shortfalls.push(`${what} ${whyNotWhole(list)}`);
      return null;
    }
    const isAgain = askedAt !== null;
    askedAt ??= list.askedAt;
    mirror.transaction(() => {
      let position = 0;
      for (const { items, askedAt: at } of list.answers) {
        const written = store.write(items, { readAt: formatInstant(at), position });
        position += items.length;
        state.missing.forget(written.ids);
        for (const id of written.ids) ids.add(id);
      }
    });
    if (isAgain) break;
  } while (presentIds(mirror, resource.name, range).some((id) => !ids.has(id)));
  return { range, ids, askedAt: askedAt ?? run.now, runId: row.run_id };
}
