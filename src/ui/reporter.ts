import type { Deps } from "../deps.js";
import type { Reporter, Task } from "../lib/reporter.js";
import { hideKeys } from "../lib/secrets.js";
import { type BarState, renderBar, waitText } from "./bar-line.js";
import { createBars } from "./bars.js";
import { createPace } from "./pace.js";
import { createSpeed } from "./speed.js";
import { styleFor } from "./style.js";
import { escapeLines } from "./text.js";
import { followRun, type WholeProgress } from "./whole-run.js";

/** A reporter on stderr, which the command closes when it is done; it can also show what the API client does. */
export interface TerminalReporter extends Reporter {
  /** The API client waits: every task that is under way shows it. `full` where the rate limit has no place left. */
  waiting(ms: number, reason: string, full?: boolean): void;
  /** The API client got an answer: what the time left is judged by. */
  answered(): void;
  /** Requests a minute that the rate limit allows; null for none. */
  limited(perMinute: number | null): void;
  /** Takes the bars away and gives the cursor back. */
  close(): void;
}

/** What of the flags matters here; both `Settings.output` and a command's options have it. */
export interface ReporterOutput {
  json?: boolean;
  quiet?: boolean;
  verbose?: boolean;
  color?: boolean;
  progress?: boolean;
}

export interface ReporterOptions {
  ratePerMinute?: number | null;
  /** Hears how far the run is, every few seconds. */
  progressed?(progress: WholeProgress): void;
}

/** A wait worth a line where no bar can show it, and worth telling others how far it is. */
const longWaitMs = 2_000;
/** So often others are told how far it is. */
const tellEveryMs = 2_000;

/**
 * Bars where stderr is a terminal, otherwise one line a task; with `--quiet` nothing but warnings.
 * Everything that is printed is escaped, and what looks like a key hidden: it may come from outside, or was typed.
 */
export function createReporter(
  deps: Pick<Deps, "stderr" | "stdout" | "clock" | "signal" | "env" | "platform">,
  output: ReporterOutput,
  options: ReporterOptions = {},
): TerminalReporter {
  const { clock, stderr, signal } = deps;
  const quiet = output.quiet === true;
  const look = {
    style: styleFor(stderr, { color: output.color !== false }, deps.env),
    unicode: drawsUnicode(deps),
  };
  // JSON lines on the same terminal would tear the bars.
  const withBars =
    stderr.isTTY === true &&
    output.progress !== false &&
    !quiet &&
    deps.env.TERM !== "dumb" &&
    !(output.json && deps.stdout.isTTY);
  const bars = createBars(stderr);
  const keys = [deps.env.BRANDAPI_KEY ?? ""];
  const clean = (text: string) => escapeLines(hideKeys(text, keys));
  const warned = new Set<string>();
  const active = new Set<Task>();
  let pace = createPace(options.ratePerMinute ?? null);
  const whole = followRun();
  let toldAt = Number.NEGATIVE_INFINITY;
  let hideWhole = () => {};
  let hideWait = () => {};
  let waitedFor = "";
  const stop = () => bars.close();
  signal.addEventListener("abort", stop, { once: true });

  function progressed(isNews: boolean): void {
    const now = clock.monotonic();
    if (!isNews && now - toldAt < tellEveryMs) return;
    toldAt = now;
    options.progressed?.(whole.progress());
  }

  /** All of a run that has several tasks, in a line below the one that is under way. */
  function wholeLine(width: number): string {
    const { isKnown, left, of, position, requests } = whole.progress();
    const leftMs = left === 0 ? undefined : pace.timeFor(left, clock.monotonic());
    const total = isKnown ? requests + left : undefined;
    const name = `all, ${position} of ${of}`;
    const shown = { name, unit: "requests" as const, done: requests, total, leftMs, isLeast: !isKnown };
    return renderBar({ ...shown, rows: undefined, perSecond: undefined, waiting: undefined }, width, look);
  }

  /** What is waited for where no task is under way: before the first, or between two. */
  function showWait(ms: number, reason: string): void {
    hideWait();
    const until = clock.monotonic() + ms;
    hideWait = bars.show(() => waitText({ leftMs: until - clock.monotonic(), reason: clean(reason) }));
  }

  function begin({ name, unit, total }: Parameters<Reporter["begin"]>[0]): Task {
    const state = { name, unit, done: 0, total, rows: undefined as number | undefined };
    const speed = createSpeed();
    let wait: { until: number; reason: string } | undefined;
    const line = (width: number) => {
      const now = clock.monotonic();
      const perSecond = speed.perSecond(now);
      const waiting =
        wait && wait.until > now ? { leftMs: wait.until - now, reason: wait.reason } : undefined;
      return renderBar(
        { ...state, perSecond, waiting, leftMs: timeLeft(state, perSecond, now) },
        width,
        look,
      );
    };
    hideWait();
    hideWhole();
    const hide = withBars ? bars.show(line) : () => {};
    whole.begin(name);
    if (withBars && whole.progress().of > 1) hideWhole = bars.show(wholeLine);
    progressed(true);
    const task: Task = {
      update({ done, total: newTotal, rows }) {
        state.done = done;
        if (newTotal !== undefined) state.total = newTotal;
        if (rows !== undefined) state.rows = rows;
        speed.update(unit === "pages" ? (rows ?? 0) : done, clock.monotonic());
        whole.update(unit === "pages" && state.total !== undefined ? state.total - done : undefined);
        progressed(false);
      },
      waiting(ms, reason) {
        wait = { until: clock.monotonic() + ms, reason };
      },
      end(summary) {
        if (!active.delete(task)) return;
        hide();
        whole.end(name);
        if (!quiet && summary !== null) bars.print(`${look.style.bold(clean(name))}: ${clean(summary)}`);
      },
    };
    active.add(task);
    return task;
  }

  function timeLeft(
    { unit, done, total }: Pick<BarState, "unit" | "done" | "total">,
    perSecond: number | undefined,
    now: number,
  ): number | undefined {
    if (total === undefined || total <= done) return undefined;
    if (unit === "pages") return pace.timeFor(total - done, now);
    return perSecond === undefined ? undefined : ((total - done) / perSecond) * 1_000;
  }

  return {
    expect: whole.expect,
    begin,
    note(text) {
      if (!quiet) bars.print(clean(text));
    },
    warn(text) {
      if (warned.has(text)) return;
      warned.add(text);
      bars.print(`${look.style.yellow("warning:")} ${clean(text)}`);
    },
    detail(text) {
      if (output.verbose) bars.print(look.style.dim(clean(text)));
    },
    waiting(ms, reason, full) {
      pace.heldUntil(clock.monotonic() + ms, full);
      for (const task of active) task.waiting(ms, reason);
      if (ms >= longWaitMs) progressed(true);
      if (active.size > 0 || quiet || ms < longWaitMs) return;
      if (withBars) return showWait(ms, reason);
      // A log tells of each reason once, however often it is waited for.
      if (reason === waitedFor) return;
      waitedFor = reason;
      bars.print(clean(`waiting ${Math.round(ms / 1_000)}s: ${reason}`));
    },
    answered() {
      hideWait();
      whole.answered();
      pace.answered(clock.monotonic());
    },
    limited(perMinute) {
      pace = createPace(perMinute);
    },
    close() {
      signal.removeEventListener("abort", stop);
      bars.close();
    },
  };
}

/** Whether the terminal draws block characters. */
export function drawsUnicode({ env, platform }: Pick<Deps, "env" | "platform">): boolean {
  if (platform === "darwin" || platform === "win32") return true;
  return /utf-?8/i.test(env.LC_ALL || env.LC_CTYPE || env.LANG || "");
}
