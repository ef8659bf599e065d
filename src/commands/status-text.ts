import { counted } from "../lib/counted.js";
import { dayMs, formatAge, minuteOf } from "../lib/times.js";
import { underWayText } from "../mirror/index.js";
import type { Health, ResourceHealth } from "../query/index.js";
import { formatCount } from "../ui/numbers.js";
import type { Style } from "../ui/style.js";
import { renderTable } from "../ui/table.js";
import { escapeText } from "../ui/text.js";

/** Returns the mirror's health for people: one line per resource, then what needs attention. */
export function statusText(health: Health, style: Style, width: number | undefined): string {
  const { brand, db, never_read, resources } = health;
  const whose = brand ? `${escapeText(brand.name)}, ` : "";
  const marks = marksOf(health).map((line) => `${style.yellow("!")} ${line}`);
  const never = never_read.length > 0 ? [`Never read: ${never_read.join(", ")}`] : [];
  const known =
    resources.length === 0
      ? ["Nothing was synced yet: run `brandapi sync`."]
      : [table(health, style, width), ...never];
  const blocks = [
    [`${style.bold("Mirror")} of ${whose}${escapeText(db)}`],
    known,
    marks,
    oldestLines(health),
  ];
  return `${blocks.flatMap((lines) => (lines.length === 0 ? [] : [lines.join("\n")])).join("\n\n")}\n`;
}

/** Returns what needs attention, one line each. */
export function marksOf({ checked_at, failed_run, resources, under_way }: Health): string[] {
  const marks = resources.flatMap((one) => marksOfResource(one).map((mark) => `${one.resource}: ${mark}`));
  if (failed_run) {
    const { at, command, error } = failed_run;
    marks.unshift(`the last ${command}, ${minuteOf(at)}, read nothing: ${escapeText(error)}`);
  }
  if (under_way) marks.unshift(`a run is under way ${underWayText(under_way, Date.parse(checked_at))}`);
  return marks;
}

function marksOfResource({ found, gaps, last_run: last }: ResourceHealth): string[] {
  const marks = gaps.map(
    ({ from, to }) => `not read: ${from === null ? "the start" : minuteOf(from)} to ${minuteOf(to)}`,
  );
  // A later incomplete sync names what is still open.
  if (found && last?.outcome !== "incomplete") marks.push(`\`verify\` found: ${escapeText(found.error)}`);
  if (last?.outcome === "stopped") marks.push("the last run was stopped");
  else if (last?.error && last.outcome !== "verified") {
    const ended = last.outcome === "failed" ? "failed" : `was ${last.outcome}`;
    marks.push(`the last run ${ended}: ${escapeText(last.error)}`);
  }
  return marks;
}

function table({ resources, checked_at }: Health, style: Style, width: number | undefined): string {
  const hasRemoved = resources.some(({ removed }) => removed > 0);
  const columns = ["resource", "rows", ...(hasRemoved ? ["removed"] : []), "read completely", "last success"];
  const rows = resources.map((one) => [
    one.resource,
    formatCount(one.rows),
    ...(hasRemoved ? [formatCount(one.removed)] : []),
    coveredText(one, checked_at),
    one.last_success_at === null ? "never" : minuteOf(one.last_success_at),
    one.last_success_at === null
      ? ""
      : formatAge(sinceMs(one.last_success_at, checked_at)) + (one.stale ? " !" : ""),
  ]);
  return renderTable([...columns, "age"], rows, {
    width,
    style,
    alignRight: ["rows", "removed"],
    spare: ["last success", "removed", "read completely"],
  });
}

function coveredText({ covered, gaps, last_success_at }: ResourceHealth, now: string): string {
  const day = (at: string) => at.slice(0, 10);
  const [first] = covered;
  const last = covered.at(-1);
  if (!first || !last) return last_success_at === null ? "not yet" : "whole";
  const from = first.from === null ? "from the start" : `from ${day(first.from)}`;
  const until = day(last.to) === day(now) ? "" : ` to ${day(last.to)}`;
  return `${from}${until}${gaps.length === 0 ? "" : `, ${counted(gaps.length, "gap")}`}`;
}

/** Returns how old the oldest data is: a change to an old record can be as old. */
function oldestLines({ resources, checked_at }: Health): string[] {
  return resources.flatMap(({ resource, oldest_read_at }) => {
    const days = oldest_read_at === null ? 0 : Math.floor(sinceMs(oldest_read_at, checked_at) / dayMs);
    return days < 2 ? [] : [`${resource}: oldest check ${counted(days, "day")} ago`];
  });
}

function sinceMs(at: string, now: string): number {
  return Date.parse(now) - Date.parse(at);
}
