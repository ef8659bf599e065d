/**
 * Receives progress and messages from sync, verify and download. `cli/progress.ts` prints them.
 *
 * Each run counts its requests in a `RunProgress` (`sync/session.ts`), which updates a `Task`. The reporter combines
 * the tasks into the command's `Progress` (`cli/progress.ts`), which a mirror session saves as `StoredProgress`
 * (`store/mirror-lock.ts`) for `status`.
 */
export interface Reporter {
  /** Sets the list of upcoming tasks, so that the remaining time can be estimated. */
  expect(tasks: readonly ExpectedTask[]): void;
  /** Starts a task, such as the sync of a resource. If `total` is unknown, `update` can set it later. */
  begin(task: { name: string; total?: number }): Task;
  /** Prints a line to stderr unless `--quiet` is set. */
  note(text: string): void;
  /** Prints a warning, even with `--quiet`. Each warning is printed only once per run. */
  warn(text: string): void;
  /** Prints a line if `--verbose` is set. */
  detail(text: string): void;
}

export interface ExpectedTask {
  name: string;
  requests: number | undefined;
}

export interface Task {
  /** Sets the task's progress, counted in requests or files. */
  update(progress: { done: number; total?: number }): void;
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
