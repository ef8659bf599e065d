export const second = 1_000;
export const hour = 3_600 * second;
export const day = 24 * hour;

/** Returns a timestamp with milliseconds, in UTC. */
export function timeText(ms: number): string {
  return new Date(ms).toISOString();
}

/** Returns a date, `YYYY-MM-DD`, in UTC. */
export function dateText(ms: number): string {
  return timeText(ms).slice(0, 10);
}

/** Returns the microseconds since 1970 of a timestamp (dates can be finer than milliseconds); NaN without one. */
export function instantOf(text: unknown): number {
  if (typeof text !== "string") return Number.NaN;
  const finer = text.length > 24 ? (/\.\d{3}(\d{1,3})/.exec(text)?.[1] ?? "") : "";
  return Date.parse(text) * 1_000 + Number(finer.padEnd(3, "0"));
}
