import type { SkippedCopy } from "../store/record-writer.js";
import { findDate, recordDate, recordKey } from "../store/records.js";
import { containsInstant, type Range, startOfSecond } from "../util/ranges.js";
import type { DatedRun, IncompleteReason } from "./run.js";
import { describeRepeatedId, readSlice, writeSlice } from "./slices.js";

const maxLookups = 10;

/**
 * Handles older copies of mirrored records. If this run has not read the second in which the mirrored record is dated,
 * first reads that second to check whether the API still returns the record.
 */
export async function resolveCopies(
  run: DatedRun,
  copies: readonly SkippedCopy[],
  requestedAt: number,
): Promise<IncompleteReason[]> {
  const { mirror, resource, runId, state, writer } = run;
  const unsettled: IncompleteReason[] = [];
  let lookups = 0;
  for (const { id, value } of copies) {
    const second = toSecond(recordDate(resource, value));
    const mirroredSecond = toSecond(findDate(mirror, id));
    if (mirroredSecond && !isReadByRun(run, mirroredSecond) && lookups < maxLookups) {
      lookups += 1;
      unsettled.push(...writeSlice(run, await readSlice(run, mirroredSecond)).unsettled);
    }
    mirror.transaction(() => {
      const effect = decideEffect(run, id, second, mirroredSecond);
      if (effect === "missing") state.missing.add([id], state.coverage());
      if (effect === "replace") {
        writer.replace(value, requestedAt);
        state.missing.delete([id]);
      }
      if (effect === "mark" && second) {
        state.storedTotals.delete(second);
        const fault = describeRepeatedId(recordKey(resource, value, 0));
        state.markSlice({ runId, range: second, faultyIds: [id], ids: null, fault, requestedAt });
      }
    });
  }
  return unsettled;
}

/**
 * Decides what an older copy implies about the mirrored record.
 * - replace: The API no longer returns the mirrored record, so the copy has the record's new date.
 * - mark: The API returns both, so it lists the ID twice. The newer record is kept.
 * - missing: The mirrored record's date was not checked, because the limit was reached. The record is not counted until
 * both dates have been read.
 * - none: The mirrored record's date is not covered, so the record is not counted in any case.
 */
function decideEffect(
  run: DatedRun,
  id: number,
  second: Range | null,
  mirroredSecond: Range | null,
): "replace" | "mark" | "missing" | "none" {
  if (second === null || mirroredSecond === null) return "replace";
  if (isReadByRun(run, mirroredSecond)) return run.state.missing.has(id) ? "replace" : "mark";
  return run.state.isCovered(mirroredSecond.from) ? "missing" : "none";
}

function toSecond(date: number | null): Range | null {
  if (date === null) return null;
  const from = startOfSecond(date);
  return { from, to: from + 999 };
}

function isReadByRun({ runId, state }: DatedRun, { from }: Range): boolean {
  const readings = [...state.coverage(), ...state.markedSlices()];
  return readings.some((range) => range.runId === runId && containsInstant(range, from));
}
