import { rankedHostId, saveRanking } from "../store/ranking-history.js";
import { countCurrent, readCurrentIds } from "../store/records.js";
import { sumListCounts } from "./counts.js";
import { full } from "./full.js";
import { describeIncompleteList, readList } from "./read-list.js";
import { refuseRemovals } from "./removals.js";
import type { IncompleteReason, SyncResult, SyncRun, SyncStrategy } from "./run.js";

/**
 * Reads the current host ranking. Rows are identified by their position, because more than one row can lack a host. An
 * incomplete ranking is not stored, because hosts can change places while the pages are being read.
 */
export const ranking: SyncStrategy = {
  plan: (run) => full.plan(run),

  async read(run) {
    const { mirror, progress, resource, state, writer } = run;
    const list = await readList(run, { idOf: rankedHostId });
    if (!list.isComplete)
      return incomplete(run, list.total, {
        text: `the ranking ${describeIncompleteList({ ...list, repeated: [] })}`,
      });
    const items = [...list.records.values()].map(({ record }) => record);
    const present = countCurrent(mirror, resource.name);
    const refusal = refuseRemovals(run, Math.max(0, present - items.length), present);
    if (refusal) return incomplete(run, list.total, refusal);
    const { requestedAt } = list;
    mirror.transaction(() => {
      const written = items.flatMap((record, position) =>
        writer.write([record], { readAt: requestedAt, position, context: { position }, touch: true }),
      );
      const ids = new Set(written);
      const removed = readCurrentIds(mirror, resource.name).filter((recordId) => !ids.has(recordId));
      writer.remove(removed, requestedAt);
      saveRanking(mirror, requestedAt, items);
      state.coverAll({ ids, requestedAt });
      progress.addRows(list.ids.size);
    });
    return { incompleteReasons: [], isPartial: false, sums: sumListCounts(run, list.total) };
  },
};

function incomplete(run: SyncRun, listed: number, reason: IncompleteReason): SyncResult {
  return { incompleteReasons: [reason], isPartial: false, sums: sumListCounts(run, listed) };
}
