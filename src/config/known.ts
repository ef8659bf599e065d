import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Deps } from "../deps.js";
import { UsageError } from "../errors.js";
import { nearest } from "../lib/nearest.js";
import { expandPath, findFolders } from "./folders.js";
import { isProfileName, type Profile, type Profiles, readProfiles } from "./profiles.js";

/** A brand that is set up on this machine: by `login`, or by a mirror in the data folder. */
export interface KnownProfile {
  name: string;
  stored: Profile;
  /** The path of its own mirror, which need not be there yet. */
  mirror: string;
}

type Surroundings = Pick<Deps, "env" | "cwd" | "home" | "platform">;

/** Where one folder serves for everything, as on macOS, the rate budget lies among the mirrors. */
const rateBudget = "rate";

/** The profiles of the config file in its order, then those that only have a mirror. */
export async function readKnownProfiles(deps: Surroundings): Promise<KnownProfile[]> {
  const { config, data } = findFolders(deps);
  const stored = await readProfiles(config);
  const mirrored = existsSync(data) ? readdirSync(data).sort() : [];
  const names = mirrored
    .filter((file) => file.endsWith(".sqlite"))
    .map((file) => file.slice(0, -".sqlite".length))
    .filter((name) => isProfileName(name) && name !== rateBudget);
  return [...new Set([...stored.keys(), ...names])].map((name) => {
    const profile = stored.get(name) ?? {};
    return { name, stored: profile, mirror: ownMirror(name, profile, deps) };
  });
}

/** The mirror of a profile where neither a flag nor the environment names another. */
export function ownMirror(name: string, { db }: Profile, deps: Surroundings): string {
  return db ? expandPath(db, deps) : join(findFolders(deps).data, `${name}.sqlite`);
}

/**
 * A mistyped name would begin a second mirror, wherever the key comes from.
 * @throws UsageError for a profile that is not known here, and whose name is near one that is stored
 */
export function refuseMistyped(name: string, stored: Profiles, deps: Surroundings): void {
  const near = stored.has(name) ? undefined : nearest(name, stored.keys());
  if (near === undefined || existsSync(ownMirror(name, {}, deps))) return;
  throw new UsageError(`Unknown profile: \`${name}\`.`, {
    hint: `did you mean \`${near}\`? A new brand begins with \`brandapi login --profile ${name}\``,
  });
}
