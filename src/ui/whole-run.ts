import type { Expected } from "../lib/reporter.js";

/** How far a run of several tasks is. */
export interface WholeProgress {
  /** The task under way; null between two. */
  name: string | null;
  /** Which of how many. */
  position: number;
  of: number;
  requests: number;
  /** Requests to come, as far as is known. */
  left: number;
  /** Whether it is known of all that is to come. */
  isKnown: boolean;
}

/** Follows the tasks of a run: how many are done, and what is left of this one and of those to come. */
export interface WholeRun {
  expect(tasks: readonly Expected[]): void;
  begin(name: string): void;
  /** Of the task under way; `left` undefined where nothing is known of it yet. */
  update(left: number | undefined): void;
  end(name: string): void;
  answered(): void;
  progress(): WholeProgress;
}

export function followRun(): WholeRun {
  let expected: readonly Expected[] = [];
  let begun = 0;
  let requests = 0;
  let current: { name: string; left: number | undefined } | null = null;
  return {
    expect(tasks) {
      expected = tasks;
      begun = 0;
    },
    begin(name) {
      current = { name, left: undefined };
      const at = expected.findIndex((task) => task.name === name);
      begun = Math.max(at, 0) + 1;
    },
    update(left) {
      if (current) current.left = left;
    },
    end(name) {
      if (current?.name === name) current = null;
    },
    answered() {
      requests += 1;
    },
    progress() {
      const toCome = expected.slice(begun).map((task) => task.requests);
      const all = current ? [current.left, ...toCome] : toCome;
      return {
        name: current?.name ?? null,
        position: begun,
        of: Math.max(1, expected.length),
        requests,
        left: all.reduce<number>((sum, one) => sum + (one ?? 0), 0),
        isKnown: !all.includes(undefined),
      };
    },
  };
}
