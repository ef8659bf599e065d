import type { Goal } from "../sync/plan.js";
import { formatInstant } from "../times.js";

/** What is known of a calendar month, or of everything where a resource has no dates. */
export interface MonthResult {
  /** `2026-01`, or `all`. */
  month: string;
  state: "proven" | "unproven" | "different";
  /** Why it is proven or not, or what is different. */
  why: string;
  /** When the records were last read, ISO 8601: the oldest read in the month. */
  read_at: string | null;
}

/** One resource's verdict: a line of `verify --json`. */
export interface Verdict {
  resource: string;
  state: "proven" | "unproven" | "different" | "repaired";
  months: MonthResult[];
  /** Requests that the proof took. */
  requests: number;
  /** What this proof cannot see. */
  blind_spot: string;
  /** Set where the API's list never agreed with its own count. */
  unsettled?: boolean;
  /** Set where nothing was ever read completely: there is nothing that could be compared. */
  unread?: boolean;
}

/** The verdict of all months together: what is different outweighs what is unproven. */
export function stateOf(months: readonly MonthResult[]): "proven" | "unproven" | "different" {
  const states = new Set(months.map(({ state }) => state));
  if (states.has("different")) return "different";
  return states.has("unproven") || months.length === 0 ? "unproven" : "proven";
}

/** The calendar months (UTC) that a range touches, each cut to the range. */
export function monthsOf({ from, to }: Goal): (Goal & { month: string })[] {
  const months: (Goal & { month: string })[] = [];
  const first = new Date(from);
  for (
    let year = first.getUTCFullYear(), month = first.getUTCMonth();
    Date.UTC(year, month) <= to;
    month += 1
  ) {
    const start = Date.UTC(year, month);
    const end = Date.UTC(year, month + 1) - 1;
    months.push({
      month: formatInstant(start).slice(0, 7),
      from: Math.max(start, from),
      to: Math.min(end, to),
    });
  }
  return months;
}
