import { countPages } from "../api/pagination.js";
import { findHostId, saveRanking } from "../store/ranking-history.js";
import { countCurrent, loadCurrentIds, loadCurrentKeys, recordKeyOrNull } from "../store/records.js";
import { pluralize } from "../util/format-text.js";
import { requestCount, sumListCounts } from "./counts.js";
import { describeIncompleteList, formatIds, groupByResponse, type List, readList } from "./read-list.js";
import { findHoldBackReason, removeMissing } from "./removals.js";
import type { IncompleteReason, RequestEstimate, ResourceSession, SyncResult, SyncRun } from "./session.js";

export async function estimateList(session: ResourceSession): Promise<RequestEstimate[]> {
  return [createListEstimate(await countList(session))];
}

/** Returns the length of the list, or null if its pagination is undocumented. */
export async function countList(session: ResourceSession): Promise<number | null> {
  return session.resource.pagination === "unknown" ? null : (await requestCount(session, {})).total;
}

export function createListEstimate(listed: number | null): RequestEstimate {
  return listed === null
    ? { what: "the whole list, whose length is unknown", requests: 1, open: true }
    : { what: `the whole list: ${pluralize(listed, "record")}`, requests: countPages(listed) };
}

/**
 * Reads a list without dates, and removes mirrored records that are no longer listed. If the list is incomplete, stores
 * its records but removes nothing.
 */
export async function readCompleteList(run: SyncRun): Promise<SyncResult> {
  const { mirror, progress, reporter, resource, state } = run;
  const list = await readList(run, { mirroredKeys: loadCurrentKeys(mirror, resource.name) });
  const { requestedAt, isComplete, repeated, total } = list;
  mirror.transaction(() => {
    const ids = writeRecords(run, list);
    state.applyList({ runId: run.runId, requestedAt, isComplete, ids });
    progress.addRows(list.records.size);
  });
  const incompleteReasons = isComplete ? removeMissing(run) : [];
  const hasRepeated = repeated.length > 0;
  if (hasRepeated)
    reporter.warn(
      `${resource.name}: the API lists ${formatIds(repeated)} more than once; one copy is kept, nothing is removed, and the run is not verified`,
    );
  else if (!isComplete)
    incompleteReasons.push({ text: `the list of ${resource.name} ${describeIncompleteList(list)}` });
  return {
    incompleteReasons,
    isVerified: !hasRepeated,
    columns: sumListCounts(run, total),
    listedRecords: list.records.size,
  };
}

/**
 * Writes the records in a list. If the list is incomplete, skips records without an ID, because they are identified by
 * their position, which is then unreliable.
 */
function writeRecords({ resource, writer }: SyncRun, { isComplete, records }: List): number[] {
  const all = [...records.values()];
  const identified = isComplete
    ? all
    : all.filter(({ record }) => recordKeyOrNull(resource, record) !== null);
  return groupByResponse(identified).flatMap(
    ({ items, requestedAt, position }) => writer.write(items, { requestedAt, position }).ids,
  );
}

/**
 * Reads the current host ranking. Rows are identified by their position, because several rows can lack a host. An
 * incomplete ranking is not stored, because hosts can change places while the pages are being read.
 */
export async function readRanking(run: SyncRun): Promise<SyncResult> {
  const { mirror, progress, resource, state, writer } = run;
  const list = await readList(run, { idOf: findHostId });
  if (!list.isComplete)
    return createIncompleteResult(run, list.total, {
      text: `the ranking ${describeIncompleteList({ ...list, repeated: [] })}`,
    });
  const items = [...list.records.values()].map(({ record }) => record);
  const present = countCurrent(mirror, resource.name);
  const reason = findHoldBackReason(run, Math.max(0, present - items.length), present);
  if (reason) return createIncompleteResult(run, list.total, reason);
  const { requestedAt } = list;
  mirror.transaction(() => {
    const written = items.flatMap(
      (record, position) => writer.write([record], { requestedAt, position, parameters: { position } }).ids,
    );
    const ids = new Set(written);
    const removed = loadCurrentIds(mirror, resource.name).filter((recordId) => !ids.has(recordId));
    writer.remove(removed, requestedAt);
    saveRanking(mirror, requestedAt, items);
    state.applyList({ runId: run.runId, requestedAt, isComplete: true, ids: [...ids] });
    progress.addRows(list.records.size);
  });
  return { incompleteReasons: [], isVerified: true, columns: sumListCounts(run, list.total) };
}

function createIncompleteResult(run: SyncRun, listed: number, reason: IncompleteReason): SyncResult {
  return { incompleteReasons: [reason], isVerified: false, columns: sumListCounts(run, listed) };
}
