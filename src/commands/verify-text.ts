import type { MonthResult, Verdict } from "../verify/report.js";

/** A verdict as a person reads it: months of one state on one line, what differs spelled out. */
export function verdictText(verdict: Verdict): string {
  const head = `${verdict.resource}: ${verdict.state} (${verdict.requests} ${verdict.requests === 1 ? "request" : "requests"})`;
  const lines = grouped(verdict.months).map(({ first, last, state, why, readAt }) => {
    const months = first === last ? first : `${first} to ${last}`;
    return `  ${months}: ${state}: ${why}${readAt ? `; read ${readAt.slice(0, 16).replace("T", " ")}` : ""}`;
  });
  return `${[head, ...lines, `  cannot see: ${verdict.blind_spot}`].join("\n")}\n`;
}

interface Group {
  first: string;
  last: string;
  state: MonthResult["state"];
  why: string;
  readAt: string | null;
}

function grouped(months: readonly MonthResult[]): Group[] {
  return months.reduce<Group[]>((groups, { month, state, why, read_at }) => {
    const last = groups.at(-1);
    if (last && last.state === state && last.why === why) {
      last.last = month;
      if (read_at !== null && (last.readAt === null || read_at < last.readAt)) last.readAt = read_at;
    } else groups.push({ first: month, last: month, state, why, readAt: read_at });
    return groups;
  }, []);
}
