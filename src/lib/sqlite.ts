import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { versions } from "node:process";
import { fileURLToPath } from "node:url";
import { ConfigurationError } from "../errors.js";
import { shellWord } from "./shell.js";

/**
 * better-sqlite3, loaded where it is first needed.
 * @throws ConfigurationError where it would abort the process
 */
export async function loadSqlite(): Promise<typeof import("better-sqlite3")> {
  const aborting = isAborting();
  if (aborting)
    throw new ConfigurationError(
      `better-sqlite3 was compiled with headers that make Node ${versions.node} abort when it is used.`,
      { hint: `run \`node ${shellWord(rebuildScript())}\`: it is compiled again, without that` },
    );
  return (await import("better-sqlite3")).default;
}

let answer: boolean | undefined;

/**
 * Since 24.19, Node's header has each wrapped object unhook itself when it is collected. Node 24 aborts at that, 26 does
 * not. Only what was compiled with that header does so, no prebuilt binary, and it names the function.
 */
function isAborting(): boolean {
  const [major = 0, minor = 0] = versions.node.split(".").map(Number);
  answer ??= major === 24 && minor >= 19 && namesHook();
  return answer;
}

function namesHook(): boolean {
  try {
    const file = createRequire(import.meta.url).resolve("better-sqlite3/build/Release/better_sqlite3.node");
    return holdsHook(readFileSync(file));
  } catch {
    // It is not there: loading it says so.
    return false;
  }
}

/** @param binary of a native module */
export function holdsHook(binary: Buffer): boolean {
  return binary.includes("ObjectWrap11CleanupHook");
}

function rebuildScript(): string {
  return fileURLToPath(new URL("../../bin/rebuild.js", import.meta.url));
}
