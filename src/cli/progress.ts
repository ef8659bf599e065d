import type { SingleBar } from "cli-progress";
import type { Deps, OutputStream } from "../deps.js";
import { formatCount, pluralize } from "../util/format-text.js";
import { hideKeys } from "../util/redact-keys.js";
import type { ExpectedTask, Reporter, Task } from "../util/reporter.js";
import {
  createStyle,
  displayWidth,
  escapeLines,
  type Style,
  terminalWidth,
  truncate,
  wrapLines,
} from "../util/terminal.js";
import { formatDuration } from "../util/timestamps.js";
import { addBrandFlags, type BrandFlags } from "./brand-flags.js";

/** The progress of a command. `status` reports it if the command is running in another terminal. */
export interface Progress {
  /** The current task's name; null between tasks. */
  name: string | null;
  /** The current task's number, starting at 1. */
  position: number;
  taskCount: number;
  /** The number of requests sent so far, for all tasks. */
  requestsSent: number;
  /** The number of remaining requests, or a lower bound if `isLeftKnown` is false. */
  requestsLeft: number;
  /** True if every remaining task has an estimate. */
  isLeftKnown: boolean;
}

const barWidth = 20;

/**
 * Formats the progress line: name, requests sent, requests left, time left, and a bar or the current wait. If the line
 * is too long, the least important parts are omitted.
 * @param perMinute the rate limit in requests per minute, or null for no limit
 * @param waiting a description of the current wait and its reason; null if the program is not waiting
 */
function progressLine(
  progress: Progress,
  style: Style,
  { perMinute, waiting, width }: { perMinute: number | null; waiting: string | null; width: number },
): string {
  const { name, position, taskCount, requestsSent, requestsLeft, isLeftKnown } = progress;
  const title = style.bold(taskCount > 1 ? `${name ?? ""} (${position} of ${taskCount})` : (name ?? ""));
  const shortTitle = style.bold(name ?? "");
  const sent = `${pluralize(requestsSent, "request")} done`;
  const remaining =
    requestsLeft === 0 ? "" : `${isLeftKnown ? "" : "at least "}${formatCount(requestsLeft)} left`;
  const time =
    requestsLeft === 0 || perMinute === null ? "" : formatDuration((requestsLeft / perMinute) * 60_000);
  const filled = Math.round((requestsSent / Math.max(1, requestsSent + requestsLeft)) * barWidth);
  const bar = `${style.cyan("█".repeat(filled))}${style.dim("░".repeat(barWidth - filled))}`;
  const list = (...parts: string[]) => parts.filter((part) => part !== "").join(", ");

  const full = `${title}  ${list(sent, remaining, time)}`;
  const longestFirst =
    waiting === null
      ? [
          isLeftKnown ? `${full}  ${bar}` : full,
          full,
          `${title}  ${list(sent, remaining)}`,
          `${shortTitle}  ${list(`${formatCount(requestsSent)} done`, remaining)}`,
          `${shortTitle}  ${remaining || sent}`,
        ]
      : [`${full}  ${style.dim(waiting)}`, `${title}  ${style.dim(waiting)}`];
  const fitting = longestFirst.find((line) => displayWidth(line) <= width);
  return fitting ?? truncate(`${name ?? ""}  ${waiting ?? sent}`, width);
}

/** A line at the bottom of the terminal that is redrawn in place. Other lines are printed above it. */
class StatusLine {
  readonly #stream: OutputStream;
  readonly isEnabled: boolean;
  #format: ((width: number) => string) | null = null;
  #bar: SingleBar | undefined;

  constructor(stream: OutputStream, isEnabled: boolean) {
    this.#stream = stream;
    this.isEnabled = isEnabled;
  }

  /**
   * Draws the string returned by `format` ten times a second until `hide` is called. `format` receives the maximum
   * width.
   */
  show(format: (width: number) => string): void {
    this.#format = format;
    void this.#draw();
  }

  hide(): void {
    this.#format = null;
    this.#erase();
  }

  print(text: string): void {
    this.#erase();
    this.#stream.write(`${text}\n`);
    void this.#draw();
  }

  async #draw(): Promise<void> {
    if (!this.isEnabled || this.#format === null) return;
    const loaded = await import("cli-progress");
    if (this.#bar || this.#format === null) return;
    const { SingleBar } = loaded.default ?? loaded;
    this.#bar = new SingleBar({
      // Hide the stream's width. Otherwise, cli-progress would count escape codes as characters and cut off the line.
      stream: Object.create(this.#stream, { columns: { value: Number.POSITIVE_INFINITY } }) as OutputStream,
      // The last column stays empty, because some terminals wrap a line that fills it.
      format: () => this.#format?.((this.#stream.columns || 80) - 1) ?? "",
      fps: 10,
      clearOnComplete: true,
      forceRedraw: true,
      // Leave the cursor visible, because a killed process could not show it again.
      hideCursor: false,
      gracefulExit: false,
      // Leave line wrapping enabled, because a killed process could not restore it. The line is never wider than the
      // terminal.
      linewrap: true,
    });
    this.#bar.start(1, 0);
  }

  #erase(): void {
    this.#bar?.stop();
    this.#bar = undefined;
  }
}

export type ReporterOptions = Partial<Record<"json" | "quiet" | "verbose" | "color" | "progress", boolean>> &
  BrandFlags;

/** Waits shorter than this number of milliseconds are not reported. */
const minReportedWaitMs = 2_000;
/** If a request has had no response for this long, the terminal shows that the program is waiting for the host. */
const slowRequestMs = 3_000;
/** The minimum time between two calls of the progress listener during a task, in milliseconds. */
const progressIntervalMs = 2_000;

interface CurrentTask {
  name: string;
  done: number;
  total: number | undefined;
}

/**
 * Prints progress and messages to stderr. On a terminal, progress is a single line that is redrawn. Elsewhere, one line
 * is printed per task. With `--quiet`, only warnings are printed. Control characters are escaped because text may come
 * from the API, and keys are redacted. The reporter must be closed when the command ends.
 */
export class TerminalReporter implements Reporter {
  readonly #deps: ReporterDeps;
  readonly #options: ReporterOptions;
  readonly #style: Style;
  readonly #line: StatusLine;
  readonly #warned = new Set<string>();
  #expected: readonly ExpectedTask[] = [];
  #task: CurrentTask | null = null;
  #position = 0;
  #requestsSent = 0;
  #perMinute: number | null = null;
  #wait = { reason: "", until: Number.NEGATIVE_INFINITY };
  /**
   * The number of unanswered requests, and the time of the last response or, if there was none, of the first request.
   * Null if all requests have been answered.
   */
  #pending: { host: string; count: number; since: number } | null = null;
  #cancelSlowRequest: (() => void) | undefined;
  #progressListener: ((progress: Progress) => void) | null = null;
  #notifiedAt = Number.NEGATIVE_INFINITY;

  constructor(deps: ReporterDeps, options: ReporterOptions) {
    this.#deps = deps;
    this.#options = options;
    this.#style = createStyle(deps.stderr, options, deps.env);
    this.#line = new StatusLine(deps.stderr, showsProgress(deps, options));
    deps.signal.addEventListener("abort", this.#hideLine, { once: true });
  }

  /**
   * Sets the progress listener, or removes it if `listener` is null. The listener is called at the start of each task,
   * every two seconds during a task, and before a long wait.
   */
  setProgressListener(listener: ((progress: Progress) => void) | null): void {
    this.#progressListener = listener;
  }

  expect(tasks: readonly ExpectedTask[]): void {
    this.#expected = tasks;
  }

  begin({ name, total }: { name: string; total?: number }): Task {
    const task: CurrentTask = { name, done: 0, total };
    this.#task = task;
    const index = this.#expected.findIndex((expected) => expected.name === name);
    // Commands with a single task do not call `expect`, so the task is not in the list.
    this.#position = index === -1 ? 1 : index + 1;
    if (!this.#deps.signal.aborted)
      this.#line.show((width) => {
        const options = { perMinute: this.#perMinute, waiting: this.#waitText(), width };
        return progressLine(this.#progress(), this.#style, options);
      });
    this.#notify();
    return {
      update: ({ done, total: newTotal = task.total }) => {
        Object.assign(task, { done, total: newTotal });
        if (this.#deps.clock.monotonic() - this.#notifiedAt >= progressIntervalMs) this.#notify();
      },
      waiting: (ms, reason) => this.waiting(ms, reason),
      end: (summary) => {
        this.#task = null;
        this.#line.hide();
        if (summary === null) return;
        const text = `${this.#style.bold(this.#clean(name))}: ${this.#clean(summary)}`;
        this.#print(wrapLines(text, terminalWidth(this.#deps.stderr)));
      },
    };
  }

  // The methods below are arrow functions, so that callers can pass them without binding `this`.
  readonly note = (text: string): void => this.#print(this.#clean(text));

  readonly warn = (text: string): void => {
    if (this.#warned.has(text)) return;
    this.#warned.add(text);
    this.#line.print(`${this.#style.yellow("warning:")} ${this.#clean(text)}`);
  };

  readonly detail = (text: string): void => {
    if (this.#options.verbose) this.#line.print(this.#style.dim(this.#clean(text)));
  };

  /**
   * Reports a wait. On a terminal, the wait is shown as a countdown. Elsewhere, a line is printed for each new reason,
   * but not during a task, because each task has only one line.
   */
  waiting(ms: number, reason: string): void {
    if (ms < minReportedWaitMs) return;
    this.#notify();
    const isNew = reason !== this.#wait.reason;
    this.#wait = { reason, until: this.#deps.clock.monotonic() + ms };
    if (this.#task) return;
    if (this.#line.isEnabled) this.#line.show((width) => truncate(this.#waitText() ?? "", width));
    else if (isNew) this.#print(this.#waitText() ?? "");
  }

  /** On a terminal, names the host if its response takes more than a few seconds. */
  startRequest(host: string): void {
    const { count = 0, since = this.#deps.clock.monotonic() } = this.#pending ?? {};
    this.#pending = { host, count: count + 1, since };
    this.#cancelSlowRequest?.();
    this.#cancelSlowRequest = this.#deps.setTimer?.(slowRequestMs, () => {
      if (!this.#task) this.#line.show((width) => truncate(this.#waitText() ?? "", width));
    });
  }

  endRequest(): void {
    this.#requestsSent += 1;
    const { host = "", count = 0 } = this.#pending ?? {};
    this.#pending = count > 1 ? { host, count: count - 1, since: this.#deps.clock.monotonic() } : null;
    if (this.#pending === null) this.#cancelSlowRequest?.();
    this.#wait.until = Number.NEGATIVE_INFINITY;
    if (!this.#task) this.#line.hide();
  }

  setRateLimit(perMinute: number | null): void {
    this.#perMinute = perMinute;
  }

  close(): void {
    this.#deps.signal.removeEventListener("abort", this.#hideLine);
    this.#cancelSlowRequest?.();
    this.#line.hide();
  }

  readonly #hideLine = (): void => this.#line.hide();

  #print(text: string): void {
    if (!this.#options.quiet) this.#line.print(text);
  }

  #clean(text: string): string {
    const { apiKeys, env } = this.#deps;
    return escapeLines(hideKeys(addBrandFlags(text, this.#options, env), apiKeys));
  }

  #notify(): void {
    this.#notifiedAt = this.#deps.clock.monotonic();
    this.#progressListener?.(this.#progress());
  }

  /**
   * Sums the estimates for the current task and all remaining tasks. Remaining tasks are estimated from previous runs.
   */
  #progress(): Progress {
    const { done = 0, total = 0 } = this.#task ?? {};
    const current = this.#task && this.#task.total === undefined ? undefined : Math.max(0, total - done);
    const later = this.#expected.slice(this.#position).map(({ requests }) => requests);
    const remaining = [current, ...later];
    return {
      name: this.#task?.name ?? null,
      position: this.#position,
      taskCount: Math.max(1, this.#expected.length),
      requestsSent: this.#requestsSent,
      requestsLeft: remaining.reduce<number>((sum, requests) => sum + (requests ?? 0), 0),
      isLeftKnown: !remaining.includes(undefined),
    };
  }

  #waitText(): string | null {
    const ms = this.#wait.until - this.#deps.clock.monotonic();
    if (ms > 0) return `waiting ${formatDuration(ms)}: ${this.#clean(this.#wait.reason)}`;
    if (this.#pending === null || this.#deps.clock.monotonic() - this.#pending.since < slowRequestMs)
      return null;
    return `waiting for ${this.#clean(this.#pending.host)}`;
  }
}

type ReporterDeps = Pick<Deps, "stderr" | "stdout" | "clock" | "signal" | "env" | "apiKeys" | "setTimer">;

/** True if the progress line can be drawn. If JSON goes to a terminal, it would break up the line, so none is drawn. */
function showsProgress({ stderr, stdout, env }: ReporterDeps, options: ReporterOptions): boolean {
  const isWanted = options.progress !== false && !options.quiet && env.TERM !== "dumb";
  return stderr.isTTY === true && isWanted && !(options.json && stdout.isTTY);
}
