import type { Expected } from "../lib/reporter.js";
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
  /** Requests done, of all tasks. */
  requests: number;
  /** Requests to come, as far as is known. */
  left: number;
  /** True if `left` counts every task to come. */
  isKnown: boolean;
}

/** Counts what is left: of the task under way, and of those to come by what each took the last time. */
export function requestsLeft(
  { unit, done, total }: Pick<Progress, "unit" | "done" | "total">,
  toCome: readonly Expected[],
): Pick<Progress, "left" | "isKnown"> {
  const own = unit === "pages" ? total && Math.max(0, total - done) : 0;
  const all = [own, ...toCome.map(({ requests }) => requests)];
  return { left: all.reduce<number>((sum, one) => sum + (one ?? 0), 0), isKnown: !all.includes(undefined) };
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
  const { name, position, of } = progress;
  const { style, unicode } = look;
  const title = of > 1 ? `${name} (${position} of ${of})` : (name ?? "");
  const head = pad(truncate(escapeText(shorten(title)), nameWidth * 2), nameWidth);
  const tail = countText(progress, look.perMinute);
  const room = Math.min(30, width - displayWidth(head) - displayWidth(tail) - 3);
  const share = shareOf(progress);
  if (share === undefined || room < shortestBar) return truncate(`${head}  ${tail}`, width);
  const full = Math.round(share * room);
  const [done, open] = unicode ? ["█", "░"] : ["#", "-"];
  return `${style.bold(head)} ${style.cyan(done.repeat(full))}${style.dim(open.repeat(room - full))}  ${tail}`;
}

function countText(
  { unit, done, total, requests, left, isKnown }: Progress,
  perMinute: number | null,
): string {
  if (unit !== "pages") {
    const write = unit === "bytes" ? formatBytes : (count: number) => `${formatCount(count)} ${unit}`;
    return total === undefined ? write(done) : `${write(done)} of ${write(total)}`;
  }
  const text = `${formatCount(requests)} requests done`;
  if (left === 0) return text;
  const least = isKnown ? "" : "at least ";
  const time = perMinute === null ? "" : `, ${formatSpan((left / perMinute) * 60_000)}`;
  return `${text}, ${least}${formatCount(left)} left${time}`;
}

function shareOf({ unit, done, total, requests, left, isKnown }: Progress): number | undefined {
  if (unit === "pages") return isKnown && requests + left > 0 ? requests / (requests + left) : undefined;
  return total === undefined ? undefined : Math.min(1, total <= 0 ? 1 : done / total);
}
