import type { Deps } from "../deps.js";
import type { Expected, Reporter, Task } from "../lib/reporter.js";
import { hideKeys } from "../lib/secrets.js";
import { formatSpan } from "../lib/times.js";
import { createBar } from "./bar.js";
import { type Progress, progressLine, requestsLeft } from "./progress.js";
import { styleFor } from "./style.js";
import { escapeLines } from "./text.js";

/** A reporter on stderr, which the command closes when it is done; it can also show what the API client does. */
export interface TerminalReporter extends Reporter {
  /** The API client waits. */
  waiting(ms: number, reason: string): void;
  /** The API client got an answer. */
  answered(): void;
  /** Requests a minute that the rate limit allows; null for none. */
  limited(perMinute: number | null): void;
  /** Takes the bar away. */
  close(): void;
}

/** The flags that matter here. */
export interface ReporterOutput {
  json?: boolean;
  quiet?: boolean;
  verbose?: boolean;
  color?: boolean;
  progress?: boolean;
}

/** A shorter wait is no news. */
const longWaitMs = 2_000;
const progressEveryMs = 2_000;

/**
 * A bar if stderr is a terminal, otherwise one line per task; with `--quiet` nothing but warnings. Everything printed is
 * escaped, and what looks like a key hidden, because it may come from outside.
 * @param progressed called every few seconds with how far the run is
 */
export function createReporter(
  deps: Pick<Deps, "stderr" | "stdout" | "clock" | "signal" | "env" | "platform">,
  output: ReporterOutput,
  { progressed }: { progressed?(progress: Progress): void } = {},
): TerminalReporter {
  const { clock, stderr, signal, env } = deps;
  const isQuiet = output.quiet === true;
  const look = {
    style: styleFor(stderr, { color: output.color !== false }, env),
    unicode: drawsUnicode(deps),
  };
  const hasBar = drawsBar(deps, output);
  const bar = createBar(stderr);
  const clean = (text: string) => escapeLines(hideKeys(text, [env.BRANDAPI_KEY ?? ""]));
  const warned = new Set<string>();
  let expected: readonly Expected[] = [];
  let perMinute: number | null = null;
  let requests = 0;
  let task: Pick<Progress, "name" | "unit" | "done" | "total"> = none;
  let position = 0;
  let wait = { until: Number.NEGATIVE_INFINITY, reason: "" };
  let waitedFor = "";
  let toldAt = Number.NEGATIVE_INFINITY;
  const stop = () => bar.close();
  signal.addEventListener("abort", stop, { once: true });

  function progress(): Progress {
    const left = requestsLeft(task, expected.slice(position));
    return { ...task, position, of: Math.max(1, expected.length), requests, ...left };
  }

  function line(width: number): string {
    const ms = wait.until - clock.monotonic();
    const waiting = ms > 0 ? `waiting ${formatSpan(ms)}: ${wait.reason}` : undefined;
    return progressLine(progress(), width, { ...look, perMinute, waiting });
  }

  function tell(isNews: boolean): void {
    const now = clock.monotonic();
    if (!isNews && now - toldAt < progressEveryMs) return;
    toldAt = now;
    progressed?.(progress());
  }

  function begin({ name, unit, total }: Parameters<Reporter["begin"]>[0]): Task {
    const own = { name, unit, done: 0, total };
    task = own;
    position =
      Math.max(
        0,
        expected.findIndex((one) => one.name === name),
      ) + 1;
    if (hasBar) bar.show(line);
    tell(true);
    let isOver = false;
    return {
      update({ done, total: newTotal }) {
        own.done = done;
        own.total = newTotal ?? own.total;
        tell(false);
      },
      waiting,
      end(summary) {
        if (isOver) return;
        isOver = true;
        if (task === own) {
          task = none;
          bar.hide();
        }
        if (!isQuiet && summary !== null) bar.print(`${look.style.bold(clean(name))}: ${clean(summary)}`);
      },
    };
  }

  function waiting(ms: number, reason: string): void {
    wait = { until: clock.monotonic() + ms, reason: clean(reason) };
    if (ms < longWaitMs) return;
    tell(true);
    if (task !== none || isQuiet) return;
    if (hasBar) bar.show(line);
    // A log has each reason once, however often it is waited for.
    else if (reason !== waitedFor) bar.print(`waiting ${formatSpan(ms)}: ${wait.reason}`);
    waitedFor = reason;
  }

  return {
    expect(tasks) {
      expected = tasks;
      position = 0;
    },
    begin,
    note(text) {
      if (!isQuiet) bar.print(clean(text));
    },
    warn(text) {
      if (warned.has(text)) return;
      warned.add(text);
      bar.print(`${look.style.yellow("warning:")} ${clean(text)}`);
    },
    detail(text) {
      if (output.verbose) bar.print(look.style.dim(clean(text)));
    },
    waiting,
    answered() {
      requests += 1;
      if (task === none) bar.hide();
    },
    limited(limit) {
      perMinute = limit;
    },
    close() {
      signal.removeEventListener("abort", stop);
      bar.close();
    },
  };
}

const none = { name: null, unit: "pages", done: 0, total: 0 } as const;

/** JSON lines on the same terminal would tear the bar. */
function drawsBar(
  { stderr, stdout, env }: Pick<Deps, "stderr" | "stdout" | "env">,
  output: ReporterOutput,
): boolean {
  const isWanted = output.progress !== false && !output.quiet && env.TERM !== "dumb";
  return stderr.isTTY === true && isWanted && !(output.json && stdout.isTTY);
}

/** True if the terminal draws block characters. */
export function drawsUnicode({ env, platform }: Pick<Deps, "env" | "platform">): boolean {
  if (platform === "darwin" || platform === "win32") return true;
  return /utf-?8/i.test(env.LC_ALL || env.LC_CTYPE || env.LANG || "");
}
