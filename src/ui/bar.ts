import type { SingleBar } from "cli-progress";
import type { Output } from "../deps.js";
import { counted } from "../lib/counted.js";
import { formatSpan } from "../lib/times.js";
import { formatCount } from "./numbers.js";
import type { Style } from "./style.js";

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

const barWidth = 20;

/**
 * Returns the line that a terminal shows: name, requests done, requests left, time left, and a bar, or the current wait.
 * @param perMinute the rate limit, null for none
 * @param waiting what the run is waiting for and how long, null if it is not waiting
 */
export function progressLine(
  progress: Progress,
  style: Style,
  perMinute: number | null,
  waiting: string | null,
): string {
  const { name, position, of, requests, left, isKnown } = progress;
  const title = of > 1 ? `${name ?? ""} (${position} of ${of})` : (name ?? "");
  const time = perMinute === null ? "" : `, ${formatSpan((left / perMinute) * 60_000)}`;
  const rest = left === 0 ? "" : `, ${isKnown ? "" : "at least "}${formatCount(left)} left${time}`;
  const text = `${style.bold(title)}  ${counted(requests, "request", formatCount)} done${rest}`;
  if (waiting !== null) return `${text}  ${style.dim(waiting)}`;
  if (!isKnown) return text;
  const full = Math.round((requests / Math.max(1, requests + left)) * barWidth);
  return `${text}  ${style.cyan("█".repeat(full))}${style.dim("░".repeat(barWidth - full))}`;
}

/**
 * Returns one line at the bottom of a terminal that is redrawn in place; other lines are printed above it. cli-progress
 * draws, and is loaded when a bar is first shown.
 */
export function createBar(stream: Output, isDrawn: boolean) {
  let line: (() => string) | undefined;
  let bar: SingleBar | undefined;

  async function start(): Promise<void> {
    if (!isDrawn || !line) return;
    const loaded = await import("cli-progress");
    if (bar || !line) return;
    const { SingleBar } = loaded.default ?? loaded;
    const format = () => line?.() ?? "";
    // A signal that ends the process cannot leave the cursor hidden. The terminal cuts a line that is too long.
    const look = { hideCursor: false, linewrap: false, clearOnComplete: true };
    bar = new SingleBar({ stream, format, ...look, gracefulExit: false, forceRedraw: true, fps: 10 });
    bar.start(1, 0);
  }

  function stop(): void {
    bar?.stop();
    bar = undefined;
  }

  return {
    isDrawn,
    /** Draws what `next` returns until it is called without it. */
    show(next?: () => string): void {
      line = next;
      if (next) void start();
      else stop();
    },
    print(text: string): void {
      stop();
      stream.write(`${text}\n`);
      void start();
    },
  };
}
