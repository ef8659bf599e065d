import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expandPath } from "../config/folders.js";
import type { Deps } from "../deps.js";
import { UsageError } from "../errors.js";
import { makeFolder } from "../lib/make-folder.js";
import { mirrorFiles } from "../mirror/index.js";

/** Lies in a folder that a demonstration has made, so that the next one may clear it. */
const markName = ".brandapi-demo";

/**
 * Makes the folder, and removes the mirror of an earlier demonstration; its exports are replaced.
 * @returns the paths of the folder and of the mirror in it
 * @throws UsageError, before anything is touched, if the folder holds files and no demonstration has made it
 */
export function openFolder(out: string, deps: Deps) {
  const path = expandPath(out, deps);
  const mirror = join(path, "demo.sqlite");
  const mark = join(path, markName);
  if (!existsSync(mark) && existsSync(path) && readdirSync(path).length > 0)
    throw new UsageError(`This folder has files the demo did not write: ${out}.`, {
      hint: "choose another with `--out`",
    });
  makeFolder(path);
  for (const file of mirrorFiles(mirror)) rmSync(file, { force: true });
  writeFileSync(mark, "");
  return { path, mirror };
}
