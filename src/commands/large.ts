import { statSync } from "node:fs";
import { findFolders } from "../config/folders.js";
import type { Apart, Deps } from "../deps.js";
import type { GlobalOptions, Invocation } from "./command.js";

/** Bytes; the longest of the program's own statements takes half a second on a mirror of this size. */
const largeMirror = 64e6;

/** For a command whose own statements take long on a large mirror only. What is wrong here the command itself will say. */
export async function apartIfLarge({
  deps,
  options,
}: Pick<Invocation<{ allProfiles?: boolean }>, "deps" | "options">): Promise<Apart | undefined> {
  try {
    const mirrors = options.allProfiles ? await allMirrors(deps) : [await oneMirror(options, deps)];
    const isLarge = (path: string) => (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > largeMirror;
    return mirrors.some(isLarge) ? {} : undefined;
  } catch {
    return undefined;
  }
}

async function allMirrors(deps: Deps): Promise<string[]> {
  const { readKnownProfiles } = await import("../config/known.js");
  return (await readKnownProfiles(deps)).map(({ mirror }) => mirror);
}

async function oneMirror(options: GlobalOptions, deps: Deps): Promise<string> {
  const { chooseMirror, chooseProfile } = await import("../config/settings.js");
  const { readProfiles } = await import("../config/profiles.js");
  const name = chooseProfile(options, deps.env);
  const profile = (await readProfiles(findFolders(deps).config)).get(name) ?? {};
  return chooseMirror(options, deps, name, profile);
}
