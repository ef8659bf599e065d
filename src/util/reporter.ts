/** How engines say what they do. They know this interface only; `ui` implements it, commands choose. */
export interface Reporter {
  /** Announces the tasks to come, in order, with the requests that each took the last time, for the time that is left. */
  expect(tasks: readonly ExpectedTask[]): void;
  /** Starts one task, such as a resource's sync. `total` may be learned later. */
  begin(task: { name: string; total?: number }): Task;
  /** A fact worth a line on stderr, not with `--quiet`. */
  note(text: string): void;
  /** Something that the person should act on; each text is printed once a run, also with `--quiet`. */
  warn(text: string): void;
  /** Only with `--verbose`. */
  detail(text: string): void;
}

export interface ExpectedTask {
  name: string;
  /** Undefined where nothing is known before it begins. */
  requests: number | undefined;
}

export interface Task {
  /** How far it is, in requests or in files. */
  update(progress: { done: number; total?: number }): void;
  /** It waits: for the rate budget, the server, or before a retry. */
  waiting(ms: number, reason: string): void;
  /** It is over; `summary` is the one line that cron shows, if there is one. */
  end(summary: string | null): void;
}

/** Says nothing: for tests and for engines used as a library. */
export const silentReporter: Reporter = {
  expect: () => {},
  begin: () => ({ update: () => {}, waiting: () => {}, end: () => {} }),
  note: () => {},
  warn: () => {},
  detail: () => {},
};
