import { containsInstant, mergeRanges } from "../util/time-ranges.js";
import { formatInstant, formatInstantOrNull, formatStart } from "../util/timestamps.js";
import type { ResourceRun } from "./session.js";

interface CoveredDates {
  /** False if the last date of the run has not been read. The run must then not be verified. */
  isEndCovered: boolean;
  /** True if requested dates before `covered_from` have never been read. */
  hasGaps: boolean;
  /** The first date from which all dates up to the end of the run have been read, or null if there is no lower bound. */
  covered_from: string | null;
}

/** Finds the dates that a run can verify. Warns if there are none because the run ends before the floor. */
export function findCoveredDates({ reporter, requested, resource, state }: ResourceRun): CoveredDates {
  const floor = state.loadFloor() ?? Number.NEGATIVE_INFINITY;
  const { coverage, faultySlices } = state.loadDates();
  const read = mergeRanges([...coverage, ...faultySlices]);
  const last = read.find((range) => containsInstant(range, requested.until));
  if (!last && requested.until < floor)
    reporter.warn(
      `${resource.name}: the mirror starts on ${formatStart(formatInstant(floor))}, after the last date of this run, so the run is not verified; \`--since\` and \`--full\` read older dates`,
    );
  if (!last) return { isEndCovered: false, hasGaps: false, covered_from: null };
  return { isEndCovered: true, hasGaps: last.from > floor, covered_from: formatInstantOrNull(last.from) };
}
