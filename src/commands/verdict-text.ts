import { counted } from "../lib/counted.js";
import { minuteOf } from "../lib/times.js";
import { formatCount } from "../ui/numbers.js";
import type { FullVerdict } from "../verify/engine.js";
import type { MonthResult } from "../verify/report.js";

/** Returns a verdict as a person reads it: neighbouring months of one state are one line. */
export function verdictText(verdict: FullVerdict): string {
  const { api_total: api, mended, mirror_total: here, requests, resource } = verdict;
  const totals =
    api === null || here === null ? "" : `, ${formatCount(api)} in the API and ${formatCount(here)} here`;
  const head = `${resource}: ${verdict.state}${totals} (${counted(requests, "request")})`;
  const repair = mended
    ? [
        `  mended: ${mended.rows_new} new, ${mended.rows_changed} changed, ${mended.rows_removed} removed: \`brandapi changes ${resource} --run ${mended.run_id}\``,
      ]
    : [];
  const lines = spansOf(verdict.months).map(({ first, last, state, why, readAt }) => {
    const months = first === last ? first : `${first} to ${last}`;
    return `  ${months}: ${state}: ${why}${readAt ? `; read since ${minuteOf(readAt)}` : ""}`;
  });
  const { differences, state } = verdict.tables;
  const tables = differences.map(({ table, why }) => `  table ${table}: ${state}: ${why}`);
  return `${[head, ...repair, ...lines, ...tables].join("\n")}\n`;
}

/** Returns what a proof cannot see: each thing once, with the resources that it is true of. */
export function blindText(verdicts: readonly FullVerdict[]): string {
  const spots = verdicts.filter(({ blind_spot }) => blind_spot !== "" && !blind_spot.startsWith("nothing"));
  const texts = [...new Set(spots.map(({ blind_spot }) => blind_spot))].map((text) => {
    const names = spots.filter(({ blind_spot }) => blind_spot === text).map(({ resource }) => resource);
    return `${names.join(", ")}: ${text}`;
  });
  return texts.length === 0 ? "" : `cannot see: ${texts.join("; ")}\n`;
}

interface Span {
  first: string;
  last: string;
  state: MonthResult["state"];
  why: string;
  readAt: string | null;
}

/** Returns neighbouring months that have one state for one reason as one span, with the oldest read of them. */
function spansOf(months: readonly MonthResult[]): Span[] {
  const spans: Span[] = [];
  for (const { month, state, why, read_at: readAt } of months) {
    const last = spans.at(-1);
    if (last?.state !== state || last.why !== why)
      spans.push({ first: month, last: month, state, why, readAt });
    else {
      last.last = month;
      if (readAt !== null && (last.readAt === null || readAt < last.readAt)) last.readAt = readAt;
    }
  }
  return spans;
}
