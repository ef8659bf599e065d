/** Receives the progress and messages of sync, verify and download. `cli/progress.ts` prints them. */
export interface Reporter {
  /** Announces the upcoming tasks, so that the remaining time can be estimated. */
  expect(tasks: readonly ExpectedTask[]): void;
  /** Starts a task, such as the sync of a resource. `update` can set `total` later. */
  begin(task: { name: string; total?: number }): Task;
  /** Prints a line to stderr unless `--quiet` is set. */
  note(text: string): void;
  /** Prints a warning once per run, even with `--quiet`. */
  warn(text: string): void;
  /** Prints a line if `--verbose` is set. */
  detail(text: string): void;
}

export interface ExpectedTask {
  name: string;
  /** The number of requests in the last run, or undefined if unknown. */
  requests: number | undefined;
}

export interface Task {
  /** Sets the progress as a number of requests or files. */
  update(progress: { done: number; total?: number }): void;
  /** Reports a wait for the rate limit, the server or a retry. */
  waiting(ms: number, reason: string): void;
  /** Ends the task and prints `summary`, if any. */
  end(summary: string | null): void;
}

export const silentReporter: Reporter = {
  expect: () => {},
  begin: () => ({ update: () => {}, waiting: () => {}, end: () => {} }),
  note: () => {},
  warn: () => {},
  detail: () => {},
};
