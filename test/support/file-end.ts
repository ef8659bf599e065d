/** The cleanups to run at the end of the current test file. */
const cleanups: (() => unknown)[] = [];

/**
 * Registers a cleanup for the end of the current test file. Many test files run in one process, which loads this module
 * once, so an `afterAll` in an imported module would only run for the first of them.
 */
export function afterFile(cleanup: () => unknown): void {
  cleanups.push(cleanup);
}

/** Runs the cleanups, the last one first. */
export async function runAfterFile(): Promise<void> {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
}
