import { maxPerPage } from "../api/pagination.js";
import type { SkippedCopy, WrittenRecords } from "../store/record-writer.js";
import {
  countUndated,
  findDate,
  findNthDate,
  readCurrentKeys,
  recordDate,
  recordKey,
} from "../store/records.js";
import { pluralize } from "../util/format-text.js";
import {
  containsInstant,
  describeRange,
  startOfDay,
  startOfSecond,
  type TimeRange,
} from "../util/time-ranges.js";
import { dayMs } from "../util/timestamps.js";
import { compareCount } from "./counts.js";
import { findDateFault, rangeQuery } from "./dates.js";
import {
  describeIncompleteList,
  groupByResponse,
  type List,
  type ListRecord,
  readList,
} from "./read-list.js";
import { Budget, type DatedRun, type DatedSession } from "./run.js";

/** Slices are split until the API counts at most this many records in each, or until they are one day long. */
const maxSliceRecords = 2_000;
/** When a range without a start is split in the middle, it is treated as starting on this date. */
const openRangeStart = Date.UTC(2006, 0, 1);
/** If a slice has more faulty records than this, all of its days count as faulty. */
const maxFaultsToLocate = 10;
/** The request budget for locating the days with faulty records in a slice. */
const maxLocateRequests = 100;

/** A date range with the API's count, or null if the count is unknown. */
interface CountedRange extends TimeRange {
  total: number | null;
}

/**
 * Reads a date range by page number, in slices, newest first. This is the fallback if the API does not sort records
 * newest first, or if it returns dates that are unreadable or outside the requested range. All records are stored. The
 * first slice is read even if the budget is used up.
 * @returns the oldest time that was read, in milliseconds since the Unix epoch
 */
export async function readByPage(
  run: DatedRun,
  range: TimeRange,
  budget = new Budget(run.api),
): Promise<number> {
  let reached = range.to + 1;
  const newestPart = selectNewestPart(run, range, budget.remaining * maxPerPage);
  const pending: CountedRange[] = [{ ...newestPart, total: null }];
  for (let slice = pending.pop(); slice; slice = pending.pop()) {
    const halves = await splitLargeRange(run, slice);
    if (halves) {
      pending.push(halves.older, halves.newer);
      continue;
    }
    const locateBudget = new Budget(run.api, Math.min(maxLocateRequests, budget.remaining));
    await readAndStore(run, slice, locateBudget);
    reached = slice.from;
    if (budget.remaining <= 0) break;
  }
  return reached;
}

/** Returns the newest days in a range that have about `records` mirrored records in total. */
function selectNewestPart(
  { mirror, resource, state }: DatedRun,
  { from, to }: TimeRange,
  records: number,
): TimeRange {
  const mirrored = Number.isFinite(records) ? state.count({ from, to }) : 0;
  if (mirrored <= records) return { from, to };
  const oldest = findNthDate(mirror, resource.name, { from, to }, mirrored - Math.max(records, 1));
  return { from: oldest === null ? from : Math.max(from, startOfDay(oldest)), to };
}

interface SplitRange {
  newer: TimeRange & { total: number };
  older: TimeRange & { total: number };
}

/** Splits a range at the start of a day if it has too many records. Returns null if it should be read as one list. */
async function splitLargeRange(run: DatedRun, { from, to, total }: CountedRange): Promise<SplitRange | null> {
  const start = Math.max(from, openRangeStart);
  const middle = startOfDay(start + (to + 1 - start) / 2);
  if (middle <= from || middle > to) return null;
  const apiCount = total ?? (await compareCount(run, { from, to })).apiCount;
  if (apiCount <= maxSliceRecords) return null;
  const halves = await countHalves(run, { from, to }, middle);
  // If each half has as many records as the whole range, the API ignores dates.
  return halves.newer.total >= apiCount && halves.older.total >= apiCount ? null : halves;
}

async function countHalves(run: DatedRun, { from, to }: TimeRange, middle: number): Promise<SplitRange> {
  const newer = { from: middle, to };
  const older = { from, to: middle - 1 };
  return {
    newer: { ...newer, total: (await compareCount(run, newer)).apiCount },
    older: { ...older, total: (await compareCount(run, older)).apiCount },
  };
}

/**
 * Reads and stores a slice. If only a few records are faulty and the budget allows it, bisects the slice first to find
 * the days that contain the faulty records.
 */
async function readAndStore(run: DatedRun, slice: TimeRange, budget: Budget): Promise<void> {
  const reading = await readSlice(run, slice);
  const { faulty, list } = reading;
  const middle = findMedianDay(run, reading);
  const hasFewFaults = list.isComplete && faulty.length > 0 && faulty.length <= maxFaultsToLocate;
  if (hasFewFaults && middle !== null && budget.remaining > 0) {
    const { newer, older } = await countHalves(run, slice, middle);
    // If the halves have more records in total than the slice, the API returns some records for both, so bisecting
    // would not help.
    if (newer.total + older.total <= list.total) {
      await readAndStore(run, newer, budget);
      await readAndStore(run, older, budget);
      return;
    }
  }
  await resolveCopies(run, storeSlice(run, reading), list.requestedAt);
}

/** Returns the start of a day that splits the slice near its median valid record, or null if there is no such day. */
function findMedianDay({ resource }: DatedRun, { slice, valid }: SliceReading): number | null {
  const dates = valid.flatMap(({ record }) => recordDate(resource, record) ?? []);
  if (dates.length === 0) return null;
  const median = startOfDay(dates.toSorted((a, b) => a - b)[Math.floor(dates.length / 2)] ?? 0);
  const middle = median > slice.from ? median : median + dayMs;
  return middle <= slice.to ? middle : null;
}

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
 * Stores all records in a slice in one transaction. If any record is faulty, nothing in the slice is removed. If the list
 * never settled (A9), the run is incomplete.
 * @returns the copies of mirrored records, which are still to be resolved
 */
export function storeSlice(run: DatedRun, reading: SliceReading): SkippedCopy[] {
  const { fault, faulty, list, slice, valid } = reading;
  const { apiTotals, mirror, progress, runId, state } = run;
  const { isComplete, requestedAt } = list;
  if (!isComplete && list.repeated.length === 0)
    run.unsettledSlices.push(`${describeRange(slice)} ${describeIncompleteList(list)}`);
  return mirror.transaction(() => {
    const writtenValid = writeList(run, valid, false);
    const writtenFaulty = writeList(run, faulty, true);
    progress.addRows(list.records.size);
    const faultyIds = [...writtenFaulty.ids, ...writtenFaulty.copies.map(({ id }) => id)];
    state.applyReading(
      {
        runId,
        range: slice,
        requestedAt,
        isComplete,
        ids: writtenValid.ids,
        changed: writtenValid.addedOrChanged > 0 ? slice : null,
        faulty: fault === null ? null : { ids: faultyIds, added: writtenFaulty.added, fault },
      },
      { apiTotals },
    );
    return [...writtenValid.copies, ...writtenFaulty.copies];
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

/** Describes the fault in the newest faulty slice and the number of faulty records. Returns null if there are none. */
export function describeFaultySlices({ mirror, resource, state }: DatedSession): string | null {
  const newest = state.faultySlices().at(-1);
  const undated = countUndated(mirror, resource.name);
  if (!newest) return undated > 0 ? `${pluralize(undated, "record")} without a readable date` : null;
  const records = pluralize(state.faultyIds().size, "such record");
  const unreadable = undated > 0 ? `, ${undated} without a readable date` : "";
  return `${newest.fault} (${records}${unreadable})`;
}

/** The maximum number of mirrored records to look up for the copies in one response. */
const maxLookups = 10;

/**
 * Resolves the copies in a response: records that were skipped because the mirror contains a record with the same ID and
 * a newer date. If the API no longer lists the record for the newer date, it has moved to the older date. Otherwise, the
 * API lists its ID for both dates.
 * @param requestedAt the time of the request that returned the copies, in milliseconds since the Unix epoch
 */
export async function resolveCopies(
  run: DatedRun,
  copies: readonly SkippedCopy[],
  requestedAt: number,
): Promise<void> {
  const { mirror, resource, state } = run;
  let lookups = 0;
  for (const copy of copies) {
    const newerDate = findDate(mirror, copy.id) ?? null;
    const olderDate = recordDate(resource, copy.value);
    if (newerDate === null || olderDate === null) {
      mirror.transaction(() => acceptCopy(run, copy, requestedAt));
      continue;
    }
    if (!isReadByRun(run, newerDate) && lookups < maxLookups) {
      lookups += 1;
      await lookUp(run, newerDate);
    }
    mirror.transaction(() => {
      if (!isReadByRun(run, newerDate)) postponeCopy(run, copy, newerDate);
      // Reading a date marks the records that the API did not return for it as missing.
      else if (state.missing.has(copy.id)) acceptCopy(run, copy, requestedAt);
      else rejectCopy(run, copy, olderDate, requestedAt);
    });
  }
}

/** Reads the second of a date. Copies in this response are left to the comparison of counts. */
async function lookUp(run: DatedRun, date: number): Promise<void> {
  storeSlice(run, await readSlice(run, secondRange(date)));
}

/** Replaces the mirrored record with the copy, because the record has moved to the older date. */
function acceptCopy({ state, writer }: DatedRun, { id, value }: SkippedCopy, requestedAt: number): void {
  writer.replace(value, requestedAt);
  state.missing.delete([id]);
}

/** Keeps the newer record, and marks the second of the copy as faulty, because the API lists the ID for both dates. */
function rejectCopy(run: DatedRun, { id, value }: SkippedCopy, olderDate: number, requestedAt: number): void {
  const { resource, runId, state } = run;
  const range = secondRange(olderDate);
  const fault = describeRepeatedId(recordKey(resource, value, 0));
  const faulty = { ids: [id], added: [], fault };
  state.applyReading({ runId, range, requestedAt, isComplete: false, ids: [], faulty });
}

/** Marks the mirrored record as missing, so that it is not counted until both of its dates have been read. */
function postponeCopy({ state }: DatedRun, { id }: SkippedCopy, newerDate: number): void {
  if (state.isCovered(newerDate)) state.missing.add([id], state.coverage());
}

function secondRange(date: number): TimeRange {
  const from = startOfSecond(date);
  return { from, to: from + 999 };
}

function isReadByRun({ runId, state }: DatedRun, date: number): boolean {
  const readings = [...state.coverage(), ...state.faultySlices()];
  return readings.some((range) => range.runId === runId && containsInstant(range, date));
}
