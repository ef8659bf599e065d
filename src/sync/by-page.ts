import { recordDate, type SkippedCopy } from "../store/records.js";
import { countUndated, readPresentKeys, recordKey } from "../store/stored-record.js";
import { containsInstant, describeRange, type Range, startOfDay, startOfSecond } from "../util/ranges.js";
import { pluralize } from "../util/text.js";
import { dayMs, formatInstant } from "../util/times.js";
import { compareCount } from "./counts.js";
import { dropDailyTotals } from "./daily-totals.js";
import { dateFault } from "./dates.js";
import { rangeQuery } from "./read.js";
import { type List, readList, whyIncomplete } from "./read-list.js";
import { type DatedRun, maxPerPage } from "./session.js";
import { changesOf, cover, writeList } from "./write.js";

/**
 * Returns what is wrong with dates, as a clause: the newest record of a marked slice, and how many there are; null if there
 * are none.
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

/** A slice is split until the API counts at most so many records, or it is one day. */
const maxSliceRecords = 2_000;
const maxSplits = 12;
/** Where the split of a range without a beginning starts from: so far before its end. */
const openRangeMs = 20 * 365 * dayMs;

/**
 * Reads a range of dates by page number, in slices, newest first: for an API that does not return records newest first, or
 * returns dates that are unreadable or outside the requested ones. No record is lost.
 * @param left requests that may still be spent; the first slice is read in any case
 * @returns the oldest instant that was read
 */
export async function readByPage(
  run: DatedRun,
  range: Range,
  left = () => Number.POSITIVE_INFINITY,
): Promise<number> {
  const newest = newestPart(run, range, left() * maxPerPage);
  let reached = range.to + 1;
  for await (const slice of slicesOf(run, newest)) {
    await readSlice(run, slice);
    reached = slice.from;
    if (left() <= 0) break;
  }
  return reached;
}

/** Returns the newest part of a range that has about so many mirrored records. */
function newestPart({ state }: DatedRun, range: Range, records: number): Range {
  const mirrored = Number.isFinite(records) ? state.count(range) : 0;
  const oldest = mirrored > records ? state.nthDate(range, mirrored - Math.max(records, 1)) : null;
  return oldest === null ? range : { from: startOfSecond(oldest), to: range.to };
}

/** Splits a range at days until the API counts few enough records in each slice. Newest first. */
async function* slicesOf(run: DatedRun, range: Range): AsyncGenerator<Range, void> {
  const isLongerThanDay = middleOf(range) !== null;
  const { api: total } = isLongerThanDay ? await compareCount(run, range) : { api: 0 };
  yield* split(run, { ...range, total }, 0);
}

async function* split(
  run: DatedRun,
  slice: Range & { total: number },
  splits: number,
): AsyncGenerator<Range, void> {
  const { from, to, total } = slice;
  const middle = middleOf(slice);
  if (total <= maxSliceRecords || middle === null || splits === maxSplits) return yield { from, to };
  const upper = { from: middle, to };
  const lower = { from, to: middle - 1 };
  const { api: inUpper } = await compareCount(run, upper);
  const inLower = inUpper < total ? total - inUpper : (await compareCount(run, lower)).api;
  // An API that ignores the dates counts all records in both halves: they are read once, as one list.
  if (inUpper >= total && inLower >= total) return yield { from, to };
  yield* split(run, { ...upper, total: inUpper }, splits + 1);
  yield* split(run, { ...lower, total: inLower }, splits + 1);
}

/** Returns the first instant of the day in the middle of a range; null if that is no later than the range's beginning. */
function middleOf({ from, to }: Range): number | null {
  const start = Math.max(from, to - openRangeMs);
  const middle = startOfDay(start + (to - start) / 2);
  return middle > from && middle <= to ? middle : null;
}

/**
 * Reads a slice as a list, and writes every record as it is. A complete list whose records all have a date within the slice
 * covers it: a list needs no order. A slice with other dates is marked: nothing is removed in it, and it is not covered.
 */
export async function readSlice(run: DatedRun, slice: Range): Promise<void> {
  const { mirror, resource, row, incompleteReasons, state } = run;
  const list = await readList(run, {
    query: rangeQuery(resource.strategy, slice),
    mirrored: () => readPresentKeys(mirror, resource.name, slice),
  });
  const { requestedAt } = list;
  const faults = faultsOf(run, list, slice);
  const [[, fault] = ["", ""]] = faults;
  if (!list.isComplete && list.repeated.length === 0)
    incompleteReasons.push(`${describeRange(slice)} ${whyIncomplete(list)}`);

  const copies = mirror.transaction(() => {
    const changesBefore = changesOf(run);
    const entries = [...list.records];
    const sound = writeList(
      run,
      entries.flatMap(([name, one]) => (faults.has(name) ? [] : one)),
    );
    const faulty = writeList(
      run,
      entries.flatMap(([name, one]) => (faults.has(name) ? one : [])),
    );
    state.missing.delete(sound.ids);
    if (changesOf(run) > changesBefore || faults.size > 0) dropDailyTotals(run, slice);
    if (faults.size > 0) {
      const recordIds = [...faulty.ids, ...faulty.copies.map(({ id }) => id)];
      state.markSlice({ ...slice, readAt: requestedAt, runId: row.run_id, recordIds, fault });
    } else if (list.isComplete)
      cover(run, { range: slice, ids: new Set(sound.ids), requestedAt, runId: row.run_id });
    return [...sound.copies, ...faulty.copies];
  });
  await resolveCopies(run, copies, requestedAt);
}

/** Returns what is wrong with the records of a slice, each by its name in the list. */
function faultsOf({ resource }: DatedRun, { records, repeated }: List, slice: Range): Map<string, string> {
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

/** Requests for where the newer copies of records are, for one response or slice. */
const maxLookups = 10;

/**
 * Decides about copies that are older than the mirrored record. If the API still returns that record at its date, it lists
 * the ID twice: the newer copy is kept, and the second of the older one is marked. Otherwise the record has moved.
 */
export async function resolveCopies(
  run: DatedRun,
  copies: readonly SkippedCopy[],
  requestedAt: number,
): Promise<void> {
  const { mirror, resource, row, state, store } = run;
  let lookups = 0;
  for (const { id, value } of copies) {
    const second = secondOf(state.dateOf(id));
    const copySecond = secondOf(recordDate(resource, value));
    if (second && !isReadByRun(run, second) && lookups < maxLookups) {
      lookups += 1;
      await readSlice(run, second);
    }
    const isListedTwice = second !== null && isReadByRun(run, second) && !state.missing.has(id);
    mirror.transaction(() => {
      if (isListedTwice && copySecond) {
        const fault = repeatedText(recordKey(resource, value, 0));
        dropDailyTotals(run, copySecond);
        state.markSlice({ ...copySecond, readAt: requestedAt, runId: row.run_id, recordIds: [id], fault });
      } else {
        store.write([value], { readAt: formatInstant(requestedAt) });
        state.missing.delete([id]);
      }
    });
  }
}

function secondOf(dated: number | null): Range | null {
  if (dated === null) return null;
  const from = startOfSecond(dated);
  return { from, to: from + 999 };
}

function isReadByRun({ row, state }: DatedRun, { from }: Range): boolean {
  return [...state.coverage(), ...state.markedSlices()].some(
    (one) => one.runId === row.run_id && containsInstant(one, from),
  );
}
