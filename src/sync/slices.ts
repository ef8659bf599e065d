import type { SkippedCopy, WrittenRecords } from "../store/record-writer.js";
import { countUndated, findDate, readCurrentKeys, recordDate, recordKey } from "../store/records.js";
import { pluralize } from "../util/format-text.js";
import { containsInstant, describeRange, startOfSecond, type TimeRange } from "../util/time-ranges.js";
import { findDateFault, rangeQuery } from "./check-dates.js";
import {
  describeIncompleteList,
  groupByResponse,
  type List,
  type ListRecord,
  readList,
} from "./read-list.js";
import type { DatedRun, DatedSession, IncompleteReason } from "./run.js";

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
    mirroredKeys: readCurrentKeys(mirror, resource.name, slice),
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

function describeRepeatedId(id: string): string {
  return `\`${id}\` is listed more than once`;
}

/**
 * Writes all records in a slice, and resolves outdated copies of mirrored records.
 * @returns the reasons why the run is incomplete: one for each list that never settled (A9)
 */
export async function storeSlice(run: DatedRun, reading: SliceReading): Promise<IncompleteReason[]> {
  const copies = writeSlice(run, reading);
  return [...describeUnsettled(reading), ...(await resolveCopies(run, copies, reading.list.requestedAt))];
}

function describeUnsettled({ slice, list }: SliceReading): IncompleteReason[] {
  if (list.isComplete || list.repeated.length > 0) return [];
  return [{ text: `${describeRange(slice)} ${describeIncompleteList(list)}` }];
}

/**
 * Writes all records in a slice in one transaction. If any record is faulty, the slice becomes a faulty slice, so that
 * nothing in it is removed. Otherwise, a complete slice counts as covered, and mirrored records that the API did not
 * return for it are marked as missing.
 * @returns copies that are older than the mirrored records
 */
function writeSlice(run: DatedRun, { slice, list, valid, faulty, fault }: SliceReading): SkippedCopy[] {
  const { apiTotals, mirror, progress, runId, state } = run;
  const { isComplete, requestedAt } = list;
  return mirror.transaction(() => {
    const written = writeList(run, valid, false);
    const writtenFaulty = writeList(run, faulty, true);
    const copies = [...written.copies, ...writtenFaulty.copies];
    progress.addRows(list.records.size);
    state.missing.delete(written.ids);
    state.missing.delete(writtenFaulty.ids.filter((id) => findDate(mirror, id) === null));
    // A new faulty record was not returned for its own date. If that date is covered, the record counts as missing.
    state.missing.add(writtenFaulty.added.filter((id) => state.isCovered(findDate(mirror, id))));
    const isUnchanged = written.addedOrChanged + writtenFaulty.addedOrChanged === 0;
    if (!isUnchanged || fault !== null) state.storedTotals.invalidate(slice);

    const faultyIds = [...writtenFaulty.ids, ...writtenFaulty.copies.map(({ id }) => id)];
    const ids = new Set([...written.ids, ...faultyIds]);
    if (fault !== null)
      state.addFaultySlice({
        runId,
        range: slice,
        faultyIds,
        ids: isComplete ? ids : null,
        fault,
        requestedAt,
      });
    else if (isComplete) state.coverRange({ runId, range: slice, ids, requestedAt }, apiTotals);
    return copies;
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

/** The maximum number of mirrored records to look up for the copies in one response. */
const maxLookups = 10;

/**
 * Resolves copies that are older than the mirrored records. If this run has not yet read the second in which a mirrored
 * record is dated, reads it first, to find out whether the API still returns the record for that date.
 */
export async function resolveCopies(
  run: DatedRun,
  copies: readonly SkippedCopy[],
  requestedAt: number,
): Promise<IncompleteReason[]> {
  const reasons: IncompleteReason[] = [];
  let lookups = 0;
  for (const copy of copies) {
    const mirroredDate = findDate(run.mirror, copy.id);
    const isUnread = mirroredDate !== null && !isReadByRun(run, mirroredDate);
    if (isUnread && lookups < maxLookups) {
      lookups += 1;
      const reading = await readSlice(run, secondRange(mirroredDate));
      writeSlice(run, reading);
      reasons.push(...describeUnsettled(reading));
    }
    run.mirror.transaction(() => resolveCopy(run, copy, mirroredDate, requestedAt));
  }
  return reasons;
}

interface CopyFacts {
  copyDate: number | null;
  /** The date of the mirrored record before the lookup, or null if it is unreadable. */
  mirroredDate: number | null;
  /** True if this run has read the second in which the mirrored record is dated. */
  isMirroredDateRead: boolean;
  /** True if the API did not return the record for its mirrored date. */
  isMissing: boolean;
}

/**
 * The reason why the API returned an older copy of a mirrored record.
 * - moved: The record now has the copy's date.
 * - duplicate: The API lists the ID twice. `date` is the copy's date.
 * - unknown: The limit on lookups was reached.
 */
type CopyCause = { kind: "moved" } | { kind: "duplicate"; date: number } | { kind: "unknown" };

function classifyCopy({ copyDate, isMirroredDateRead, isMissing, mirroredDate }: CopyFacts): CopyCause {
  if (mirroredDate === null) return { kind: "moved" };
  if (!isMirroredDateRead) return { kind: "unknown" };
  if (copyDate === null || isMissing) return { kind: "moved" };
  return { kind: "duplicate", date: copyDate };
}

function resolveCopy(
  run: DatedRun,
  { id, value }: SkippedCopy,
  mirroredDate: number | null,
  requestedAt: number,
): void {
  const { resource, runId, state, writer } = run;
  const cause = classifyCopy({
    copyDate: recordDate(resource, value),
    mirroredDate,
    isMirroredDateRead: mirroredDate !== null && isReadByRun(run, mirroredDate),
    isMissing: state.missing.has(id),
  });
  if (cause.kind === "moved") {
    writer.replace(value, requestedAt);
    state.missing.delete([id]);
  } else if (cause.kind === "duplicate") {
    // The newer record stays in the mirror, and the copy's second counts as faulty.
    const range = secondRange(cause.date);
    const fault = describeRepeatedId(recordKey(resource, value, 0));
    state.storedTotals.invalidate(range);
    state.addFaultySlice({ runId, range, faultyIds: [id], ids: null, fault, requestedAt });
  } else if (state.isCovered(mirroredDate)) {
    // Mark the record as missing, so that it is not counted until both of its dates have been read.
    state.missing.add([id], state.coverage());
  }
}

function secondRange(date: number): TimeRange {
  const from = startOfSecond(date);
  return { from, to: from + 999 };
}

function isReadByRun({ runId, state }: DatedRun, date: number): boolean {
  const readings = [...state.coverage(), ...state.faultySlices()];
  return readings.some((range) => range.runId === runId && containsInstant(range, date));
}

/** Describes the fault in the newest faulty slice and the number of faulty records. Returns null if there are none. */
export function describeFaultySlices({ mirror, resource, state }: DatedSession): string | null {
  const newest = state.faultySlices().at(-1);
  const undated = countUndated(mirror, resource.name);
  if (!newest) return undated > 0 ? `${pluralize(undated, "record")} without a readable date` : null;
  const records = pluralize(state.faultyIds().size, "such record");
  const unreadable = undated > 0 ? `, ${undated} without a readable date` : "";
  return `${newest.fault} (${records}${unreadable})`;
}
