import { counted } from "../lib/counted.js";
import { dayMs, formatAge, minuteOf } from "../lib/times.js";
import type { Health, ResourceHealth } from "../query/index.js";
import { formatCount } from "../ui/numbers.js";
import type { Style } from "../ui/style.js";
import { renderTable } from "../ui/table.js";
import { escapeText } from "../ui/text.js";
import { shorten } from "../ui/width.js";
import { marksOf } from "./health-marks.js";

/** Returns the mirror's health for people: one line per resource, then what needs a word. */
export function healthText(
  health: Health,
  style: Style,
  width: number | undefined,
  running: string | null,
): string {
  const brand = health.brand ? `${escapeText(shorten(health.brand.name))}, ` : "";
  const lines = [
    `${style.bold("Mirror")} of ${brand}${escapeText(health.db)}`,
    ...(running ? [running] : []),
    "",
  ];
  if (health.resources.length === 0) lines.push("Nothing was synced yet: run `brandapi sync`.");
  else
    lines.push(
      table(health, style, width),
      ...neverRead(health),
      ...marked(health, style),
      ...closingLines(health),
    );
  return `${lines.join("\n")}\n`;
}

function table({ resources, checked_at }: Health, style: Style, width: number | undefined): string {
  const removed = resources.some((resource) => resource.removed > 0);
  const titles = [
    "resource",
    "rows",
    ...(removed ? ["removed"] : []),
    "read completely",
    "last success",
    "age",
  ];
  const rows = resources.map((resource) => [
    resource.resource,
    formatCount(resource.rows),
    ...(removed ? [formatCount(resource.removed)] : []),
    coveredText(resource, checked_at),
    resource.last_success_at === null ? "never" : minuteOf(resource.last_success_at),
    resource.last_success_at === null
      ? ""
      : formatAge(sinceMs(resource.last_success_at, checked_at)) + (resource.stale ? " !" : ""),
  ]);
  return renderTable(titles, rows, {
    width,
    style,
    alignRight: ["rows", "removed"],
    spare: ["last success", "removed", "read completely"],
  });
}

function coveredText({ covered, gaps, last_success_at }: ResourceHealth, now: string): string {
  const [first] = covered;
  const last = covered.at(-1);
  if (!first || !last) return last_success_at === null ? "not yet" : "whole";
  const from = first.from === null ? "from the start" : `from ${day(first.from)}`;
  const until = day(last.to) === day(now) ? "" : ` to ${day(last.to)}`;
  const holes = gaps.length === 0 ? "" : `, ${counted(gaps.length, "gap")}`;
  return `${from}${until}${holes}`;
}

function neverRead({ never_read }: Health): string[] {
  return never_read.length === 0 ? [] : [`Never read: ${never_read.join(", ")}`];
}

function marked(health: Health, style: Style): string[] {
  const marks = marksOf(health);
  return marks.length === 0 ? [] : ["", ...marks.map((line) => `${style.yellow("!")} ${line}`)];
}

/** Returns how long a change to an old record can stay unseen. */
function closingLines({ resources, checked_at }: Health): string[] {
  const lines = resources.flatMap(({ resource, closing }) => {
    // Every night reads all that lies inside the window.
    if (!closing || closing.reread_within_days === 1) return [];
    const days = Math.floor(Math.max(0, sinceMs(closing.oldest_read_at, checked_at)) / dayMs);
    if (days === 0) return [];
    const one = resource.endsWith("s") ? resource.slice(0, -1) : "record";
    const nights = closing.reread_within_days;
    const next =
      nights === null
        ? "without an audit, no nightly sync checks it again"
        : `each ${one} is checked again within ${counted(nights, "night")}`;
    return [`${resource}: oldest check ${counted(days, "day")} ago; ${next}`];
  });
  return lines.length === 0 ? [] : ["", ...lines];
}

function sinceMs(at: string, now: string): number {
  return Date.parse(now) - Date.parse(at);
}

function day(at: string): string {
  return at.slice(0, 10);
}
