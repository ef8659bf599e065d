import type { Resource } from "../resources/resource.js";
import { findDate, readCurrentKeys } from "../store/records/current-records.js";
import type { SkippedCopy } from "../store/records/record-writer.js";
import { describeRange, type Range } from "../util/ranges.js";
import { dropDailyTotals } from "./daily-totals.js";
import { dateFault, rangeQuery } from "./dates.js";
import { type List, readList, whyIncomplete } from "./read-list.js";
import type { DatedSync } from "./session.js";
import { cover, writeList } from "./write.js";

/** The result of reading all pages of a range of dates, whatever the order of the records. */
export interface SliceReading {
  slice: Range;
  list: List;
  /** The records with an unreadable or unexpected date, and the problem with each, keyed like the list. */
  faults: ReadonlyMap<string, string>;
}

/** Reads all pages of a slice, but writes nothing. */
export async function readSlice(run: DatedSync, slice: Range): Promise<SliceReading> {
  const { mirror, resource } = run;
  const list = await readList(run, {
    query: rangeQuery(resource.strategy, slice),
    mirrored: () => readCurrentKeys(mirror, resource.name, slice),
  });
  return { slice, list, faults: findFaults(resource, list, slice) };
}

/**
 * Writes all records of a slice in one transaction. A complete list covers the slice if the dates of all records are in it:
 * a list needs no order. If a date is unreadable or outside the slice, the slice is marked: nothing is
 * removed in it, and it is not covered.
 * @returns the number of mirrored records that changed, and the older copies of records that the list has twice
 */
export function writeSlice(
  run: DatedSync,
  { slice, list, faults }: SliceReading,
): { changed: number; copies: SkippedCopy[] } {
  const { runId, mirror, progress, state, incompleteSlices } = run;
  const { isComplete, requestedAt } = list;
  if (!isComplete && list.repeated.length === 0)
    incompleteSlices.push({ text: `${describeRange(slice)} ${whyIncomplete(list)}` });
  const select = (isFaulty: boolean) =>
    [...list.records].flatMap(([name, record]) => (faults.has(name) === isFaulty ? record : []));
  return mirror.transaction(() => {
    const sound = writeList(run, select(false));
    const faulty = writeList(run, select(true), true);
    const changed = sound.addedOrChanged + faulty.addedOrChanged;
    progress.addRows(list.rowCount);
    state.missing.delete(sound.ids);
    state.missing.delete(faulty.ids.filter((id) => findDate(mirror, id) === null));
    // The API does not return these records at their own dates, and does not count them there.
    const isCovered = (id: number) => state.isCovered(findDate(mirror, id));
    state.missing.add(faulty.added.filter(isCovered), []);
    if (changed > 0 || faults.size > 0) dropDailyTotals(run, slice);

    const recordIds = [...faulty.ids, ...faulty.copies.map((copy) => copy.id)];
    const ids = new Set([...sound.ids, ...recordIds]);
    const [fault] = faults.values();
    const marked = { ...slice, readAt: requestedAt, runId, recordIds, fault: fault ?? "" };
    if (isComplete && fault === undefined) cover(run, { range: slice, ids, requestedAt, runId });
    else if (isComplete) state.markCompleteSlice(marked, ids);
    else if (fault !== undefined) state.markIncompleteSlice(marked);
    return { changed, copies: [...sound.copies, ...faulty.copies] };
  });
}

function findFaults(
  resource: Resource<DatedSync["resource"]["strategy"]>,
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

/** Returns the problem with a record that the API lists twice, as a clause. */
export function listedTwice(id: string): string {
  return `\`${id}\` is listed more than once`;
}
