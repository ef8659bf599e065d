import { UsageError } from "../errors.js";
import { dayRange, monthRange, type TimeRange, utcDay, utcMonth } from "../util/time-ranges.js";
import {
  dayMs,
  hourMs,
  isCalendarDate,
  minTimestampMs,
  minuteMs,
  parseTimestamp,
  secondMs,
} from "../util/timestamps.js";

const unitMs = { s: secondMs, m: minuteMs, h: hourMs, d: dayMs, w: 7 * dayMs } as const;

export const durationFormats = "`90s`, `5m`, `26h`, `30d` or `12w`";

/**
 * Parses the duration that was passed to an option. Returns milliseconds.
 * @throws UsageError if the text is not in one of `durationFormats`
 */
export function parseDuration(text: string, option: string): number {
  const ms = tryParseDuration(text);
  if (ms !== undefined) return ms;
  throw new UsageError(`\`${option}\` is not a duration: \`${text}\`.`, {
    hint: `use a value such as ${durationFormats}`,
  });
}

/** Parses a duration. A number without a unit means days. */
export function parseSpan(text: string, option: string): number {
  return parseDuration(/^\d+$/.test(text) ? `${text}d` : text, option);
}

function tryParseDuration(text: string): number | undefined {
  const match = /^(\d{1,9})([smhdw])$/.exec(text);
  if (!match) return undefined;
  return Number(match[1]) * unitMs[match[2] as keyof typeof unitMs];
}

export const timeFormats =
  "a date (2026-01-31), a month (2026-01), `today`, `yesterday`, `this-month`, `last-month`, an age (36h, 30d, 12w) or a timestamp (2026-01-31T12:00:00Z)";

/**
 * Parses a time that was passed to an option. Times are in UTC. For a day or a month, `start` returns the first
 * millisecond and `end` the last.
 * @throws UsageError if the text is not in one of `timeFormats`
 */
export function parseInstant(text: string, option: string, edge: "start" | "end", now: number): number {
  const ageMs = tryParseDuration(text);
  if (ageMs !== undefined && now - ageMs >= minTimestampMs) return now - ageMs;
  const period = tryParsePeriod(text, now);
  if (period) return edge === "start" ? period.from : period.to;
  const ms = parseTimestamp(text);
  if (ms === undefined)
    throw new UsageError(`\`${option}\` is not a time: \`${text}\`.`, { hint: `use ${timeFormats}` });
  // Drop the microseconds, because a range includes its entire last millisecond.
  return Math.floor(ms);
}

function tryParsePeriod(text: string, now: number): TimeRange | undefined {
  const today = dayRange(utcDay(now));
  const thisMonth = monthRange(utcMonth(now));
  if (text === "today") return today;
  if (text === "yesterday") return dayRange(utcDay(today.from - 1));
  if (text === "this-month") return thisMonth;
  if (text === "last-month") return monthRange(utcMonth(thisMonth.from - 1));
  if (/^\d{4}-\d{2}$/.test(text) && isCalendarDate(`${text}-01`)) return monthRange(text);
  return isCalendarDate(text) ? dayRange(text) : undefined;
}
