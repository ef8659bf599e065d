import type { DatedStrategy, Resource } from "../resources/resource.js";
import { recordDate, recordKey } from "../store/record-key.js";
import type { SkippedCopy, WrittenRecords } from "../store/record-writer.js";
import { findDate, readCurrentKeys } from "../store/records.js";
import { containsInstant, describeRange, type Range, startOfSecond } from "../util/ranges.js";
import { cover, dropStoredTotals } from "./daily-totals.js";
import { dateFault, rangeQuery } from "./dates.js";
import { groupByResponse, type List, type ListRecord, readList, whyIncomplete } from "./read-list.js";
import type { DatedRun, DatedSync } from "./run.js";

/** The result of reading all pages for a date range, regardless of how the records are sorted. */
export interface SliceReading {
  slice: Range;
  list: List;
  /** The problem with each record whose date is unreadable or unexpected. The keys are the same as in the list. */
  faults: ReadonlyMap<string, string>;
}

/** Reads all pages for a slice without writing anything. */
export async function readSlice(run: DatedSync, slice: Range): Promise<SliceReading> {
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
  for (const [name, { record }] of records) {
    const fault = dateFault(resource, record, slice);
    if (isRepeated.has(name)) faults.set(name, listedTwice(name));
    else if (fault !== null) faults.set(name, `\`${name}\`: ${fault}`);
  }
  return faults;
}

/** Describes the problem with a record that the API lists twice. */
function listedTwice(id: string): string {
  return `\`${id}\` is listed more than once`;
}

/** The records that were written for a slice: the sound records and the faulty records. */
interface StoredSlice {
  sound: WrittenRecords;
  faulty: WrittenRecords;
}

/**
 * Writes all of a slice's records in one transaction, however they are sorted.
 *
 * | list       | faults | effect                                                                  |
 * | ---------- | ------ | ----------------------------------------------------------------------- |
 * | complete   | none   | the slice is covered, and mirrored records that it lacks become missing |
 * | complete   | some   | the slice is marked: it is not covered, and nothing in it is removed    |
 * | incomplete | some   | the slice is marked, and keeps the undated records of earlier readings  |
 * | incomplete | none   | only the records are stored                                             |
 *
 * If the list never settled (A9), the run is also incomplete.
 * @returns the number of new and changed records, and the older copies of records that the list contains twice
 */
export function writeSlice(
  run: DatedSync,
  reading: SliceReading,
): Pick<WrittenRecords, "addedOrChanged" | "copies"> {
  const { slice, list, faults } = reading;
  if (!list.isComplete && list.repeated.length === 0)
    run.unsettledSlices.push({ text: `${describeRange(slice)} ${whyIncomplete(list)}` });
  return run.mirror.transaction(() => {
    const stored = storeRecords(run, reading);
    const { sound, faulty } = stored;
    const addedOrChanged = sound.addedOrChanged + faulty.addedOrChanged;
    updateMissing(run, stored);
    if (addedOrChanged > 0 || faults.size > 0) dropStoredTotals(run, slice);
    coverOrMark(run, reading, stored);
    return { addedOrChanged, copies: [...sound.copies, ...faulty.copies] };
  });
}

function storeRecords(run: DatedSync, { list, faults }: SliceReading): StoredSlice {
  const select = (isFaulty: boolean) =>
    [...list.records].flatMap(([name, record]) => (faults.has(name) === isFaulty ? record : []));
  const sound = writeList(run, select(false), false);
  const faulty = writeList(run, select(true), true);
  run.progress.addRows(list.rowCount);
  return { sound, faulty };
}

/**
 * Writes the records in a list with dates, grouped by response.
 * @param isOutsideRange true if the records' dates are not in the range for which the list was requested
 */
function writeList(
  { writer }: DatedSync,
  records: readonly ListRecord[],
  isOutsideRange: boolean,
): WrittenRecords {
  const responses = groupByResponse(records).map(({ items, requestedAt }) =>
    writer.writeNewest(items, { readAt: requestedAt, isOutsideRange }),
  );
  return {
    added: responses.flatMap(({ added }) => added),
    ids: responses.flatMap(({ ids }) => ids),
    copies: responses.flatMap(({ copies }) => copies),
    addedOrChanged: responses.reduce((sum, { addedOrChanged }) => sum + addedOrChanged, 0),
  };
}

/**
 * Updates the list of missing records after a reading. A faulty record with a readable date may still be missing at
 * that date.
 */
function updateMissing({ mirror, state }: DatedSync, { sound, faulty }: StoredSlice): void {
  state.missing.delete(sound.ids);
  state.missing.delete(faulty.ids.filter((id) => findDate(mirror, id) === null));
  // The API does not return these records at their own dates, and does not count them there.
  const isCovered = (id: number) => state.isCovered(findDate(mirror, id));
  state.missing.add(faulty.added.filter(isCovered), []);
}

/** Covers or marks a slice, as described in the table at `writeSlice`. */
function coverOrMark(
  run: DatedSync,
  { slice, list, faults }: SliceReading,
  { sound, faulty }: StoredSlice,
): void {
  const { runId, state } = run;
  const { isComplete, requestedAt } = list;
  const recordIds = [...faulty.ids, ...faulty.copies.map(({ id }) => id)];
  const ids = new Set([...sound.ids, ...recordIds]);
  const [fault] = faults.values();
  if (fault === undefined) {
    if (isComplete) cover(run, { range: slice, ids, requestedAt, runId });
    return;
  }
  const marked = { ...slice, readAt: requestedAt, runId, recordIds, fault };
  if (isComplete) state.markCompleteSlice(marked, ids);
  else state.markIncompleteSlice(marked);
}

/** The maximum number of dates to read in order to resolve the copies in one response or slice. */
const maxLookups = 10;

/**
 * Handles records that are older than the mirrored record with the same ID. If this run has not yet read the mirrored
 * record's date, reads that date to find out whether the API still returns the mirrored record there.
 * - no longer returned: the record's date has changed, so the copy replaces the mirrored record
 * - still returned: the API lists the ID twice, so the newer record is kept and the second that contains the copy is
 *   marked
 * - unknown, because too many dates would have to be read: nothing is written, and the mirrored record counts as
 *   missing, so that the counts differ until both dates have been read
 * @param requestedAt the time of the request that returned the copies, in milliseconds since 1970
 * @returns the number of new and changed records
 */
export async function resolveCopies(
  run: DatedSync,
  copies: readonly SkippedCopy[],
  requestedAt: number,
): Promise<number> {
  const { mirror, resource, runId, state, writer } = run;
  let lookups = 0;
  let addedOrChanged = 0;

  function replace({ id, value }: SkippedCopy): void {
    writer.write([value], { readAt: requestedAt });
    state.missing.delete([id]);
    addedOrChanged += 1;
  }
  function mark({ id, value }: SkippedCopy, second: Range): void {
    const fault = listedTwice(recordKey(resource, value, 0));
    dropStoredTotals(run, second);
    state.markIncompleteSlice({ ...second, readAt: requestedAt, runId, recordIds: [id], fault });
  }

  for (const copy of copies) {
    const { id, value } = copy;
    const second = secondOf(recordDate(resource, value));
    const mirroredSecond = secondOf(findDate(mirror, id));
    if (mirroredSecond && !isReadByRun(run, mirroredSecond) && lookups < maxLookups) {
      lookups += 1;
      addedOrChanged += writeSlice(run, await readSlice(run, mirroredSecond)).addedOrChanged;
    }
    mirror.transaction(() => {
      if (second === null || mirroredSecond === null) replace(copy);
      else if (!isReadByRun(run, mirroredSecond)) {
        // Only covered dates are counted.
        if (state.isCovered(mirroredSecond.from)) state.missing.add([id], state.coverage());
      } else if (state.missing.has(id)) replace(copy);
      else mark(copy, second);
    });
  }
  return addedOrChanged;
}

function secondOf(date: number | null): Range | null {
  if (date === null) return null;
  const from = startOfSecond(date);
  return { from, to: from + 999 };
}

function isReadByRun({ runId, state }: DatedRun, { from }: Range): boolean {
  const readings = [...state.coverage(), ...state.markedSlices()];
  return readings.some((range) => range.runId === runId && containsInstant(range, from));
}
