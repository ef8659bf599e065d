import { createRequire } from "node:module";

/** Returns the version from package.json, which has the same relative path from `src` and from the bundle in `dist`. */
export function readVersion(): string {
  return (createRequire(import.meta.url)("../package.json") as { version: string }).version;
}
