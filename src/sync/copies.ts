import { findDate } from "../store/records/current-records.js";
import { recordDate, recordKey } from "../store/records/record-key.js";
import type { SkippedCopy } from "../store/records/record-writer.js";
import { containsInstant, type Range, startOfSecond } from "../util/ranges.js";
import { formatInstant } from "../util/times.js";
import { dropDailyTotals } from "./daily-totals.js";
import type { DatedRun, DatedSync } from "./session.js";
import { listedTwice, readSlice, writeSlice } from "./slices.js";

/** Request budget for locating the newer copies of records, for each response or slice. */
const maxLookups = 10;

/**
 * Handles records that are older than the mirrored record with the same ID. If the API still returns the mirrored record
 * at its date, it lists the ID twice: the newer copy is kept, and the second of the older copy is marked. Otherwise the
 * date of the record has changed, and the older copy is written.
 * @param requestedAt the time of the request that returned the copies, in milliseconds since 1970
 * @returns the number of mirrored records that changed
 */
export async function resolveCopies(
  run: DatedSync,
  copies: readonly SkippedCopy[],
  requestedAt: number,
): Promise<number> {
  const { runId, mirror, resource, state, writer } = run;
  let lookups = 0;
  let changed = 0;
  for (const { id, value } of copies) {
    const second = secondOf(findDate(mirror, id));
    const copySecond = secondOf(recordDate(resource, value));
    if (second && !isReadByRun(run, second) && lookups < maxLookups) {
      lookups += 1;
      changed += writeSlice(run, await readSlice(run, second)).changed;
    }
    const isListedTwice = second !== null && isReadByRun(run, second) && !state.missing.has(id);
    mirror.transaction(() => {
      if (isListedTwice && copySecond) {
        const fault = listedTwice(recordKey(resource, value, 0));
        dropDailyTotals(run, copySecond);
        state.markIncompleteSlice({ ...copySecond, readAt: requestedAt, runId, recordIds: [id], fault });
      } else {
        writer.write([value], { readAt: formatInstant(requestedAt) });
        state.missing.delete([id]);
        changed += 1;
      }
    });
  }
  return changed;
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
