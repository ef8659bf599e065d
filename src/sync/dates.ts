import type { DatedStrategy, Resource } from "../resources/resource.js";
import { type Json, valueAt } from "../util/json-value.js";
import { type Range, startOfSecond } from "../util/ranges.js";
import { formatInstant, readTimestamp, type Timestamp } from "../util/times.js";
import type { QueryParameters } from "../util/urls.js";

interface DateCheck {
  /**
   * The date of each record, truncated to the second, in milliseconds since the Unix epoch. Empty if any record is
   * faulty.
   */
  seconds: number[];
  fault: string | null;
}

/**
 * Checks that the records in a response are sorted newest first (A1), and that each has a timestamp with seconds (A2)
 * within the requested range (A3).
 */
export function checkDates(
  resource: Resource<DatedStrategy>,
  records: readonly Json[],
  range: Range,
): DateCheck {
  const seconds: number[] = [];
  let newest = Number.POSITIVE_INFINITY;
  for (const record of records) {
    const timestamp = readRecordTimestamp(resource, record);
    const fault = findRangeFault(timestamp, range) ?? findOrderFault(timestamp, newest);
    if (fault !== null) return { seconds: [], fault: `${describeDate(resource, record)} ${fault}` };
    newest = startOfSecond(timestamp?.ms ?? 0);
    seconds.push(newest);
  }
  return { seconds, fault: null };
}

/**
 * Returns the query parameters for a date range. An inclusive end is sent with microseconds, because the API stores
 * dates with that precision. See "4. GET /orders" and "7. GET /content" in the API documentation.
 */
export function rangeQuery(
  { untilBound, fromParameter, untilParameter }: DatedStrategy,
  range: Range,
): QueryParameters {
  const last = (to: number) =>
    untilBound === "exclusive" ? formatInstant(to + 1) : formatInstant(to).replace("Z", "999Z");
  return {
    [fromParameter]: Number.isFinite(range.from) ? formatInstant(range.from) : undefined,
    [untilParameter]: Number.isFinite(range.to) ? last(range.to) : undefined,
  };
}

export function findDateFault(resource: Resource<DatedStrategy>, record: Json, range: Range): string | null {
  const fault = findRangeFault(readRecordTimestamp(resource, record), range);
  return fault === null ? null : `${describeDate(resource, record)} ${fault}`;
}

function findRangeFault(timestamp: Timestamp | undefined, { from, to }: Range): string | null {
  if (!timestamp) return "is not a readable date";
  const second = startOfSecond(timestamp.ms);
  return second < from || second > to ? "is outside the requested range" : null;
}

function findOrderFault(timestamp: Timestamp | undefined, newest: number): string | null {
  if (!timestamp?.hasSeconds) return "has no seconds";
  return startOfSecond(timestamp.ms) > newest ? "is newer than the date of the previous record" : null;
}

function readRecordTimestamp({ strategy }: Resource<DatedStrategy>, record: Json): Timestamp | undefined {
  const text = valueAt(record, [strategy.dateField]);
  return typeof text === "string" ? readTimestamp(text) : undefined;
}

function describeDate({ strategy }: Resource<DatedStrategy>, record: Json): string {
  const value = valueAt(record, [strategy.dateField]);
  return `\`${strategy.dateField}\` ${value === undefined ? "(missing)" : JSON.stringify(value).slice(0, 60)}`;
}
