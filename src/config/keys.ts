import { statSync } from "node:fs";
import { parseArgs } from "node:util";
import type { Deps } from "../deps.js";
import { readKeyFile } from "./access.js";
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
    // A pipe is left alone, because it can be read only once.
    return statSync(expandPath(file, deps)).isFile() ? [readKeyFile(file, deps)] : [];
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
