import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterFile } from "./file-end.js";

/** An empty folder of a test's own, removed when the test file is done. */
export function makeHome(): string {
  const home = mkdtempSync(join(tmpdir(), "brandapi-test-"));
  afterFile(() => rmSync(home, { recursive: true, force: true, maxRetries: 3 }));
  return home;
}
