import { readPresentKeys, recordKey } from "../store/stored-record.js";
import { allTime } from "../util/ranges.js";
import { pluralize } from "../util/text.js";
import { formatInstant } from "../util/times.js";
import { noteListTotals, requestCount } from "./counts.js";
import { groupByResponse, type List, nameIds, readList, whyIncomplete } from "./read-list.js";
import { removeMissing } from "./removals.js";
import { type PlanStep, pagesFor, type SyncRun, type SyncStrategy } from "./session.js";

/** Every page, every time: the API has no filter that says what is new. */
export const full: SyncStrategy = {
  plan: async (run) => [planList(await countList(run))],
  read: readCompleteList,
};

/** Returns how many records a list has; null if the API document shows no way to ask. */
export async function countList(run: SyncRun): Promise<number | null> {
  return run.resource.pagination === "unknown" ? null : (await requestCount(run, {})).total;
}

export function planList(listed: number | null): PlanStep {
  return listed === null
    ? { what: "everything: its paging is not documented", requests: 1, open: true }
    : { what: `everything: ${pluralize(listed, "record")}`, requests: pagesFor(listed) };
}

/**
 * Reads a list without dates, and removes the records that are no longer on it. A list that is not complete is written, but
 * removes nothing.
 */
export async function readCompleteList(run: SyncRun): Promise<void> {
  const { mirror, reporter, resource, row, incompleteReasons, state } = run;
  const list = await readList(run, { mirrored: () => readPresentKeys(mirror, resource.name) });
  const { requestedAt, isComplete, repeated } = list;
  mirror.transaction(() => {
    const written = new Set(writeRecords(run, list));
    state.missing.delete(written);
    const range = { from: Number.NEGATIVE_INFINITY, to: requestedAt };
    if (isComplete) state.cover({ range, ids: written, requestedAt, runId: row.run_id }, allTime);
  });
  noteListTotals(run, list.total);
  if (isComplete) {
    removeMissing(run);
    noteListTotals(run, list.total);
  } else if (repeated.length === 0)
    incompleteReasons.push(`the list of ${resource.name} ${whyIncomplete(list)}`);
  else {
    run.isPartial = true;
    reporter.warn(
      `${resource.name}: the API lists ${nameIds(repeated)} more than once: one copy is kept, nothing is removed, and nothing is verified`,
    );
  }
}

/** Writes a list. The key of a record without an ID is its position, which only a complete list has. */
function writeRecords({ resource, store }: SyncRun, { isComplete, records }: List): number[] {
  const all = [...records.values()];
  const known = isComplete ? all : all.filter(({ record }) => recordKey(resource, record, 0) !== "#0");
  return groupByResponse(known).flatMap(({ items, requestedAt, position }) =>
    store.write(items, { readAt: formatInstant(requestedAt), position }),
  );
}
