import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { versions } from "node:process";
import { packageFile } from "../deps.js";
import { ConfigurationError } from "../errors.js";
import { shellWord } from "./shell.js";

/**
 * Returns better-sqlite3, loaded when it is first needed.
 * @throws ConfigurationError if it would abort the process
 */
export async function loadSqlite(): Promise<typeof import("better-sqlite3")> {
  aborts ??= isAborting();
  if (aborts)
    throw new ConfigurationError(
      `better-sqlite3 was compiled with headers that make Node ${versions.node} abort when it is used.`,
      {
        hint: `run \`node ${shellWord(packageFile("bin/rebuild.js"))}\`: it is compiled again, without that`,
      },
    );
  return (await import("better-sqlite3")).default;
}

let aborts: boolean | undefined;

/**
 * True for a module compiled with the header of Node 24.19 or later, which has each wrapped object unhook itself when it
 * is collected: Node 24 aborts at that, 26 does not. Prebuilt binaries have no such hook.
 */
function isAborting(): boolean {
  const [major = 0, minor = 0] = versions.node.split(".").map(Number);
  if (major !== 24 || minor < 19) return false;
  try {
    const file = createRequire(import.meta.url).resolve("better-sqlite3/build/Release/better_sqlite3.node");
    return holdsHook(readFileSync(file));
  } catch {
    // A missing file is reported when it is loaded.
    return false;
  }
}

/** @param binary of a native module */
export function holdsHook(binary: Buffer): boolean {
  return binary.includes("ObjectWrap11CleanupHook");
}
