import type { DatedStrategy, Resource } from "../resources/resource.js";
import { type Json, valueAt } from "../util/json-value.js";
import { type Range, startOfSecond } from "../util/ranges.js";
import { formatInstant } from "../util/times.js";
import { readTimestamp, type Timestamp } from "../util/timestamp.js";
import type { QueryParameters } from "../util/urls.js";

/** The dates of a response, truncated to seconds. */
export interface DateCheck {
  /** The second of each record, in milliseconds since 1970; empty if a record violates an assumption. */
  seconds: number[];
  /** The problem with the first record that violates A1, A2 or A3, as a clause; null if there is none. */
  fault: string | null;
}

/**
 * Checks the dates of a response to a date query. A1: newest first. A2: each record has a timestamp with seconds. A3: each
 * lies within the requested dates.
 */
export function checkDates(
  resource: Resource<DatedStrategy>,
  records: readonly Json[],
  range: Range,
): DateCheck {
  const seconds: number[] = [];
  let newest = Number.POSITIVE_INFINITY;
  for (const record of records) {
    const timestamp = timestampOf(resource, record);
    const fault = faultOf(timestamp, range) ?? orderFault(timestamp, newest);
    if (fault !== null) return { seconds: [], fault: `${dateText(resource, record)} ${fault}` };
    newest = startOfSecond(timestamp?.ms ?? 0);
    seconds.push(newest);
  }
  return { seconds, fault: null };
}

/**
 * Returns the query of a range of dates, as full timestamps. An inclusive end is sent with microseconds, because dates
 * can have that precision. Source: the API document, "4. GET /orders", "7. GET /content".
 */
export function rangeQuery({ end, from, until }: DatedStrategy, range: Range): QueryParameters {
  const last = (to: number) =>
    end === "exclusive" ? formatInstant(to + 1) : formatInstant(to).replace("Z", "999Z");
  return {
    [from]: Number.isFinite(range.from) ? formatInstant(range.from) : undefined,
    [until]: Number.isFinite(range.to) ? last(range.to) : undefined,
  };
}

/** Returns the problem with a record's date, as a clause; null if the date is valid and inside the range. */
export function dateFault(resource: Resource<DatedStrategy>, record: Json, range: Range): string | null {
  const fault = faultOf(timestampOf(resource, record), range);
  return fault === null ? null : `${dateText(resource, record)} ${fault}`;
}

function faultOf(timestamp: Timestamp | undefined, { from, to }: Range): string | null {
  if (!timestamp) return "is not a readable date";
  const second = startOfSecond(timestamp.ms);
  return second < from || second > to ? "is outside the requested dates" : null;
}

function orderFault(timestamp: Timestamp | undefined, newest: number): string | null {
  if (!timestamp?.hasSeconds) return "has no seconds";
  return startOfSecond(timestamp.ms) > newest ? "is newer than that of the record before" : null;
}

function timestampOf({ strategy }: Resource<DatedStrategy>, record: Json): Timestamp | undefined {
  const text = valueAt(record, [strategy.date]);
  return typeof text === "string" ? readTimestamp(text) : undefined;
}

function dateText({ strategy }: Resource<DatedStrategy>, record: Json): string {
  const value = valueAt(record, [strategy.date]);
  return `\`${strategy.date}\` ${value === undefined ? "(missing)" : JSON.stringify(value).slice(0, 60)}`;
}
