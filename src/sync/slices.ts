import { maxPerPage } from "../api/pagination.js";
import type { DatedStrategy, Resource } from "../resources/resource.js";
import { recordDate, recordKey } from "../store/record-key.js";
import type { SkippedCopy, WrittenRecords } from "../store/record-writer.js";
import { countUndated, findDate, findNthDate, readCurrentKeys } from "../store/records.js";
import { containsInstant, describeRange, type Range, startOfDay, startOfSecond } from "../util/ranges.js";
import { pluralize } from "../util/text.js";
import { dayMs } from "../util/timestamp.js";
import { compareCount } from "./counts.js";
import { dateFault, rangeQuery } from "./dates.js";
import { groupByResponse, type List, type ListRecord, readList, whyIncomplete } from "./read-list.js";
import { type DatedRun, type DatedSync, startBudget } from "./run.js";

/** A slice is split until the API counts at most this many records in it, or until it is one day long. */
const maxSliceRecords = 2_000;
const maxSplits = 12;
/** The assumed length of a range without a start, which determines where the range is first split. */
const openRangeMs = 20 * 365 * dayMs;
/** If a slice has more faulty records than this, all of its days are marked, even days without faulty records. */
const maxFaultsToLocate = 10;
/** The request budget for finding the days with a slice's faulty records. */
const maxLocateRequests = 100;

/**
 * Reads a date range by page number, in slices, newest first. This is the fallback if the API does not sort records
 * newest first, or returns dates that are unreadable or outside the requested range. All records are stored.
 * @param remaining returns the number of requests left; the first slice is always read
 * @returns the oldest instant that was read, in milliseconds
 */
export async function readByPage(
  run: DatedSync,
  range: Range,
  remaining = () => Number.POSITIVE_INFINITY,
): Promise<number> {
  let reached = range.to + 1;
  for await (const slice of splitIntoSlices(run, newestPart(run, range, remaining() * maxPerPage))) {
    const remainingToLocate = startBudget(run, maxLocateRequests);
    const readings = locateFaults(run, slice, () => Math.min(remainingToLocate(), remaining()));
    for await (const reading of readings) await storeSlice(run, reading);
    reached = slice.from;
    if (remaining() <= 0) break;
  }
  return reached;
}

export async function readAsList(run: DatedSync, range: Range): Promise<void> {
  await storeSlice(run, await readSlice(run, range));
}

async function storeSlice(run: DatedSync, reading: SliceReading): Promise<void> {
  await resolveCopies(run, writeSlice(run, reading), reading.list.requestedAt);
}

/** Returns the newest days in a range, with about `records` mirrored records in total. */
function newestPart({ mirror, resource, state }: DatedRun, { from, to }: Range, records: number): Range {
  const mirrored = Number.isFinite(records) ? state.count({ from, to }) : 0;
  if (mirrored <= records) return { from, to };
  const oldest = findNthDate(mirror, resource.name, { from, to }, mirrored - Math.max(records, 1));
  return { from: oldest === null ? from : Math.max(from, startOfDay(oldest)), to };
}

/**
 * Splits a range at day boundaries until no slice has too many records. Yields the slices newest first.
 * @param counted the API's count for the range, if known
 */
async function* splitIntoSlices(
  run: DatedRun,
  { from, to }: Range,
  counted?: number,
  splits = 0,
): AsyncGenerator<Range, void> {
  const middle = middleDay({ from, to });
  if (middle === null || splits === maxSplits) return yield { from, to };
  const total = counted ?? (await compareCount(run, { from, to })).apiCount;
  if (total <= maxSliceRecords) return yield { from, to };
  const halves = await countHalves(run, { from, to }, middle);
  // If both halves have as many records as the range, the API ignores dates, and the range is read as one list.
  if (halves.every((half) => half.total >= total)) return yield { from, to };
  for (const half of halves) yield* splitIntoSlices(run, half, half.total, splits + 1);
}

/** Returns the API's record counts for the two parts of a slice, starting with the newer part. */
async function countHalves(
  run: DatedRun,
  { from, to }: Range,
  middle: number,
): Promise<(Range & { total: number })[]> {
  const upper = { from: middle, to };
  const lower = { from, to: middle - 1 };
  const { apiCount: inUpper } = await compareCount(run, upper);
  const { apiCount: inLower } = await compareCount(run, lower);
  return [
    { ...upper, total: inUpper },
    { ...lower, total: inLower },
  ];
}

function middleDay({ from, to }: Range): number | null {
  const start = Math.max(from, to - openRangeMs);
  const middle = startOfDay(start + (to - start) / 2);
  return middle > from && middle <= to ? middle : null;
}

/**
 * Reads a slice. If it has a few faulty records, bisects it to find the days that must be marked.
 * @param remaining returns the number of requests left for reading halves
 */
async function* locateFaults(
  run: DatedSync,
  slice: Range,
  remaining: () => number,
): AsyncGenerator<SliceReading, void> {
  const reading = await readSlice(run, slice);
  const { faults, list } = reading;
  const middle = medianDay(run, reading);
  const canDivide = list.isComplete && faults.size > 0 && faults.size <= maxFaultsToLocate;
  if (!canDivide || middle === null || remaining() <= 0) return yield reading;
  const halves = await countHalves(run, slice, middle);
  // If the halves have more records than the slice, some records are in both halves, so bisecting would not help.
  if (halves.reduce((sum, { total }) => sum + total, 0) > list.total) return yield reading;
  for (const { from, to } of halves) yield* locateFaults(run, { from, to }, remaining);
}

/** Returns the start of a day that splits the slice near its median valid record, or null if there is no such day. */
function medianDay({ resource }: DatedRun, { faults, list, slice }: SliceReading): number | null {
  const dates = [...list.records].flatMap(([id, { record }]) =>
    faults.has(id) ? [] : (recordDate(resource, record) ?? []),
  );
  if (dates.length === 0) return null;
  const median = startOfDay(dates.toSorted((a, b) => a - b)[Math.floor(dates.length / 2)] ?? 0);
  const middle = median > slice.from ? median : median + dayMs;
  return middle <= slice.to ? middle : null;
}

interface SliceReading {
  slice: Range;
  list: List;
  faults: ReadonlyMap<string, string>;
}

async function readSlice(run: DatedSync, slice: Range): Promise<SliceReading> {
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
    const fault = dateFault(resource, record, slice);
    if (isRepeated.has(id)) faults.set(id, listedTwice(id));
    else if (fault !== null) faults.set(id, `\`${id}\`: ${fault}`);
  }
  return faults;
}

function listedTwice(id: string): string {
  return `\`${id}\` is listed more than once`;
}

/**
 * Writes all of a slice's records in one transaction.
 *
 * | list       | faults | effect                                                                  |
 * | ---------- | ------ | ----------------------------------------------------------------------- |
 * | complete   | none   | the slice is covered, and mirrored records that it lacks become missing |
 * | complete   | some   | the slice is marked: it is not covered, and nothing in it is removed    |
 * | incomplete | some   | the slice is marked, and keeps the undated records of earlier readings  |
 * | incomplete | none   | only the records are stored                                             |
 *
 * If the list never settled (A9), the run is also incomplete.
 * @returns the older copies of records that the list contains twice
 */
function writeSlice(run: DatedSync, { slice, list, faults }: SliceReading): SkippedCopy[] {
  const { apiTotals, mirror, progress, state } = run;
  const { isComplete, repeated, requestedAt } = list;
  if (!isComplete && repeated.length === 0)
    run.unsettledSlices.push({ text: `${describeRange(slice)} ${whyIncomplete(list)}` });
  const isFaulty = (id: string) => faults.has(id);
  const soundRecords = [...list.records].flatMap(([id, record]) => (isFaulty(id) ? [] : record));
  const faultyRecords = [...list.records].flatMap(([id, record]) => (isFaulty(id) ? record : []));
  return mirror.transaction(() => {
    const sound = writeList(run, soundRecords, false);
    const faulty = writeList(run, faultyRecords, true);
    progress.addRows(list.rowCount);
    updateMissing(run, sound, faulty);
    if (sound.addedOrChanged + faulty.addedOrChanged + faults.size > 0) state.storedTotals.delete(slice);
    const recordIds = [...faulty.ids, ...faulty.copies.map(({ id }) => id)];
    const ids = new Set([...sound.ids, ...recordIds]);
    const [fault] = faults.values();
    if (fault !== undefined)
      state.markSlice(slice, { recordIds, fault, requestedAt, ids: isComplete ? ids : null });
    else if (isComplete) state.coverRange({ range: slice, ids, requestedAt }, apiTotals);
    return [...sound.copies, ...faulty.copies];
  });
}

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

/** A new faulty record with a covered date becomes missing, because the API did not return it for that date. */
function updateMissing({ mirror, state }: DatedSync, sound: WrittenRecords, faulty: WrittenRecords): void {
  state.missing.delete(sound.ids);
  state.missing.delete(faulty.ids.filter((id) => findDate(mirror, id) === null));
  state.missing.add(faulty.added.filter((id) => state.isCovered(findDate(mirror, id))));
}

const maxLookups = 10;

/**
 * Handles older copies of mirrored records. If this run has not read the mirrored record's date, first reads that
 * second to check whether the API still returns the record there.
 */
export async function resolveCopies(
  run: DatedSync,
  copies: readonly SkippedCopy[],
  requestedAt: number,
): Promise<void> {
  const { mirror, resource, state, writer } = run;
  let lookups = 0;
  for (const { id, value } of copies) {
    const second = secondOf(recordDate(resource, value));
    const mirroredSecond = secondOf(findDate(mirror, id));
    if (mirroredSecond && !isReadByRun(run, mirroredSecond) && lookups < maxLookups) {
      lookups += 1;
      writeSlice(run, await readSlice(run, mirroredSecond));
    }
    mirror.transaction(() => {
      const effect = copyEffect(run, id, second, mirroredSecond);
      if (effect === "missing") state.missing.add([id], state.coverage());
      if (effect === "replace") {
        writer.write([value], { readAt: requestedAt });
        state.missing.delete([id]);
      }
      if (effect === "mark" && second) {
        state.storedTotals.delete(second);
        const fault = listedTwice(recordKey(resource, value, 0));
        state.markSlice(second, { recordIds: [id], fault, requestedAt, ids: null });
      }
    });
  }
}

/**
 * Decides what an older copy implies about the mirrored record.
 * - replace: The API no longer returns the mirrored record, so the copy has the record's new date.
 * - mark: The API returns both, so it lists the ID twice. The newer record is kept.
 * - missing: The mirrored record's date was not checked, because the limit was reached. The record is not counted until
 * both dates have been read.
 * - none: The mirrored record's date is not covered, so the record is not counted in any case.
 */
function copyEffect(
  run: DatedSync,
  id: number,
  second: Range | null,
  mirroredSecond: Range | null,
): "replace" | "mark" | "missing" | "none" {
  if (second === null || mirroredSecond === null) return "replace";
  if (isReadByRun(run, mirroredSecond)) return run.state.missing.has(id) ? "replace" : "mark";
  return run.state.isCovered(mirroredSecond.from) ? "missing" : "none";
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
