import type { SkippedCopy } from "../store/record-writer.js";
import { findDate, recordDate, recordKey } from "../store/records.js";
import { containsInstant, startOfSecond, type TimeRange } from "../util/time-ranges.js";
import type { DatedRun, IncompleteReason } from "./run.js";
import { describeRepeatedId, describeUnsettled, readSlice, type SliceReading, writeSlice } from "./slices.js";

/**
 * The reason why the API returned an older copy of a mirrored record.
 * - moved: The record now has the copy's date.
 * - duplicate: The API lists the ID twice. `copyDate` is the copy's date.
 * - unknown: The mirrored date was not read, because the limit on lookups was reached or the list never settled.
 */
type CopyCause =
  | { kind: "moved" }
  | { kind: "duplicate"; copyDate: number }
  | { kind: "unknown"; mirroredDate: number };

/** The maximum number of mirrored records to look up for the copies in one response. */
const maxLookups = 10;

/**
 * Writes all records in a slice, and resolves outdated copies of mirrored records.
 * @returns the reasons why the run is incomplete: one for each list that never settled (A9)
 */
export async function storeSlice(run: DatedRun, reading: SliceReading): Promise<IncompleteReason[]> {
  const copies = writeSlice(run, reading);
  return [...describeUnsettled(reading), ...(await resolveCopies(run, copies, reading.list.requestedAt))];
}

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
    const cause = findCause(run, copy, mirroredDate);
    run.mirror.transaction(() => resolveCopy(run, copy, cause, requestedAt));
  }
  return reasons;
}

/** @param mirroredDate the date of the mirrored record before the lookup, or null if it is unreadable */
function findCause(run: DatedRun, { id, value }: SkippedCopy, mirroredDate: number | null): CopyCause {
  if (mirroredDate === null) return { kind: "moved" };
  if (!isReadByRun(run, mirroredDate)) return { kind: "unknown", mirroredDate };
  const copyDate = recordDate(run.resource, value);
  // The read of the mirrored date marked the record as missing if the API did not return it for that date.
  if (copyDate === null || run.state.missing.has(id)) return { kind: "moved" };
  return { kind: "duplicate", copyDate };
}

function resolveCopy(run: DatedRun, { id, value }: SkippedCopy, cause: CopyCause, requestedAt: number): void {
  const { resource, runId, state, writer } = run;
  if (cause.kind === "moved") {
    writer.replace(value, requestedAt);
    state.missing.delete([id]);
  } else if (cause.kind === "duplicate") {
    // The newer record stays in the mirror, and the copy's second counts as faulty.
    const range = secondRange(cause.copyDate);
    const fault = describeRepeatedId(recordKey(resource, value, 0));
    state.storedTotals.invalidate(range);
    state.addFaultySlice({ runId, range, faultyIds: [id], ids: null, fault, requestedAt });
  } else if (state.isCovered(cause.mirroredDate)) {
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
