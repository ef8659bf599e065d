import type { SkippedCopy } from "../store/record-writer.js";
import { countUndated, loadCurrentKeys } from "../store/records.js";
import { pluralize } from "../util/format-text.js";
import { describeRange, type TimeRange } from "../util/time-ranges.js";
import { findDateFault, rangeQuery } from "./dates.js";
import {
  describeIncompleteList,
  groupByResponse,
  type List,
  type ListRecord,
  readList,
} from "./read-list.js";
import type { DatedRun, DatedSession } from "./session.js";
import { storeDatedReading } from "./store-reading.js";

/** A slice (a date range that is read by page number) and the records that the API returned for it. */
export interface SliceReading {
  slice: TimeRange;
  list: List;
  valid: readonly ListRecord[];
  faulty: readonly ListRecord[];
  /** A description of the first faulty record, or null if there is none. */
  fault: string | null;
}

export async function readSlice(run: DatedRun, slice: TimeRange): Promise<SliceReading> {
  const { mirror, resource } = run;
  const list = await readList(run, {
    query: rangeQuery(resource.strategy, slice),
    mirroredKeys: loadCurrentKeys(mirror, resource.name, slice),
  });
  const repeated = new Set(list.repeated);
  const valid: ListRecord[] = [];
  const faulty: ListRecord[] = [];
  let firstFault: string | null = null;
  for (const [id, listed] of list.records) {
    const dateFault = findDateFault(resource, listed.record, slice);
    const fault = repeated.has(id) ? describeRepeatedId(id) : dateFault && `\`${id}\`: ${dateFault}`;
    if (fault === null) valid.push(listed);
    else faulty.push(listed);
    firstFault ??= fault;
  }
  return { slice, list, valid, faulty, fault: firstFault };
}

export function describeRepeatedId(id: string): string {
  return `\`${id}\` is listed more than once`;
}

/**
 * Stores all records in a slice in one transaction. If any record is faulty, nothing in the slice is removed. If the
 * slice's list never settled (A9), the run is incomplete.
 * @returns the copies of mirrored records, which the caller must resolve
 */
export function storeSlice(run: DatedRun, reading: SliceReading): readonly SkippedCopy[] {
  const { fault, faulty, list, slice, valid } = reading;
  const { isComplete, requestedAt } = list;
  const hasSettled = isComplete || list.repeated.length > 0;
  return run.mirror.transaction(() =>
    storeDatedReading(run, {
      range: slice,
      requestedAt,
      isComplete,
      responses: groupByResponse(valid),
      faulty: fault === null ? null : { responses: groupByResponse(faulty), fault },
      unsettled: hasSettled ? null : `${describeRange(slice)} ${describeIncompleteList(list)}`,
    }),
  );
}

/** Describes the fault in the newest faulty slice and counts all faulty records. Returns null if there are none. */
export function describeFaultySlices({ mirror, resource, state }: DatedSession): string | null {
  const newest = state.loadFaultySlices().at(-1);
  const undated = countUndated(mirror, resource.name);
  if (!newest) return undated > 0 ? `${pluralize(undated, "record")} without a readable date` : null;
  const records = pluralize(state.loadFaultyIds().size, "such record");
  const unreadable = undated > 0 ? `, ${undated} without a readable date` : "";
  return `${newest.fault} (${records}${unreadable})`;
}
