import { findLastReadAt } from "../store/coverage.js";
import type { SkippedCopy } from "../store/record-writer.js";
import { findMirroredDate, recordDate, recordKey } from "../store/records.js";
import { containsInstant, startOfSecond, type TimeRange } from "../util/time-ranges.js";
import type { DatedRun } from "./session.js";
import { describeRepeatedId, readSlice, storeSlice } from "./slices.js";

/** The maximum number of mirrored records to look up for the copies in one response. */
const maxLookups = 10;

/**
 * Decides what each copy in a response means. A copy is a record that the writer skipped, because its ID had already
 * appeared in the response or because the mirrored record has a newer date. If the API no longer lists the record for
 * the mirrored date, the record has moved to the copy's date. Otherwise, the API lists its ID twice.
 * @param requestedAt the time of the request that returned the copies, in milliseconds since the Unix epoch
 */
export async function resolveCopies(
  run: DatedRun,
  copies: readonly SkippedCopy[],
  requestedAt: number,
): Promise<void> {
  let lookups = 0;
  for (const copy of copies) {
    const dates = findDates(run, copy);
    if (dates && !isReadByRun(run, dates.newer) && lookups < maxLookups) {
      lookups += 1;
      await lookUp(run, dates.newer);
    }
    run.mirror.transaction(() => resolveCopy(run, copy, requestedAt, dates));
  }
}

/** The dates of a mirrored record (`newer`) and its copy (`older`), in milliseconds since the Unix epoch. */
interface CopyDates {
  newer: number;
  older: number;
}

/** Returns the dates of a copy and its mirrored record, or null if either date is unreadable. */
function findDates({ mirror, resource }: DatedRun, { id, value }: SkippedCopy): CopyDates | null {
  const newer = findMirroredDate(mirror, id);
  const older = recordDate(resource, value);
  return newer === null || older === null ? null : { newer, older };
}

/**
 * Resolves a copy:
 *
 * | this run                                                   | the copy is                            |
 * | ---------------------------------------------------------- | -------------------------------------- |
 * | read the newer date, and the API did not return the record | accepted: the record has moved         |
 * | read the newer date, and the API returned the record       | rejected: the API lists its ID twice   |
 * | did not read the newer date                                | postponed until a run reads both dates |
 *
 * If either date is unreadable, the copy is accepted.
 */
function resolveCopy(run: DatedRun, copy: SkippedCopy, requestedAt: number, dates: CopyDates | null): void {
  if (!dates) acceptCopy(run, copy, requestedAt);
  else if (!isReadByRun(run, dates.newer)) postponeCopy(run, copy, dates.newer);
  // This run has read the mirrored date, so the record is missing if the API did not return it for that date.
  else if (run.state.missing.has(copy.id)) acceptCopy(run, copy, requestedAt);
  else rejectCopy(run, copy, dates.older, requestedAt);
}

/**
 * Reads the second that contains `date`. Does not resolve copies in this response, because the comparison of counts
 * detects them.
 */
async function lookUp(run: DatedRun, date: number): Promise<void> {
  storeSlice(run, await readSlice(run, secondRange(date)));
}

/** Replaces the mirrored record with the copy, because the record has moved to the older date. */
function acceptCopy({ state, writer }: DatedRun, { id, value }: SkippedCopy, requestedAt: number): void {
  writer.replace(value, requestedAt);
  state.missing.delete([id]);
}

/**
 * Keeps the newer record. Marks the second that contains the copy's date as faulty, because the API lists the ID twice.
 */
function rejectCopy(run: DatedRun, { id, value }: SkippedCopy, olderDate: number, requestedAt: number): void {
  const { resource, runId, state } = run;
  const range = secondRange(olderDate);
  const fault = describeRepeatedId(recordKey(resource, value));
  const faulty = { ids: [id], addedIds: [], fault };
  state.applyReading({ runId, range, requestedAt, isComplete: false, ids: [], faulty });
}

/**
 * Marks the mirrored record as missing, so that the mirror does not count it. The API counts the record either for the
 * mirrored date or for the copy's date; which one is unknown until both dates have been read. Does nothing if the
 * mirrored date is not covered, because the counts for that date are not compared.
 */
function postponeCopy({ state }: DatedRun, { id }: SkippedCopy, newerDate: number): void {
  const coverage = state.loadCoverage();
  if (!coverage.some((range) => containsInstant(range, newerDate))) return;
  state.missing.add([{ id, lastSeenAt: findLastReadAt(coverage, newerDate) }]);
}

function secondRange(date: number): TimeRange {
  const from = startOfSecond(date);
  return { from, to: from + 999 };
}

function isReadByRun({ runId, state }: DatedRun, date: number): boolean {
  const readings = [...state.loadCoverage(), ...state.loadFaultySlices()];
  return readings.some((range) => range.runId === runId && containsInstant(range, date));
}
