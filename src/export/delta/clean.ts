import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Log } from "./log.js";

/** The names that an export gives to files: data, and what is not whole yet. */
const own = /^((month=[\d-]+\/)?\.?part-|_delta_log\/\.)[^/]+$/;

/** Removes files that no version has named since a time, such as those that a killed export left. */
export function cleanUp({ folder, files, removed }: Log, since: number): void {
  const named = new Set([...files.values()].map(({ path }) => path));
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    if (!own.test(name) || named.has(name)) continue;
    const path = join(folder, name);
    const unusedSince = removed.get(name) ?? statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? since;
    if (unusedSince < since) rmSync(path, { force: true });
  }
}
