/** Returns a date such as `2026-10-31` as days since 1970; undefined if it is none. */
export function asDay(text: string): number | undefined {
  const ms = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) || !new Date(ms).toISOString().startsWith(text) ? undefined : ms / 86_400_000;
}
