import { counted } from "../lib/counted.js";
import { dayMs, formatAge, minuteOf } from "../lib/times.js";
import type { Health, ResourceHealth } from "../query/index.js";
import { formatCount } from "../ui/numbers.js";
import type { Style } from "../ui/style.js";
import { renderTable } from "../ui/table.js";
import { escapeText } from "../ui/text.js";
import { shorten } from "../ui/width.js";

/**
 * Returns the mirror's health for people: one line per resource, then what needs attention.
 * @param running a sentence about the run that is under way, or null
 */
export function statusText(
  health: Health,
  style: Style,
  width: number | undefined,
  running: string | null,
): string {
  const { brand, db, never_read, resources } = health;
  const whose = brand ? `${escapeText(shorten(brand.name))}, ` : "";
  const head = `${style.bold("Mirror")} of ${whose}${escapeText(db)}`;
  const blocks = [
    running === null ? head : `${head}\n${running}`,
    ...(resources.length === 0
      ? ["Nothing was synced yet: run `brandapi sync`."]
      : [
          [
            table(health, style, width),
            ...(never_read.length > 0 ? [`Never read: ${never_read.join(", ")}`] : []),
          ].join("\n"),
          marksOf(health)
            .map((line) => `${style.yellow("!")} ${line}`)
            .join("\n"),
          closingLines(health).join("\n"),
        ]),
  ];
  return `${blocks.filter((block) => block !== "").join("\n\n")}\n`;
}

/** Returns why something is stale: what is wrong with it, and the run that is under way. */
export function reasonsOf(health: Health, running: string | null): string[] {
  const stale = health.resources.filter((one) => one.stale).map((one) => ({ ...one, stale: false }));
  const marks = marksOf({ ...health, resources: stale });
  return running === null ? marks : [running, ...marks];
}

/** Returns what is wrong with a mirror, one line each. */
function marksOf({ failed_run: failed, resources }: Health): string[] {
  const marks = resources.flatMap(marksOfResource);
  if (failed === null) return marks;
  const { at, command, error } = failed;
  return [`the last ${command}, ${minuteOf(at)}, read nothing: ${escapeText(error)}`, ...marks];
}

function marksOfResource({
  resource,
  found,
  gaps,
  last_run: last,
  running,
  stale,
}: ResourceHealth): string[] {
  const marks: string[] = [];
  if (running) marks.push(`being read since ${minuteOf(running.started_at)}`);
  for (const { from, to } of gaps)
    marks.push(`not read: ${from === null ? "the start" : minuteOf(from)} to ${minuteOf(to)}`);
  // A later incomplete sync names what is still open.
  if (found && found.at !== last?.started_at && last?.outcome !== "incomplete")
    marks.push(`\`verify\` found: ${escapeText(found.error)}`);
  if (last?.error) marks.push(`the last ${endText(last.outcome, last.error)}`);
  if (stale) marks.push("older than allowed");
  return marks.map((mark) => `${resource}: ${mark}`);
}

/** Returns how a run ended that did not end well. */
function endText(outcome: string, error: string): string {
  if (outcome === "stopped") return "run was stopped";
  if (outcome === "verified") return `\`verify\`: ${escapeText(error)}`;
  return `run ${outcome === "failed" ? "failed" : `was ${outcome}`}: ${escapeText(error)}`;
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

/** Returns how long a change to an old record can stay unseen. */
function closingLines({ resources, checked_at }: Health): string[] {
  return resources.flatMap(({ resource, closing }) => {
    const days = closing === null ? 0 : Math.floor(sinceMs(closing.oldest_read_at, checked_at) / dayMs);
    // Every night reads all that lies inside the window.
    if (closing === null || closing.reread_within_days === 1 || days <= 0) return [];
    const nights = closing.reread_within_days;
    const next =
      nights === null
        ? "no nightly sync checks it again without an audit"
        : `each ${resource.replace(/s$/, "")} is checked again within ${counted(nights, "night")}`;
    return [`${resource}: oldest check ${counted(days, "day")} ago; ${next}`];
  });
}

function sinceMs(at: string, now: string): number {
  return Date.parse(now) - Date.parse(at);
}
