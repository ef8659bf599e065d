import type { DatedStrategy, Resource } from "../resources/resource.js";
import type { SkippedCopy, WrittenRecords } from "../store/record-writer.js";
import { countUndated, findDate, readCurrentKeys } from "../store/records.js";
import { describeRange, type Range } from "../util/ranges.js";
import { pluralize } from "../util/text.js";
import { findDateFault, rangeQuery } from "./dates.js";
import {
  describeIncompleteList,
  groupByResponse,
  type List,
  type ListRecord,
  readList,
} from "./read-list.js";
import type { DatedRun, IncompleteReason } from "./run.js";

export interface SliceReading {
  slice: Range;
  list: List;
  faults: ReadonlyMap<string, string>;
}

export async function readSlice(run: DatedRun, slice: Range): Promise<SliceReading> {
  const { mirror, resource } = run;
  const list = await readList(run, {
    query: rangeQuery(resource.strategy, slice),
    mirrored: () => readCurrentKeys(mirror, resource.name, slice),
  });
  return { slice, list, faults: findFaults(resource, list, slice) };
}

function findFaults(
  resource: Resource<DatedStrategy>,
  { records, repeated }: List,
  slice: Range,
): Map<string, string> {
  const faults = new Map<string, string>();
  const isRepeated = new Set(repeated);
  for (const [id, { record }] of records) {
    const fault = findDateFault(resource, record, slice);
    if (isRepeated.has(id)) faults.set(id, describeRepeatedId(id));
    else if (fault !== null) faults.set(id, `\`${id}\`: ${fault}`);
  }
  return faults;
}

export function describeRepeatedId(id: string): string {
  return `\`${id}\` is listed more than once`;
}

interface WrittenSlice {
  copies: SkippedCopy[];
  unsettled: IncompleteReason[];
}

/**
 * Writes all of a slice's records in one transaction.
 *
 * | list       | faults | effect                                                                         |
 * | ---------- | ------ | ------------------------------------------------------------------------------ |
 * | complete   | none   | the slice is covered, and mirrored records that it lacks are marked as missing |
 * | complete   | some   | the slice is marked: it is not covered, and nothing in it is removed           |
 * | incomplete | some   | the slice is marked, and keeps the undated records of earlier reads            |
 * | incomplete | none   | only the records are stored                                                    |
 *
 * @returns the older copies of records that the list contains twice, and a reason if the list never settled (A9)
 */
export function writeSlice(run: DatedRun, { slice, list, faults }: SliceReading): WrittenSlice {
  const { apiTotals, mirror, progress, runId, state } = run;
  const { isComplete, repeated, requestedAt } = list;
  const neverSettled = !isComplete && repeated.length === 0;
  const unsettled = neverSettled ? [{ text: `${describeRange(slice)} ${describeIncompleteList(list)}` }] : [];
  const isFaulty = (id: string) => faults.has(id);
  const soundRecords = [...list.records].flatMap(([id, record]) => (isFaulty(id) ? [] : record));
  const faultyRecords = [...list.records].flatMap(([id, record]) => (isFaulty(id) ? record : []));
  return mirror.transaction(() => {
    const sound = writeList(run, soundRecords, false);
    const faulty = writeList(run, faultyRecords, true);
    progress.addRows(list.ids.size);
    updateMissing(run, sound, faulty);
    if (sound.addedOrChanged + faulty.addedOrChanged + faults.size > 0) state.storedTotals.delete(slice);
    const faultyIds = [...faulty.ids, ...faulty.copies.map(({ id }) => id)];
    const ids = new Set([...sound.ids, ...faultyIds]);
    const [fault] = faults.values();
    if (fault !== undefined)
      state.markSlice({ runId, range: slice, faultyIds, ids: isComplete ? ids : null, fault, requestedAt });
    else if (isComplete) state.coverRange({ runId, range: slice, ids, requestedAt }, apiTotals);
    return { copies: [...sound.copies, ...faulty.copies], unsettled };
  });
}

function writeList({ writer }: DatedRun, records: readonly ListRecord[], isFaulty: boolean): WrittenRecords {
  const responses = groupByResponse(records).map(({ items, requestedAt }) =>
    writer.write(items, { readAt: requestedAt, isFaulty }),
  );
  return {
    added: responses.flatMap(({ added }) => added),
    ids: responses.flatMap(({ ids }) => ids),
    copies: responses.flatMap(({ copies }) => copies),
    addedOrChanged: responses.reduce((sum, { addedOrChanged }) => sum + addedOrChanged, 0),
  };
}

/** A new faulty record with a covered date is marked as missing, because the API did not return it for that date. */
function updateMissing({ mirror, state }: DatedRun, sound: WrittenRecords, faulty: WrittenRecords): void {
  state.missing.delete(sound.ids);
  state.missing.delete(faulty.ids.filter((id) => findDate(mirror, id) === null));
  state.missing.add(faulty.added.filter((id) => state.isCovered(findDate(mirror, id))));
}

/** Describes the fault in the newest marked slice and the number of faulty records. Returns null if there are none. */
export function describeMarked({
  mirror,
  resource,
  state,
}: Pick<DatedRun, "mirror" | "resource" | "state">): string | null {
  const newest = state.markedSlices().at(-1);
  const undated = countUndated(mirror, resource.name);
  if (!newest) return undated > 0 ? `${pluralize(undated, "record")} without a readable date` : null;
  const records = pluralize(state.markedIds().size, "such record");
  const unreadable = undated > 0 ? `, ${undated} without a readable date` : "";
  return `${newest.fault} (${records}${unreadable})`;
}
