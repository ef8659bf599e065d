import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

const made: string[] = [];

/** An empty folder of a test's own, removed when the test file is done. */
export function makeHome(): string {
  const home = mkdtempSync(join(tmpdir(), "brandapi-test-"));
  made.push(home);
  return home;
}

afterAll(() => {
  for (const home of made.splice(0)) rmSync(home, { recursive: true, force: true, maxRetries: 3 });
});
