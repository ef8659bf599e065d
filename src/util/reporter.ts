/** Receives progress and messages of sync, verify and download. `cli/progress.ts` implements it for the terminal. */
export interface Reporter {
  /**
   * Announces the upcoming tasks in order, with the requests that each took last time, to estimate the remaining time.
   */
  expect(tasks: readonly ExpectedTask[]): void;
  /** Starts a task, such as the sync of a resource. `total` can be set later by `update`. */
  begin(task: { name: string; total?: number }): Task;
  /** Prints a line on stderr, except with `--quiet`. */
  note(text: string): void;
  /** Prints a warning that needs action, also with `--quiet`. Each text is printed once per run. */
  warn(text: string): void;
  /** Prints a line with `--verbose` only. */
  detail(text: string): void;
}

export interface ExpectedTask {
  name: string;
  /** Undefined if unknown. */
  requests: number | undefined;
}

export interface Task {
  /** Sets the progress, in requests or in files. */
  update(progress: { done: number; total?: number }): void;
  /** Reports a wait: for the rate limit, for the server, or before a retry. */
  waiting(ms: number, reason: string): void;
  /** Ends the task. `summary` is the line to print, if any. */
  end(summary: string | null): void;
}

/** A reporter that prints nothing. */
export const silentReporter: Reporter = {
  expect: () => {},
  begin: () => ({ update: () => {}, waiting: () => {}, end: () => {} }),
  note: () => {},
  warn: () => {},
  detail: () => {},
};
