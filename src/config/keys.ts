import { readFileSync, statSync } from "node:fs";
import { parseArgs } from "node:util";
import type { Deps } from "../deps.js";
import { expandPath } from "./folders.js";
import { readStored } from "./profiles.js";

/**
 * Returns the keys of all profiles and of `--key-file`. A file that cannot be read is ignored here, because reading the
 * settings reports it.
 */
export function keysInUse(argv: readonly string[], deps: Deps): string[] {
  const options = { "key-file": { type: "string" } } as const;
  const file = parseArgs({ args: [...argv], options, strict: false }).values["key-file"];
  const stored = quietly(() => [...readStored(deps).profiles.values()].flatMap(({ key }) => key ?? []));
  const ofFile = quietly(() => {
    if (typeof file !== "string") return [];
    const path = expandPath(file, deps);
    // A pipe is left alone, because it can be read only once. A file that others may read holds a key all the same.
    return statSync(path).isFile() ? [readFileSync(path, "utf8").trim()] : [];
  });
  return [...stored, ...ofFile];
}

function quietly(read: () => string[]): string[] {
  try {
    return read();
  } catch {
    return [];
  }
}
