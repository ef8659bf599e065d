/** Formats an instant as a UTC timestamp with milliseconds, as used in requests and in the mirror. */
export function formatInstant(ms: number): string {
  return new Date(ms).toISOString();
}

export function formatInstantOrNull(ms: number): string | null {
  return Number.isFinite(ms) ? formatInstant(ms) : null;
}

/** Formats an instant or an ISO 8601 timestamp for messages: `2026-01-31 12:00`. */
export function formatMinute(time: string | number): string {
  const text = typeof time === "number" ? formatInstant(time) : time;
  return text.slice(0, 16).replace("T", " ");
}

/**
 * Formats the start of a date range for messages: `2026-01-31`, or `2026-01-31 12:00` if it is not the start of a day.
 */
export function formatStart(timestamp: string): string {
  return timestamp.endsWith("T00:00:00.000Z") ? timestamp.slice(0, 10) : formatMinute(timestamp);
}

/** Formats a duration for messages: `45s`, `12m`, `5h`, `3d`. */
export function formatDuration(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  if (seconds < 90) return `${seconds}s`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)}m`;
  if (seconds < 48 * 3_600) return `${Math.round(seconds / 3_600)}h`;
  return `${Math.round(seconds / 86_400)}d`;
}

export interface Timestamp {
  /** Milliseconds since the Unix epoch, rounded down. */
  ms: number;
  /** The microseconds within the millisecond `ms`, from 0 to 999. Further digits are dropped. */
  micros: number;
  /** True if the timestamp includes seconds. False for a date without a time. */
  hasSeconds: boolean;
}

const timestampForm =
  /^(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?(?:[Zz]|([+-])(\d\d)(?::?(\d\d))?)?)?$/;

export const secondMs = 1_000;
export const minuteMs = 60 * secondMs;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;
export const minTimestampMs = Date.parse("0000-01-01T00:00:00.000Z");
export const maxTimestampMs = Date.parse("9999-12-31T23:59:59.999Z");

/**
 * Parses an ISO 8601 timestamp. All API timestamps are parsed by this function, so columns, filters, views and exports
 * agree. A time without an offset is in UTC, and a date without a time is the start of the day.
 * Returns undefined for other strings and for times that do not exist: 30 February, 24:00:00, an offset beyond 14:00, a
 * UTC year outside 0000 to 9999, or a leap second (`23:59:60`), which Unix time cannot represent.
 */
export function parseTimestampParts(text: string): Timestamp | undefined {
  const match = timestampForm.exec(text);
  const day = dayStart(match?.[1] ?? "");
  if (!match || day === undefined) return undefined;
  const [hour, minute, second] = [Number(match[2] ?? 0), Number(match[3] ?? 0), Number(match[4] ?? 0)];
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const [offsetHours, offsetMinutes] = [Number(match[7] ?? 0), Number(match[8] ?? 0)];
  const offset = offsetHours * hourMs + offsetMinutes * minuteMs;
  if (offsetMinutes > 59 || offset > 14 * hourMs) return undefined;
  const digits = (match[5] ?? "").padEnd(6, "0");
  const local = day + hour * hourMs + minute * minuteMs + second * 1_000 + Number(digits.slice(0, 3));
  const ms = match[6] === "-" ? local + offset : local - offset;
  if (ms < minTimestampMs || ms > maxTimestampMs) return undefined;
  return { ms, micros: Number(digits.slice(3, 6)), hasSeconds: match[4] !== undefined };
}

/** Matches the API's format (`…T…Z`) and that of SQLite's `datetime()`. */
export function isTimestampText(text: string): boolean {
  return /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d+)?Z| \d\d:\d\d:\d\d(?:\.\d+)?)$/.test(text);
}

/**
 * Like `parseTimestampParts`, but returns milliseconds since the Unix epoch, with microseconds as a fraction. From the
 * year 2200 on, the fraction is imprecise, but it is never rounded up to the next millisecond.
 */
export function parseTimestamp(text: string): number | undefined {
  const read = parseTimestampParts(text);
  if (!read) return undefined;
  const instant = read.ms + read.micros / 1_000;
  return Math.floor(instant) === read.ms ? instant : read.ms;
}

/**
 * Formats a timestamp in UTC without trailing zeros, as `2026-10-31 23:30:00.5`. The resulting strings sort by time and
 * can be compared with SQLite's `datetime('now', …)`.
 */
export function formatUtc({ ms, micros }: Pick<Timestamp, "ms" | "micros">): string {
  const iso = new Date(ms).toISOString();
  const fraction = iso.slice(19, 23) + String(micros).padStart(3, "0");
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)}${fraction.replace(/\.?0*$/, "")}`;
}

/** True if the text is a valid day, such as `2026-01-31`. */
export function isCalendarDate(text: string): boolean {
  return dayStart(text) !== undefined;
}

/**
 * Returns the number of days from 1970-01-01 to a day, or undefined for a day that does not exist, such as
 * `2026-02-30`.
 */
export function daysSince1970(text: string): number | undefined {
  const start = dayStart(text);
  return start === undefined ? undefined : start / dayMs;
}

function dayStart(text: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return undefined;
  const [year, month, day] = [Number(text.slice(0, 4)), Number(text.slice(5, 7)), Number(text.slice(8))];
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return undefined;
  // `Date.UTC` interprets the years 0 to 99 as 1900 to 1999. The calendar repeats every 400 years, or 146,097 days.
  return Date.UTC(year + 400, month - 1, day) - 146_097 * dayMs;
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}
