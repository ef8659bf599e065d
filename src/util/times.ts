import { UsageError } from "../errors.js";
import {
  dayMs,
  daysSince1970,
  hourMs,
  minTimestampMs,
  minuteMs,
  parseTimestamp,
  secondMs,
} from "./timestamp.js";

const unitMs = { s: secondMs, m: minuteMs, h: hourMs, d: dayMs, w: 7 * dayMs } as const;

export const durationFormats = "`90s`, `5m`, `26h`, `30d` or `12w`";

/** @returns milliseconds @throws UsageError if the text is not in one of `durationFormats` */
export function parseDuration(text: string): number {
  const ms = durationMs(text);
  if (ms !== undefined) return ms;
  throw new UsageError(`Not a duration: \`${text}\`.`, { hint: `use a value such as ${durationFormats}` });
}

/** Parses the value of `--window`, which can be a number of days. */
export function parseWindow(text: string): number {
  return /^\d+$/.test(text) ? parseDuration(`${text}d`) : parseDuration(text);
}

function durationMs(text: string): number | undefined {
  const match = /^(\d{1,9})([smhdw])$/.exec(text.trim());
  if (!match) return undefined;
  return Number(match[1]) * unitMs[match[2] as keyof typeof unitMs];
}

export const timeFormats =
  "a date (2026-01-31), a month (2026-01), `today`, `yesterday`, `this-month`, `last-month`, " +
  "an age (36h, 30d, 12w) or a timestamp (2026-01-31T12:00:00Z)";

/**
 * Parses the value of `--since` or `--until` in UTC, in one of `timeFormats`. For a day or a month, `start`
 * returns its first millisecond and `end` its last.
 * @param now the current time in milliseconds since 1970
 * @returns milliseconds since 1970
 * @throws UsageError if it is not a time
 */
export function parseInstant(text: string, edge: "start" | "end", now: number): number {
  const age = durationMs(text);
  if (age !== undefined && now - age >= minTimestampMs) return now - age;
  const period = parsePeriod(text, now);
  if (period) return edge === "start" ? period.from : period.to;
  const ms = parseTimestamp(text.trim());
  if (ms === undefined) throw new UsageError(`Not a time: \`${text}\`.`, { hint: `use ${timeFormats}` });
  // The result is a whole number of milliseconds, because a range includes its entire last millisecond.
  return Math.floor(ms);
}

function parsePeriod(text: string, now: number): { from: number; to: number } | undefined {
  const today = dayRange(formatInstant(now).slice(0, 10));
  const thisMonth = monthRange(formatInstant(now).slice(0, 7));
  if (text === "today") return today;
  if (text === "yesterday") return dayRange(formatInstant(today.from - 1).slice(0, 10));
  if (text === "this-month") return thisMonth;
  if (text === "last-month") return monthRange(formatInstant(thisMonth.from - 1).slice(0, 7));
  if (/^\d{4}-\d{2}$/.test(text) && daysSince1970(`${text}-01`) !== undefined) return monthRange(text);
  return daysSince1970(text) === undefined ? undefined : dayRange(text);
}

/** Returns the first and last millisecond of a UTC day such as `2026-01-31`. */
export function dayRange(day: string): { from: number; to: number } {
  const from = Date.parse(`${day}T00:00:00.000Z`);
  return { from, to: from + dayMs - 1 };
}

/** Returns the first and last millisecond of a UTC month such as `2026-01`. */
export function monthRange(month: string): { from: number; to: number } {
  const { from } = dayRange(`${month}-01`);
  const next = new Date(from);
  return { from, to: next.setUTCMonth(next.getUTCMonth() + 1) - 1 };
}

/** Formats an instant as ISO 8601 in UTC with milliseconds, as in requests and in the mirror. */
export function formatInstant(ms: number): string {
  return new Date(ms).toISOString();
}

/** Formats an instant, or returns null for the open end of a range. */
export function formatInstantOrNull(ms: number): string | null {
  return Number.isFinite(ms) ? formatInstant(ms) : null;
}

/** Formats an ISO 8601 timestamp or an instant for messages: `2026-01-31 12:00`. */
export function formatMinute(at: string | number): string {
  const text = typeof at === "number" ? formatInstant(at) : at;
  return text.slice(0, 16).replace("T", " ");
}

/** Formats a duration for messages: `45s`, `12m`, `5h`, `3d`. */
export function formatDuration(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  if (seconds < 90) return `${seconds}s`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)}m`;
  if (seconds < 48 * 3_600) return `${Math.round(seconds / 3_600)}h`;
  return `${Math.round(seconds / 86_400)}d`;
}

/** A negative age, caused by a clock that was ahead, is formatted as `5m ahead`. */
export function formatAge(ms: number): string {
  return ms < 0 ? `${formatDuration(-ms)} ahead` : formatDuration(ms);
}
