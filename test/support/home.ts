import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Creates an empty folder that is removed when the test file ends. */
export function makeHome(): string {
  const home = mkdtempSync(join(tmpdir(), "brandapi-test-"));
  afterFile(() => rmSync(home, { recursive: true, force: true, maxRetries: 3 }));
  return home;
}

const cleanups: (() => unknown)[] = [];

/**
 * Registers a cleanup function for the end of the test file. The test files share one process, which loads this module
 * once, so an `afterAll` in the module would run only for the first file.
 */
export function afterFile(cleanup: () => unknown): void {
  cleanups.push(cleanup);
}

export async function runAfterFile(): Promise<void> {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
}
