import { minuteOf } from "../lib/times.js";
import { renderTable } from "../ui/table.js";
import type { Claim } from "../verify/claims.js";

/** Returns claims as a table, each with the two lines that print its numbers. */
export function evidenceText(claims: readonly Claim[]): string {
  const titles = ["check", "from", "to", "API", "mirror", "", "asked at", "note"];
  const rows = claims.map(({ agrees, api, asked_at, check, from, mirror, note, to }) => [
    check,
    from === null ? "" : minuteOf(from),
    to === null ? "" : minuteOf(to),
    api,
    mirror,
    agrees === null ? "unproven" : agrees ? "agrees" : "differs",
    asked_at === null ? "" : minuteOf(asked_at),
    note ?? "",
  ]);
  const [header, ...lines] = renderTable(titles, rows).split("\n");
  const told = lines.map((line, nth) =>
    [line, claims[nth]?.request ?? [], claims[nth]?.sql ?? []].flat().join("\n    "),
  );
  return [header, ...told].map((line) => `  ${line}\n`).join("");
}
