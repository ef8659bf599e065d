import { statSync } from "node:fs";
import type { Apart } from "../deps.js";
import { findFolders } from "../paths.js";
import type { Invocation } from "./command.js";

/** Bytes; the longest of the program's own statements takes half a second on a mirror of this size. */
const largeMirror = 64e6;

/** For a command whose own statements take long on a large mirror only. What is wrong here the command itself will say. */
export async function apartIfLarge({
  deps,
  options,
}: Pick<Invocation<object>, "deps" | "options">): Promise<Apart | undefined> {
  const { chooseMirror, chooseProfile } = await import("../config.js");
  const { readProfiles } = await import("../config/profiles.js");
  try {
    const name = chooseProfile(options, deps.env);
    const profile = (await readProfiles(findFolders(deps).config)).get(name) ?? {};
    return statSync(chooseMirror(options, deps, name, profile)).size > largeMirror ? {} : undefined;
  } catch {
    return undefined;
  }
}
