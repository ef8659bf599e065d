import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterFile } from "./file-end.js";

/** Creates an empty folder that is removed at the end of the test file. */
export function makeHome(): string {
  const home = mkdtempSync(join(tmpdir(), "brandapi-test-"));
  afterFile(() => rmSync(home, { recursive: true, force: true, maxRetries: 3 }));
  return home;
}
