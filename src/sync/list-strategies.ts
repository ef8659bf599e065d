import { countPages } from "../api/pagination.js";
import { findHostId, saveRanking } from "../store/ranking-history.js";
import { countCurrent, loadCurrentIds, loadCurrentKeys, recordKeyOrNull } from "../store/records.js";
import { pluralize } from "../util/format-text.js";
import { requestCount, sumListCounts } from "./counts.js";
import {
  describeIncompleteList,
  formatIds,
  groupByResponse,
  type List,
  type ListRecord,
  readList,
} from "./read-list.js";
import { findHoldBackReason, removeMissing } from "./removals.js";
import type { IncompleteReason, RequestEstimate, ResourceSession, SyncResult, SyncRun } from "./session.js";
import { storeReading } from "./store-reading.js";

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
  const { mirror, reporter, resource } = run;
  const list = await readList(run, { mirroredKeys: loadCurrentKeys(mirror, resource.name) });
  const { requestedAt, isComplete, repeated, total } = list;
  const identified = selectIdentified(run, list);
  const responses = groupByResponse(identified);
  mirror.transaction(() => storeReading(run, { range: null, requestedAt, isComplete, responses }));
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
    listedRecords: identified.length,
  };
}

/**
 * Returns the records to write. If the list is incomplete, omits records without an ID, because they are identified by
 * their position, which is then unreliable.
 */
function selectIdentified({ resource }: SyncRun, { isComplete, records }: List): ListRecord[] {
  const all = [...records.values()];
  return isComplete ? all : all.filter(({ record }) => recordKeyOrNull(resource, record) !== null);
}

/**
 * Reads the current host ranking. Rows are identified by their position, because several rows can lack a host. An
 * incomplete ranking is not stored, because hosts can change places while the pages are being read.
 */
export async function readRanking(run: SyncRun): Promise<SyncResult> {
  const { mirror, resource, state, writer } = run;
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
  const responses = items.map((record, position) => ({
    items: [record],
    requestedAt,
    position,
    parameters: { position },
  }));
  const reading = { range: null, requestedAt, isComplete: true, responses };
  mirror.transaction(() => {
    const ids = new Set(storeReading(run, reading).ids);
    const removed = loadCurrentIds(mirror, resource.name).filter((recordId) => !ids.has(recordId));
    writer.remove(removed, requestedAt);
    state.missing.delete(removed);
    saveRanking(mirror, requestedAt, items);
  });
  return { incompleteReasons: [], isVerified: true, columns: sumListCounts(run, list.total) };
}

function createIncompleteResult(run: SyncRun, listed: number, reason: IncompleteReason): SyncResult {
  return { incompleteReasons: [reason], isVerified: false, columns: sumListCounts(run, listed) };
}
