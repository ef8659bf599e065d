import type { Clock } from "../deps.js";

/** A moment to come: false once it has passed, true when it was called off. */
export interface Due {
  passed: Promise<boolean>;
  cancel(): void;
}

export function dueIn(clock: Clock, ms: number): Due {
  const off = new AbortController();
  const passed = clock.sleep(ms, off.signal).then(
    () => false,
    () => true,
  );
  return { passed, cancel: () => off.abort() };
}

export function never(): Due {
  return { passed: Promise.resolve(true), cancel() {} };
}

/** Whether the next page comes before the ones in hand should be written. */
export async function arrivesBefore(due: Promise<boolean>, next: Promise<unknown>): Promise<boolean> {
  const settled = next.then(
    () => true,
    () => true,
  );
  return await Promise.race([settled, due]);
}
