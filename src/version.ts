import { createRequire } from "node:module";

/**
 * Returns the version in package.json. The relative path to that file is the same from `src` and from the bundle in
 * `dist`.
 */
export function readVersion(): string {
  return (createRequire(import.meta.url)("../package.json") as { version: string }).version;
}
