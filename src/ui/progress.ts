import { formatSpan } from "../lib/times.js";
import { formatCount } from "./numbers.js";
import type { Style } from "./style.js";
import { escapeText } from "./text.js";
import { displayWidth, pad, shorten, truncate } from "./width.js";

/** How far a run is. */
export interface Progress {
  /** The task under way; null between two. */
  name: string | null;
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
const longestBar = 30;

/**
 * Returns the line of a terminal: name, bar, requests done, requests left, time left.
 * @param look `perMinute`: the rate limit, null for none; `unicode`: true if the terminal draws block characters
 */
export function progressLine(
  progress: Progress,
  width: number,
  { style, unicode, perMinute }: { style: Style; unicode: boolean; perMinute: number | null },
): string {
  const { name, position, of, requests, left, isKnown } = progress;
  const title = of > 1 ? `${name} (${position} of ${of})` : (name ?? "");
  const head = pad(truncate(escapeText(shorten(title)), nameWidth * 2), nameWidth);
  const time = perMinute === null ? "" : `, ${formatSpan((left / perMinute) * 60_000)}`;
  const rest = left === 0 ? "" : `, ${isKnown ? "" : "at least "}${formatCount(left)} left${time}`;
  const text = `${formatCount(requests)} requests done${rest}`;
  const room = Math.min(longestBar, width - displayWidth(head) - displayWidth(text) - 3);
  if (!isKnown || requests + left === 0 || room < shortestBar) return truncate(`${head}  ${text}`, width);
  const full = Math.round((requests / (requests + left)) * room);
  const [filled, open] = unicode ? ["█", "░"] : ["#", "-"];
  return `${style.bold(head)} ${style.cyan(filled.repeat(full))}${style.dim(open.repeat(room - full))}  ${text}`;
}
