import { existsSync, rmSync, writeFileSync } from "node:fs";
import { isAbsolute, join, relative } from "node:path";
import { expandPath } from "../config/folders.js";
import type { Deps } from "../deps.js";
import { UsageError } from "../errors.js";
import { makeFolder } from "../lib/make-folder.js";
import { mirrorFiles } from "../mirror/index.js";

/** Lies in a folder that a demonstration has made, so that the next one may clear it. */
const markName = ".brandapi-demo";

/**
 * Makes the folder, and removes the mirror and the files of an earlier demonstration.
 * @param files the names of what will be written, besides the mirror
 * @returns the folder's path, the same as a person in the current folder names it, and the mirror's path
 * @throws UsageError, before anything is touched, if such files are in a folder that no demonstration has made
 */
export function openFolder(out: string, files: readonly string[], deps: Deps) {
  const path = expandPath(out, deps);
  const shown = isAbsolute(out) ? out : relative(deps.cwd, path) || ".";
  const mirror = join(path, "demo.sqlite");
  const written = [...mirrorFiles(mirror), ...files.map((name) => join(path, name))];
  const mark = join(path, markName);
  if (!existsSync(mark) && written.some((file) => existsSync(file)))
    throw new UsageError(`This folder has files the demo did not write: ${shown}.`, {
      hint: "choose another with `--out`",
    });
  makeFolder(path);
  for (const file of written) rmSync(file, { force: true });
  writeFileSync(mark, "");
  return { path, shown, mirror };
}
