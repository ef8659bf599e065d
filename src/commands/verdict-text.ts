import { counted } from "../lib/counted.js";
import { minuteOf } from "../lib/times.js";
import { futureText } from "../sync/future.js";
import { formatCount } from "../ui/numbers.js";
import { renderTable } from "../ui/table.js";
import { escapeText } from "../ui/text.js";
import type { Claim } from "../verify/claims.js";
import type { FullVerdict } from "../verify/engine.js";
import type { MonthResult } from "../verify/report.js";

/** Returns a verdict as a person reads it: neighbouring months of one state are one line. */
export function verdictText(verdict: FullVerdict): string {
  const { api_total: api, mirror_total: here, mended, months, resource, tables } = verdict;
  const isCounted = api !== null && here !== null;
  const totals = isCounted ? `, ${formatCount(api)} in the API and ${formatCount(here)} here` : "";
  const lines = [`${resource}: ${verdict.state}${totals} (${counted(verdict.requests, "request")})`];
  if (mended) {
    const { rows_changed, rows_new, rows_removed, run_id } = mended;
    const rows = `${rows_new} new, ${rows_changed} changed, ${rows_removed} removed`;
    lines.push(`  mended: ${rows}: \`brandapi changes ${resource} --run ${run_id}\``);
  }
  for (const { first, month, state, why, read_at } of spansOf(months)) {
    const span = first === month ? first : `${first} to ${month}`;
    const read = read_at ? `; read since ${minuteOf(read_at)}` : "";
    lines.push(`  ${span}: ${state}: ${escapeText(why)}${read}`);
  }
  if (verdict.future) lines.push(`  not due yet: ${futureText(verdict.future)}`);
  for (const { table, why } of tables.differences) lines.push(`  table ${table}: ${tables.state}: ${why}`);
  if (verdict.blind_spot !== "") lines.push(`  cannot see: ${verdict.blind_spot}`);
  return `${lines.join("\n")}\n`;
}

/** Returns claims as a table, each with the two lines that print its numbers. */
export function evidenceText(claims: readonly Claim[]): string {
  const titles = ["check", "from", "to", "API", "mirror", "", "asked at", "note"];
  const minute = (at: string | null) => at && minuteOf(at);
  const rows = claims.map(({ agrees, api, asked_at, check, from, mirror, note, to }) => {
    let verdict = agrees ? "agrees" : "differs";
    if (agrees === null) verdict = "unproven";
    return [check, minute(from), minute(to), api, mirror, verdict, minute(asked_at), note];
  });
  const [header, ...lines] = renderTable(titles, rows).split("\n");
  const typed = (line: string | null) => (line ? `    ${line}\n` : "");
  const rest = claims.map(({ request, sql }, nth) => `  ${lines[nth]}\n${typed(request)}${typed(sql)}`);
  return `  ${header}\n${rest.join("")}`;
}

/** Months from `first` to `month`. */
type Span = MonthResult & { first: string };

/** Returns neighbouring months that have one state for one reason as one span, with the oldest read of them. */
function spansOf(months: readonly MonthResult[]): Span[] {
  const spans: Span[] = [];
  for (const result of months) {
    const last = spans.at(-1);
    if (last?.state !== result.state || last.why !== result.why)
      spans.push({ ...result, first: result.month });
    else {
      last.month = result.month;
      last.read_at = [last.read_at, result.read_at].filter((at) => at !== null).sort()[0] ?? null;
    }
  }
  return spans;
}
