import type { Deps } from "../deps.js";
import type { Reporter, Task } from "../reporter.js";
import { hideKeys } from "../secrets.js";
import { type BarState, renderBar } from "./bar-line.js";
import { createBars } from "./bars.js";
import { createPace } from "./pace.js";
import { createSpeed } from "./speed.js";
import { styleFor } from "./style.js";
import { escapeLines } from "./text.js";

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

/** A wait worth a line where no bar can show it. */
const longWaitMs = 2_000;

/**
 * Bars where stderr is a terminal, otherwise one line a task; with `--quiet` nothing but warnings.
 * Everything that is printed is escaped, and what looks like a key hidden: it may come from outside, or was typed.
 */
export function createReporter(
  deps: Pick<Deps, "stderr" | "stdout" | "clock" | "signal" | "env" | "platform">,
  output: ReporterOutput,
  options: { ratePerMinute?: number | null } = {},
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
  const stop = () => bars.close();
  signal.addEventListener("abort", stop, { once: true });

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
    const hide = withBars ? bars.show(line) : () => {};
    const task: Task = {
      update({ done, total: newTotal, rows }) {
        state.done = done;
        if (newTotal !== undefined) state.total = newTotal;
        if (rows !== undefined) state.rows = rows;
        speed.update(unit === "pages" ? (rows ?? 0) : done, clock.monotonic());
      },
      waiting(ms, reason) {
        wait = { until: clock.monotonic() + ms, reason };
      },
      end(summary) {
        if (!active.delete(task)) return;
        hide();
        if (!quiet) bars.print(`${look.style.bold(clean(name))}: ${clean(summary)}`);
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
      if (active.size === 0 && !quiet && ms >= longWaitMs)
        bars.print(clean(`waiting ${Math.round(ms / 1_000)}s: ${reason}`));
    },
    answered() {
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

function drawsUnicode({ env, platform }: Pick<Deps, "env" | "platform">): boolean {
  if (platform === "darwin" || platform === "win32") return true;
  return /utf-?8/i.test(env.LC_ALL || env.LC_CTYPE || env.LANG || "");
}
