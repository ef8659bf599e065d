import type { SingleBar } from "cli-progress";
import type { Deps, OutputStream } from "../deps.js";
import { hideKeys } from "../util/redact-keys.js";
import type { ExpectedTask, Reporter } from "../util/reporter.js";
import { type Style, styleFor } from "../util/terminal.js";
import { escapeLines } from "../util/terminal-text.js";
import { formatCount, pluralize } from "../util/text.js";
import { formatDuration } from "../util/times.js";

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
  const time = perMinute === null ? "" : `, ${formatDuration((left / perMinute) * 60_000)}`;
  const rest = left === 0 ? "" : `, ${isKnown ? "" : "at least "}${formatCount(left)} left${time}`;
  const text = `${style.bold(title)}  ${pluralize(requests, "request", formatCount)} done${rest}`;
  if (waiting !== null) return `${text}  ${style.dim(waiting)}`;
  if (!isKnown) return text;
  const full = Math.round((requests / Math.max(1, requests + left)) * barWidth);
  return `${text}  ${style.cyan("█".repeat(full))}${style.dim("░".repeat(barWidth - full))}`;
}

/**
 * Returns one line at the bottom of a terminal that is redrawn in place; other lines are printed above it. cli-progress
 * draws, and is loaded when a bar is first shown.
 */
export function createBar(stream: OutputStream, isDrawn: boolean) {
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

/** A reporter on stderr, which the command closes when it is done; it can also show what the API client does. */
export interface TerminalReporter extends Reporter {
  waiting(ms: number, reason: string): void;
  answered(): void;
  /** Requests a minute that the rate limit allows; null for none. */
  limited(perMinute: number | null): void;
  /** Takes the bar away. */
  close(): void;
}

/** The flags that matter here. */
export type ReporterOptions = Partial<Record<"json" | "quiet" | "verbose" | "color" | "progress", boolean>>;

/** A shorter wait is no news. */
const longWaitMs = 2_000;
const progressEveryMs = 2_000;
/** No task. */
const none = { name: null, done: 0, total: 0 };

/**
 * Returns a bar if stderr is a terminal, otherwise one line per task; with `--quiet` nothing but warnings. Everything
 * printed is escaped, because it may come from outside, and keys in use are hidden.
 * @param progressed called every few seconds with how far the run is
 */
export function createReporter(
  deps: Pick<Deps, "stderr" | "stdout" | "clock" | "signal" | "env" | "keys">,
  output: ReporterOptions,
  { progressed }: { progressed?(progress: Progress): void } = {},
): TerminalReporter {
  const { clock, stderr, signal, env, keys } = deps;
  const style = styleFor(stderr, output, env);
  const bar = createBar(stderr, drawsBar(deps, output));
  const clean = (text: string) => escapeLines(hideKeys(text, keys));
  const note = (text: string) => {
    if (!output.quiet) bar.print(text);
  };
  const warned = new Set<string>();
  let expected: readonly ExpectedTask[] = [];
  let requests = 0;
  let position = 0;
  let perMinute: number | null = null;
  let task: { name: string | null; done: number; total: number | undefined } = none;
  let wait = { reason: "", until: Number.NEGATIVE_INFINITY };
  let toldAt = Number.NEGATIVE_INFINITY;
  const hide = () => bar.show();
  signal.addEventListener("abort", hide, { once: true });

  /** Requests to come: of the task under way, and of later ones what each took the last time. */
  function progress(): Progress {
    const own = task.total && Math.max(0, task.total - task.done);
    const all = [own, ...expected.slice(position).map((one) => one.requests)];
    const left = all.reduce<number>((sum, one) => sum + (one ?? 0), 0);
    const of = Math.max(1, expected.length);
    return { name: task.name, position, of, requests, left, isKnown: !all.includes(undefined) };
  }

  function tell(): void {
    toldAt = clock.monotonic();
    progressed?.(progress());
  }

  /** Counts down on a terminal; elsewhere prints a line per reason, but only between tasks, because a log has one line per task. */
  function waiting(ms: number, reason: string): void {
    if (ms < longWaitMs) return;
    tell();
    const isNew = reason !== wait.reason;
    wait = { reason, until: clock.monotonic() + ms };
    if (task !== none) return;
    if (bar.isDrawn) bar.show(() => waitText() ?? "");
    else if (isNew) note(`${waitText()}`);
  }

  function waitText(): string | null {
    const ms = wait.until - clock.monotonic();
    return ms <= 0 ? null : `waiting ${formatDuration(ms)}: ${clean(wait.reason)}`;
  }

  return {
    expect(tasks) {
      expected = tasks;
      position = 0;
    },
    begin({ name, total }) {
      const own = { name, done: 0, total };
      task = own;
      position = expected.findIndex((one) => one.name === name) + 1 || 1;
      if (!signal.aborted) bar.show(() => progressLine(progress(), style, perMinute, waitText()));
      tell();
      return {
        update({ done, total: newTotal = own.total }) {
          Object.assign(own, { done, total: newTotal });
          if (clock.monotonic() - toldAt >= progressEveryMs) tell();
        },
        waiting,
        end(summary) {
          task = none;
          hide();
          if (summary !== null) note(`${style.bold(clean(name))}: ${clean(summary)}`);
        },
      };
    },
    note: (text) => note(clean(text)),
    warn(text) {
      if (!warned.has(text)) bar.print(`${style.yellow("warning:")} ${clean(text)}`);
      warned.add(text);
    },
    detail(text) {
      if (output.verbose) bar.print(style.dim(clean(text)));
    },
    waiting,
    answered() {
      requests += 1;
      wait.until = Number.NEGATIVE_INFINITY;
      if (task === none) hide();
    },
    limited(limit) {
      perMinute = limit;
    },
    close() {
      signal.removeEventListener("abort", hide);
      hide();
    },
  };
}

/** JSON lines on the same terminal would tear the bar. */
function drawsBar({ stderr, stdout, env }: Pick<Deps, "stderr" | "stdout" | "env">, output: ReporterOptions) {
  const isWanted = output.progress !== false && !output.quiet && env.TERM !== "dumb";
  return stderr.isTTY === true && isWanted && !(output.json && stdout.isTTY);
}
