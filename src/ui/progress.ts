import { formatSpan } from "../lib/times.js";
import { formatBytes, formatCount } from "./numbers.js";
import type { Style } from "./style.js";
import { escapeText } from "./text.js";
import { displayWidth, pad, shorten, truncate } from "./width.js";

/** How far a run is. */
export interface Progress {
  /** The task under way; null between two. */
  name: string | null;
  unit: "pages" | "rows" | "bytes" | "files";
  /** In the task's unit. */
  done: number;
  total: number | undefined;
  /** Which task of how many. */
  position: number;
  of: number;
  /** Requests done, of all tasks, and requests to come, as far as is known. */
  requests: number;
  left: number;
  /** True if `left` counts every task to come. */
  isKnown: boolean;
}

const nameWidth = 16;
const shortestBar = 6;

/**
 * Returns the line of a terminal: name, bar, requests done, requests left, time left.
 * @param look `perMinute`: the rate limit, null for none; `unicode`: true if the terminal draws block characters
 */
export function progressLine(
  progress: Progress,
  width: number,
  look: { style: Style; unicode: boolean; perMinute: number | null },
): string {
  const { name, position, of, unit, done, total, requests, left, isKnown } = progress;
  const { style, unicode } = look;
  const title = of > 1 ? `${name} (${position} of ${of})` : (name ?? "");
  const head = pad(truncate(escapeText(shorten(title)), nameWidth * 2), nameWidth);
  const tail = unit === "pages" ? requestsText(progress, look.perMinute) : countText(progress);
  const room = Math.min(30, width - displayWidth(head) - displayWidth(tail) - 3);
  const all = unit !== "pages" ? total : isKnown ? requests + left : undefined;
  if (!all || room < shortestBar) return truncate(`${head}  ${tail}`, width);
  const full = Math.round(Math.min(1, (unit === "pages" ? requests : done) / all) * room);
  const [filled, open] = unicode ? ["█", "░"] : ["#", "-"];
  return `${style.bold(head)} ${style.cyan(filled.repeat(full))}${style.dim(open.repeat(room - full))}  ${tail}`;
}

function countText({ unit, done, total }: Progress): string {
  const write = unit === "bytes" ? formatBytes : (count: number) => `${formatCount(count)} ${unit}`;
  return total === undefined ? write(done) : `${write(done)} of ${write(total)}`;
}

function requestsText({ requests, left, isKnown }: Progress, perMinute: number | null): string {
  const time = perMinute === null ? "" : `, ${formatSpan((left / perMinute) * 60_000)}`;
  const rest = left === 0 ? "" : `, ${isKnown ? "" : "at least "}${formatCount(left)} left${time}`;
  return `${formatCount(requests)} requests done${rest}`;
}
