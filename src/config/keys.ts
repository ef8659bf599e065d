import { statSync } from "node:fs";
import { parseArgs } from "node:util";
import type { Deps } from "../deps.js";
import { readKeyFile } from "./access.js";
import { expandPath } from "./folders.js";
import { readStored } from "./profiles.js";

/**
 * Returns the keys that must not stand on a command line, whatever their shape: those of all profiles, and that of
 * `--key-file`. A file that cannot be read is passed over, because reading the settings reports it.
 */
export function keysInUse(argv: readonly string[], deps: Deps): string[] {
  const options = { "key-file": { type: "string" } } as const;
  const file = parseArgs({ args: [...argv], options, strict: false }).values["key-file"];
  const path = typeof file === "string" ? expandPath(file, deps) : undefined;
  const stored = quietly(() => [...readStored(deps).profiles.values()].flatMap(({ key }) => key ?? []));
  // A pipe is left alone, because it can be read only once.
  return [...stored, ...quietly(() => (path && statSync(path).isFile() ? [readKeyFile(path, deps)] : []))];
}

function quietly(read: () => string[]): string[] {
  try {
    return read();
  } catch {
    return [];
  }
}
