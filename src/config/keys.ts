import { readFileSync, statSync } from "node:fs";
import { parseArgs } from "node:util";
import type { Deps } from "../deps.js";
import { checkKey } from "./access.js";
import { expandPath } from "./folders.js";
import { storedKeys } from "./profiles.js";

/**
 * Returns the keys that must not stand on a command line, whatever their shape: those of all profiles, and that of
 * `--key-file`. A file that cannot be read is passed over, because reading the settings reports it.
 */
export function keysInUse(argv: readonly string[], deps: Deps): string[] {
  const options = { "key-file": { type: "string" } } as const;
  const path = parseArgs({ args: [...argv], options, strict: false }).values["key-file"];
  return [...storedKeys(deps), ...(typeof path === "string" ? keyIn(expandPath(path, deps)) : [])];
}

/** A pipe is left alone, because it can be read only once. */
function keyIn(path: string): string[] {
  try {
    return statSync(path).isFile() ? [checkKey(readFileSync(path, "utf8"), path)] : [];
  } catch {
    return [];
  }
}
