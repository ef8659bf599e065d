import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Creates an empty folder that is removed at the end of the test file. */
export function makeHome(): string {
  const home = mkdtempSync(join(tmpdir(), "brandapi-test-"));
  afterFile(() => rmSync(home, { recursive: true, force: true, maxRetries: 3 }));
  return home;
}

/** The cleanup functions to run at the end of the current test file. */
const cleanups: (() => unknown)[] = [];

/**
 * Registers a cleanup function to run at the end of the current test file. Many test files run in one process, which
 * loads this module only once. An `afterAll` in this module would therefore run only for the first of these files.
 */
export function afterFile(cleanup: () => unknown): void {
  cleanups.push(cleanup);
}

/** Runs the cleanup functions in reverse order. */
export async function runAfterFile(): Promise<void> {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
}
