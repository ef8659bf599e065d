import { rankedHostId, saveRanking } from "../store/rankings.js";
import { countPresent, readPresentIds } from "../store/stored-record.js";
import { formatInstant } from "../util/times.js";
import { noteListTotals } from "./counts.js";
import { full } from "./full.js";
import { readList, whyIncomplete } from "./read-list.js";
import { checkRemovals } from "./removals.js";
import type { SyncStrategy } from "./session.js";

/**
 * A ranking as it stands. It reorders while it is read, and several rows can have no host: a row is its place. The whole
 * is believed if rows and hosts are as many as the API counts, and is kept as it was ranked.
 */
export const ranking: SyncStrategy = {
  plan: (run) => full.plan(run),

  async read(run) {
    const { mirror, resource, row, incompleteReasons, state, store } = run;
    const query = { sort: "sale_amount", order: "desc" };
    const list = await readList(run, { query, idOf: rankedHostId });
    noteListTotals(run, list.total);
    if (!list.isComplete)
      return void incompleteReasons.push(`the ranking ${whyIncomplete({ ...list, repeated: [] })}`);
    const items = [...list.records.values()].map(({ record }) => record);
    const present = countPresent(mirror, resource.name);
    checkRemovals(run, Math.max(0, present - items.length), present);
    const readAt = formatInstant(list.requestedAt);
    mirror.transaction(() => {
      const written = items.flatMap((record, position) =>
        store.write([record], { readAt, position, context: { position }, touch: true }),
      );
      const ids = new Set(written);
      const gone = readPresentIds(mirror, resource.name).filter((id) => !ids.has(id));
      store.remove(gone, readAt);
      saveRanking(mirror, readAt.slice(0, 10), readAt, items);
      const range = { from: Number.NEGATIVE_INFINITY, to: list.requestedAt };
      state.cover({ range, ids, requestedAt: list.requestedAt, runId: row.run_id });
    });
    noteListTotals(run, list.total);
  },
};
