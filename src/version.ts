import { createRequire } from "node:module";

/** Returns the version from package.json. Its relative path is the same from `src` and from the bundle in `dist`. */
export function readVersion(): string {
  return (createRequire(import.meta.url)("../package.json") as { version: string }).version;
}
