import { statSync } from "node:fs";
import type { Deps } from "../deps.js";
import { findFolders } from "./folders.js";
import { configFile, readProfiles } from "./profiles.js";

/** Every key that the config file holds; none where it cannot be read, which is not for here to say. */
export async function storedKeys(deps: Deps): Promise<string[]> {
  try {
    const { config } = findFolders(deps);
    // A pipe in its place would wait for a writer, before anything can be stopped.
    if (!statSync(configFile(config)).isFile()) return [];
    const profiles = await readProfiles(config, { mending: true });
    return [...profiles.values()].flatMap(({ key }) => key ?? []);
  } catch {
    return [];
  }
}
