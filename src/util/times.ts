/** Formats an instant with milliseconds in UTC, as in requests and in the mirror. */
export function formatInstant(ms: number): string {
  return new Date(ms).toISOString();
}

export function formatInstantOrNull(ms: number): string | null {
  return Number.isFinite(ms) ? formatInstant(ms) : null;
}

/** Formats an instant or an ISO 8601 timestamp for messages: `2026-01-31 12:00`. */
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

/** Formats an age. A negative age, caused by a wrong clock, is formatted as `5m ahead`. */
export function formatAge(ms: number): string {
  return ms < 0 ? `${formatDuration(-ms)} ahead` : formatDuration(ms);
}
