import { counted } from "../lib/counted.js";
import { formatSpan } from "../lib/times.js";
import { formatBytes, formatCount } from "./numbers.js";
import type { Style } from "./style.js";
import { escapeText } from "./text.js";
import { displayWidth, pad, shorten, truncate } from "./width.js";

/** What a task's bar shows. */
export interface BarState {
  name: string;
  unit: "pages" | "rows" | "bytes" | "files" | "requests";
  done: number;
  total: number | undefined;
  rows: number | undefined;
  /** Rows a second, or bytes a second. */
  perSecond: number | undefined;
  leftMs: number | undefined;
  /** It takes so long at least: of what is to come, something is not known yet. */
  isLeast?: boolean;
  /** What it waits for, and how much longer. */
  waiting: { leftMs: number; reason: string } | undefined;
}

export interface BarLook {
  style: Style;
  /** Whether the terminal draws block characters. */
  unicode: boolean;
}

const nameWidth = 16;
const shortestBar = 6;

/**
 * A task's line, `width` columns where there is a bar, and no more: name, bar, per cent, pages, rows, rows a second, time
 * left. A wait takes the speed's place. Where it does not fit, the bar shrinks, then the rows go, then the speed, then
 * the counts.
 */
export function renderBar(state: BarState, width: number, look: BarLook): string {
  const { style } = look;
  const name = pad(truncate(escapeText(shorten(state.name)), nameWidth), nameWidth);
  const share = shareOf(state);
  const percent = share === undefined ? undefined : `${String(Math.floor(share * 100)).padStart(3)}%`;
  const pace = state.waiting ? waitText(state.waiting) : speedText(state);
  const left = leftText(state);
  const rows = state.rows === undefined ? undefined : counted(state.rows, "row", formatCount);
  const counts = countText(state);
  const shortest = share === undefined ? 0 : shortestBar + 1;
  const fixed = nameWidth + 1 + shortest + (percent ? percent.length : 0);
  const texts = [[counts, rows, pace, left], [counts, pace, left], [counts, left], [left], []].map((parts) =>
    parts.filter((part) => part !== undefined),
  );
  const tail = texts.find((parts) => fixed + widthOf(parts) <= width) ?? [];
  const bar = share === undefined ? "" : `${drawBar(share, width - fixed - widthOf(tail), look)} `;
  const tailText = tail
    .map((part) =>
      part === pace && state.waiting ? style.yellow(part) : part === left ? style.dim(part) : part,
    )
    .map((part) => `  ${part}`)
    .join("");
  return `${style.bold(name)} ${bar}${percent ?? ""}${tailText}`;
}

function leftText({ leftMs, isLeast }: BarState): string | undefined {
  if (leftMs === undefined || (isLeast && leftMs < 1_000)) return undefined;
  return `${isLeast ? "at least " : ""}${formatSpan(leftMs)} left`;
}

/** What is waited for, and how long. */
export function waitText({ leftMs, reason }: { leftMs: number; reason: string }): string {
  return `waiting ${formatSpan(Math.max(0, leftMs))}: ${escapeText(shorten(reason))}`;
}

function drawBar(share: number, room: number, { style, unicode }: BarLook): string {
  const length = shortestBar + Math.max(0, room);
  const full = Math.round(share * length);
  const [done, open] = unicode ? ["█", "░"] : ["#", "-"];
  return style.cyan(done.repeat(full)) + style.dim(open.repeat(length - full));
}

function shareOf({ done, total }: BarState): number | undefined {
  if (total === undefined) return undefined;
  return total <= 0 ? 1 : Math.min(1, Math.max(0, done / total));
}

function countText({ unit, done, total }: BarState): string | undefined {
  if (unit === "bytes")
    return total === undefined ? formatBytes(done) : `${formatBytes(done)}/${formatBytes(total)}`;
  if (total !== undefined) return `${formatCount(done)}/${formatCount(total)} ${unit}`;
  // Nothing has come yet, and nothing is known.
  return done === 0 ? undefined : `${formatCount(done)} ${unit}`;
}

function speedText({ unit, perSecond }: BarState): string | undefined {
  if (perSecond === undefined) return undefined;
  return unit === "bytes"
    ? `${formatBytes(perSecond)}/s`
    : `${formatCount(perSecond)} ${unit === "files" ? "files" : "rows"}/s`;
}

function widthOf(parts: readonly string[]): number {
  return parts.reduce((sum, part) => sum + 2 + displayWidth(part), 0);
}
