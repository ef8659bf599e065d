import { UsageError } from "../errors.js";

const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;
export const dayMs = unitMs.d;

/** What `--max-wait`, `--max-age` and the like take, for help and messages. */
export const durationForms = "`90s`, `5m`, `26h`, `30d` or `12w`";

/**
 * A duration such as `90s`, `5m`, `26h`, `30d`, `12w`.
 * @returns milliseconds
 */
export function parseDuration(text: string): number {
  const ms = durationMs(text);
  if (ms !== undefined) return ms;
  throw new UsageError(`Not a duration: \`${text}\`.`, { hint: `use for example ${durationForms}` });
}

/** `--window`: a duration, or bare days. */
export function parseWindow(text: string): number {
  return /^\d+$/.test(text) ? parseDuration(`${text}d`) : parseDuration(text);
}

function durationMs(text: string): number | undefined {
  const match = /^(\d{1,9})([smhdw])$/.exec(text.trim());
  if (!match) return undefined;
  return Number(match[1]) * unitMs[match[2] as keyof typeof unitMs];
}

/** What `--since`, `--until` and the like take, for help and messages. */
export const timeForms =
  "a date (2026-01-31), a month (2026-01), `today`, `yesterday`, `this-month`, `last-month`, " +
  "an age (36h, 30d, 12w) or a timestamp (2026-01-31T12:00:00Z)";

/**
 * `--since` and `--until`: one of `timeForms`, all UTC.
 * A day or a month means the whole of it: `start` its first instant, `end` its last.
 * @returns milliseconds since 1970
 */
export function parseInstant(text: string, edge: "start" | "end", now: number): number {
  const age = durationMs(text);
  if (age !== undefined) {
    // Further back than a date can say.
    if (now - age < -8.64e15) throw notATime(text);
    return now - age;
  }
  const period = periodOf(text, now);
  if (period) return edge === "start" ? period.first : period.last;
  const ms = parseTimestamp(text);
  if (ms === undefined || Number.isNaN(ms) || !isRealDay(text.trim().slice(0, 10))) throw notATime(text);
  // A range begins and ends with whole milliseconds, and holds all of its last one.
  return Math.floor(ms);
}

/** The first and the last instant of a day or month that is named; undefined where it is none. */
function periodOf(text: string, now: number): { first: number; last: number } | undefined {
  const today = formatInstant(now).slice(0, 10);
  const thisMonth = monthOf(today.slice(0, 7));
  if (text === "today") return dayOf(today);
  if (text === "yesterday") return dayOf(formatInstant(now - dayMs).slice(0, 10));
  if (text === "this-month") return thisMonth;
  if (text === "last-month") return monthOf(formatInstant(thisMonth.first - 1).slice(0, 7));
  if (/^\d{4}-\d{2}$/.test(text) && isRealDay(`${text}-01`)) return monthOf(text);
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && isRealDay(text) ? dayOf(text) : undefined;
}

function dayOf(day: string): { first: number; last: number } {
  const first = Date.parse(`${day}T00:00:00.000Z`);
  return { first, last: first + dayMs - 1 };
}

function monthOf(month: string): { first: number; last: number } {
  const { first } = dayOf(`${month}-01`);
  const next = new Date(first);
  return { first, last: next.setUTCMonth(next.getUTCMonth() + 1) - 1 };
}

function notATime(text: string): UsageError {
  return new UsageError(`Not a time: \`${text}\`.`, { hint: `use ${timeForms}` });
}

/** `Date.parse` takes 30 February for 2 March. */
function isRealDay(day: string): boolean {
  const ms = Date.parse(`${day}T00:00:00.000Z`);
  return !Number.isNaN(ms) && formatInstant(ms).startsWith(day);
}

/** The form in which `Date.parse` alone is right: asked for every record. */
const plainTimestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

/**
 * An ISO 8601 timestamp in milliseconds since 1970; without an offset it is UTC, without a time the day's first instant.
 * Undefined if it is none.
 * Microseconds stay, as a fraction: the API compares dates as fine as it has them, and so must whoever counts with it.
 */
export function parseTimestamp(text: string): number | undefined {
  if (plainTimestamp.test(text)) {
    const ms = Date.parse(text);
    return Number.isNaN(ms) ? undefined : text.length > plainLength ? ms + finerMs(text) : ms;
  }
  const match = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)(Z|[+-]\d{2}:?\d{2})?$/i.exec(
    text.trim(),
  );
  if (!match) return /^\d{4}-\d\d-\d\d$/.test(text) ? parseTimestamp(`${text}T00:00:00Z`) : undefined;
  const offset = (match[3] ?? "Z").toUpperCase();
  const ms = Date.parse(
    `${match[1]}T${match[2]}${offset.length === 5 ? `${offset.slice(0, 3)}:${offset.slice(3)}` : offset}`,
  );
  return Number.isNaN(ms) ? undefined : ms + finerMs(text);
}

const plainLength = "2026-01-31T12:00:00.000Z".length;

/** What a timestamp says beyond its milliseconds, which `Date.parse` cuts off. */
function finerMs(text: string): number {
  const digits = /\.\d{3}(\d{1,6})/.exec(text)?.[1];
  return digits === undefined ? 0 : Number(`0.${digits}`);
}

/** ISO 8601 in UTC with milliseconds: what is sent to the API and what is recorded. */
export function formatInstant(ms: number): string {
  return new Date(ms).toISOString();
}

/** The same of an instant, and null where a range has no end. */
export function instantOrNull(ms: number): string | null {
  return Number.isFinite(ms) ? formatInstant(ms) : null;
}

/** An instant as a person reads it: `2026-01-31 12:00`. @param at ISO 8601, or milliseconds since 1970 */
export function minuteOf(at: string | number): string {
  const text = typeof at === "number" ? formatInstant(at) : at;
  return text.slice(0, 16).replace("T", " ");
}

/** A span as a person says it: `45s`, `12m`, `5h`, `3d`. */
export function formatSpan(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  if (seconds < 90) return `${seconds}s`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)}m`;
  if (seconds < 48 * 3_600) return `${Math.round(seconds / 3_600)}h`;
  return `${Math.round(seconds / 86_400)}d`;
}

/** How long ago it was, as `formatSpan` says it, unless the clock that told it was ahead of this one. */
export function formatAge(ms: number): string {
  return ms < 0 ? `${formatSpan(-ms)} ahead` : formatSpan(ms);
}
