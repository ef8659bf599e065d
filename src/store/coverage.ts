import { contains, mergeRanges, overlaps, type Range } from "../util/ranges.js";
import { dayMs, formatInstantOrNull } from "../util/times.js";

/** A range that was read completely, when it was requested (milliseconds since 1970), and in which run. */
export interface CoveredRange extends Range {
  readAt: number;
  runId: number;
}

/**
 * Returns when the range of a date was last read completely, as ISO 8601; null if it never was. Without a date, returns when
 * anything was last read. A date at midnight may stand for its day and one at a full minute for that minute, so the
 * complete day or minute must be covered.
 */
export function lastReadAt(covered: readonly CoveredRange[], dated: number | null): string | null {
  if (dated === null) return formatInstantOrNull(Math.max(...covered.map(({ readAt }) => readAt)));
  const span = precisionOf(dated);
  const parts = covered.filter((range) => overlaps(range, span));
  return contains(mergeRanges(parts), span)
    ? formatInstantOrNull(Math.min(...parts.map(({ readAt }) => readAt)))
    : null;
}

/** Returns the range of instants that a date may stand for. */
function precisionOf(dated: number): Range {
  const unit = [dayMs, 60_000].find((ms) => dated % ms === 0) ?? 1;
  const from = Math.floor(dated / unit) * unit;
  return { from, to: from + unit - 1 };
}
