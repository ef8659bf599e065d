import type { DatedStrategy, Resource } from "../resources/resource.js";
import { type Json, valueAt } from "../util/json-value.js";
import { startOfSecond, type TimeRange } from "../util/time-ranges.js";
import { formatInstant, parseTimestampParts, type Timestamp } from "../util/timestamps.js";
import type { QueryParameters } from "../util/urls.js";

/**
 * Returns the dates of the records in a response, truncated to the second, in milliseconds since the Unix epoch.
 * Returns null unless the records are sorted newest first (A1) and every record has a timestamp with seconds (A2) that
 * is within the requested range (A3).
 */
export function parseSortedDates(
  resource: Resource<DatedStrategy>,
  records: readonly Json[],
  range: TimeRange,
): number[] | null {
  const seconds: number[] = [];
  for (const record of records) {
    const timestamp = parseRecordTimestamp(resource, record);
    if (!timestamp?.hasSeconds || findRangeFault(timestamp, range) !== null) return null;
    const second = startOfSecond(timestamp.ms);
    if (second > (seconds.at(-1) ?? second)) return null;
    seconds.push(second);
  }
  return seconds;
}

/**
 * Returns the query parameters for a date range. The end is inclusive and is sent with microseconds, because that is
 * the precision of the API's dates. See "4. GET /orders" and "7. GET /content" in the API documentation.
 */
export function rangeQuery(
  { untilBound, fromParameter, untilParameter }: DatedStrategy,
  range: TimeRange,
): QueryParameters {
  const last = (to: number) =>
    untilBound === "exclusive" ? formatInstant(to + 1) : formatInstant(to).replace("Z", "999Z");
  return {
    [fromParameter]: Number.isFinite(range.from) ? formatInstant(range.from) : undefined,
    [untilParameter]: Number.isFinite(range.to) ? last(range.to) : undefined,
  };
}

export function findDateFault(
  resource: Resource<DatedStrategy>,
  record: Json,
  range: TimeRange,
): string | null {
  const fault = findRangeFault(parseRecordTimestamp(resource, record), range);
  return fault === null ? null : `${describeDate(resource, record)} ${fault}`;
}

function findRangeFault(timestamp: Timestamp | undefined, { from, to }: TimeRange): string | null {
  if (!timestamp) return "is not a readable date";
  const second = startOfSecond(timestamp.ms);
  return second < from || second > to ? "is outside the requested range" : null;
}

function parseRecordTimestamp({ strategy }: Resource<DatedStrategy>, record: Json): Timestamp | undefined {
  const text = valueAt(record, [strategy.dateField]);
  return typeof text === "string" ? parseTimestampParts(text) : undefined;
}

function describeDate({ strategy }: Resource<DatedStrategy>, record: Json): string {
  const value = valueAt(record, [strategy.dateField]);
  return `\`${strategy.dateField}\` ${value === undefined ? "(missing)" : JSON.stringify(value).slice(0, 60)}`;
}
