import { countUndated, findDate, findNthDate, readCurrentKeys } from "../store/records/current-records.js";
import { recordDate, recordKey } from "../store/records/record-key.js";
import type { SkippedCopy } from "../store/records/record-writer.js";
import {
  containsInstant,
  describeRange,
  type Range,
  startOfDay,
  startOfSecond,
  subtractRanges,
} from "../util/ranges.js";
import { pluralize } from "../util/text.js";
import { dayMs, formatInstant } from "../util/times.js";
import { maxPerPage, startBudget } from "./budget.js";
import { compareCount } from "./counts.js";
import { dropDailyTotals } from "./daily-totals.js";
import { dateFault, rangeQuery } from "./dates.js";
import type { RangeReading } from "./read.js";
import { type List, type ListRecord, readList, whyIncomplete } from "./read-list.js";
import type { DatedRun, DatedSync } from "./session.js";
import { cover, writeList } from "./write.js";

/**
 * Returns the problem with unexpected dates, as a clause: the newest such record and their number; null if there are
 * none.
 */
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

/** A slice is split until the API counts at most this many records in it, or it is one day long. */
const maxSliceRecords = 2_000;
const maxSplits = 12;
/** How far before its end a range without a start is first split. */
const openRangeMs = 20 * 365 * dayMs;

/**
 * Reads a range of dates by page number, in slices, newest first: for an API that does not return records newest first,
 * or returns dates that are unreadable or outside the requested ones. No record is lost.
 * @param remaining returns the remaining requests; the first slice is always read
 */
export async function readByPage(
  run: DatedSync,
  range: Range,
  remaining = () => Number.POSITIVE_INFINITY,
): Promise<RangeReading> {
  const newest = newestPart(run, range, remaining() * maxPerPage);
  let reached = range.to + 1;
  let changed = 0;
  for await (const slice of splitIntoSlices(run, newest)) {
    changed += await readSlice(run, slice);
    reached = slice.from;
    if (remaining() <= 0) break;
  }
  return { reached, changed };
}

/** Returns the newest part of a range that has about this many mirrored records. */
function newestPart({ mirror, resource, state }: DatedRun, range: Range, records: number): Range {
  const mirrored = Number.isFinite(records) ? state.count(range) : 0;
  const oldest =
    mirrored > records ? findNthDate(mirror, resource.name, range, mirrored - Math.max(records, 1)) : null;
  return oldest === null ? range : { from: startOfSecond(oldest), to: range.to };
}

/** Splits a range at day boundaries until each slice has few enough records. Newest first. */
async function* splitIntoSlices(run: DatedRun, range: Range): AsyncGenerator<Range, void> {
  const isLongerThanDay = middleDay(range) !== null;
  const { apiCount: total } = isLongerThanDay ? await compareCount(run, range) : { apiCount: 0 };
  yield* split(run, { ...range, total }, 0);
}

async function* split(
  run: DatedRun,
  slice: Range & { total: number },
  splits: number,
): AsyncGenerator<Range, void> {
  const { from, to, total } = slice;
  const middle = middleDay(slice);
  if (total <= maxSliceRecords || middle === null || splits === maxSplits) return yield { from, to };
  const upper = { from: middle, to };
  const lower = { from, to: middle - 1 };
  const { apiCount: inUpper } = await compareCount(run, upper);
  const inLower = inUpper < total ? total - inUpper : (await compareCount(run, lower)).apiCount;
  // If the API ignores the dates, it counts all records in both halves: then the range is read once, as one list.
  if (inUpper >= total && inLower >= total) return yield { from, to };
  yield* split(run, { ...upper, total: inUpper }, splits + 1);
  yield* split(run, { ...lower, total: inLower }, splits + 1);
}

/** Returns the start of the day in the middle of a range; null if it is not after the range's start. */
function middleDay({ from, to }: Range): number | null {
  const start = Math.max(from, to - openRangeMs);
  const middle = startOfDay(start + (to - start) / 2);
  return middle > from && middle <= to ? middle : null;
}

/**
 * Reads a slice as a list, and writes every record as it is. A complete list whose records all have a date within the
 * slice covers it: a list needs no order. If some dates are unexpected, only the days that return them are marked:
 * nothing is removed there, and they are not covered.
 * @param isDivisible false if a slice with unexpected dates is marked as a whole
 * @returns the number of mirrored records that changed
 */
export async function readSlice(run: DatedSync, slice: Range, isDivisible = true): Promise<number> {
  const { incompleteReasons, mirror, resource } = run;
  const list = await readList(run, {
    query: rangeQuery(resource.strategy, slice),
    mirrored: () => readCurrentKeys(mirror, resource.name, slice),
  });
  const faults = findFaults(run, list, slice);
  if (!list.isComplete && list.repeated.length === 0)
    incompleteReasons.push({ text: `${describeRange(slice)} ${whyIncomplete(list)}` });

  const sound = [...list.records].flatMap(([name, record]) => (faults.has(name) ? [] : record));
  let faultyParts = faults.size > 0 ? [slice] : [];
  if (isDivisible && list.isComplete && faults.size > 0) {
    const dates = sound.map(({ record }) => recordDate(resource, record) ?? 0);
    const remaining = startBudget(run, maxDayCounts);
    faultyParts = await findFaultyParts(run, { ...slice, faults: faults.size }, dates, remaining);
  }
  let { changed, copies } = writeSlice(run, slice, { list, sound, faults, faultyParts });
  // Each part is read again, because the list does not say which part returned which record.
  if (faultyParts.length > 1)
    for (const part of faultyParts.toReversed()) changed += await readSlice(run, part, false);
  return changed + (await resolveCopies(run, copies, list.requestedAt));
}

/** A slice that was read. */
interface SliceReading {
  list: List;
  /** The records with a date within the slice. */
  sound: readonly ListRecord[];
  /** What is wrong with each other record, by its name in the list. */
  faults: ReadonlyMap<string, string>;
  /** The parts of the slice that return the other records. If there are several, each is read again and marked then. */
  faultyParts: readonly Range[];
}

/** Writes the records of a slice, marks its faulty part, and covers the rest of a complete list, in one transaction. */
function writeSlice(run: DatedSync, slice: Range, reading: SliceReading) {
  const { id: runId, mirror, progress, state } = run;
  const { list, sound, faults, faultyParts } = reading;
  const { isComplete, requestedAt } = list;
  const faulty = [...list.records].flatMap(([name, record]) => (faults.has(name) ? record : []));
  return mirror.transaction(() => {
    const writtenSound = writeList(run, sound);
    const writtenFaulty = writeList(run, faulty, true);
    const changed = writtenSound.changed + writtenFaulty.changed;
    progress.addRows(list.rowCount);
    state.missing.delete(writtenSound.ids);
    state.missing.delete(writtenFaulty.ids.filter((id) => findDate(mirror, id) === null));
    // The API does not return these records at their own dates, and does not count them there.
    state.missing.add(
      writtenFaulty.added.filter((id) => state.isCovered(findDate(mirror, id))),
      [],
    );
    if (changed > 0 || faults.size > 0) dropDailyTotals(run, slice);
    const recordIds = [...writtenFaulty.ids, ...writtenFaulty.copies.map((copy) => copy.id)];
    const ids = new Set([...writtenSound.ids, ...recordIds]);
    const [faultyPart, ...otherParts] = faultyParts;
    if (faultyPart && otherParts.length === 0) {
      const fault = [...faults.values()][0] ?? "";
      const marked = { ...faultyPart, readAt: requestedAt, runId, recordIds, fault };
      if (isComplete) state.markCompleteSlice(marked, ids);
      else state.markIncompleteSlice(marked);
    }
    if (isComplete)
      for (const range of subtractRanges([slice], faultyParts))
        cover(run, { range, ids, requestedAt, runId });
    return { copies: [...writtenSound.copies, ...writtenFaulty.copies], changed };
  });
}

/** Request budget for finding the days of a slice that return records with unexpected dates. */
const maxDayCounts = 40;

/**
 * Returns the parts of a slice that return records with unexpected dates, down to single days, oldest first. In these
 * parts the API counts more records than have a date there.
 * @param slice.faults the number of records with unexpected dates in the slice
 * @param dates the dates of its other records, in milliseconds
 * @param remaining returns the remaining requests
 */
async function findFaultyParts(
  run: DatedSync,
  slice: Range & { faults: number },
  dates: readonly number[],
  remaining: () => number,
): Promise<Range[]> {
  const { faults, from, to } = slice;
  if (faults === 0) return [];
  const inSlice = dates.filter((ms) => containsInstant(slice, ms)).sort((a, b) => a - b);
  const median = startOfDay(inSlice[Math.floor(inSlice.length / 2)] ?? from);
  const middle = median > from ? median : middleDay(slice);
  if (middle === null || remaining() < 2) return [{ from, to }];
  const halves = [];
  for (const half of [
    { from, to: middle - 1 },
    { from: middle, to },
  ]) {
    const { apiCount } = await compareCount(run, half);
    halves.push({ ...half, faults: apiCount - inSlice.filter((ms) => containsInstant(half, ms)).length });
  }
  const isConsistent = halves.every((half) => half.faults >= 0) && sumOfFaults(halves) === faults;
  // The API returns these records in every range, or records changed in the meantime.
  if (!isConsistent) return [{ from, to }];
  const parts: Range[] = [];
  for (const half of halves) parts.push(...(await findFaultyParts(run, half, inSlice, remaining)));
  return parts;
}

function sumOfFaults(parts: readonly { faults: number }[]): number {
  return parts.reduce((sum, { faults }) => sum + faults, 0);
}

/** Returns the problems with a slice's records, keyed by the record's name in the list. */
function findFaults({ resource }: DatedRun, { records, repeated }: List, slice: Range): Map<string, string> {
  const faults = new Map<string, string>();
  const isRepeated = new Set(repeated);
  for (const [name, { record }] of records) {
    const fault = dateFault(resource, record, slice);
    if (isRepeated.has(name)) faults.set(name, repeatedText(name));
    else if (fault !== null) faults.set(name, `\`${name}\`: ${fault}`);
  }
  return faults;
}

function repeatedText(id: string): string {
  return `\`${id}\` is listed more than once`;
}

/** Request budget for locating the newer copies of records, per response or slice. */
const maxLookups = 10;

/**
 * Handles copies that are older than the mirrored record. If the API still returns the mirrored record at its date, the
 * API lists the ID twice: the newer copy is kept, and the older copy's second is marked. Otherwise the record's date
 * has changed.
 * @returns the number of mirrored records that changed
 */
export async function resolveCopies(
  run: DatedSync,
  copies: readonly SkippedCopy[],
  requestedAt: number,
): Promise<number> {
  const { mirror, resource, state, store } = run;
  let lookups = 0;
  let changed = 0;
  for (const { id, value } of copies) {
    const second = secondOf(findDate(mirror, id));
    const copySecond = secondOf(recordDate(resource, value));
    if (second && !isReadByRun(run, second) && lookups < maxLookups) {
      lookups += 1;
      changed += await readSlice(run, second);
    }
    const isListedTwice = second !== null && isReadByRun(run, second) && !state.missing.has(id);
    mirror.transaction(() => {
      if (isListedTwice && copySecond) {
        const fault = repeatedText(recordKey(resource, value, 0));
        dropDailyTotals(run, copySecond);
        state.markIncompleteSlice({
          ...copySecond,
          readAt: requestedAt,
          runId: run.id,
          recordIds: [id],
          fault,
        });
      } else {
        store.write([value], { readAt: formatInstant(requestedAt) });
        state.missing.delete([id]);
        changed += 1;
      }
    });
  }
  return changed;
}

function secondOf(dated: number | null): Range | null {
  if (dated === null) return null;
  const from = startOfSecond(dated);
  return { from, to: from + 999 };
}

function isReadByRun({ id, state }: DatedRun, { from }: Range): boolean {
  return [...state.coverage(), ...state.markedSlices()].some(
    (one) => one.runId === id && containsInstant(one, from),
  );
}
