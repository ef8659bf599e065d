import { minuteOf } from "../lib/times.js";
import { renderTable } from "../ui/table.js";
import type { Claim } from "../verify/claims.js";

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
  const told = claims.map(({ request, sql }, nth) => `  ${lines[nth]}\n${typed(request)}${typed(sql)}`);
  return `  ${header}\n${told.join("")}`;
}
