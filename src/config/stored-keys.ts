import type { Deps } from "../deps.js";
import { findFolders } from "../paths.js";
import { readProfiles } from "./profiles.js";

/** Every key that the config file holds; none where it cannot be read, which is not for here to say. */
export async function storedKeys(deps: Deps): Promise<string[]> {
  try {
    const profiles = await readProfiles(findFolders(deps).config, { mending: true });
    return [...profiles.values()].flatMap(({ key }) => key ?? []);
  } catch {
    return [];
  }
}
