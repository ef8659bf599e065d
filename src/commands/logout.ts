import { findFolders } from "../config/folders.js";
import { exitCodes } from "../errors.js";
import { printJson } from "../ui/data.js";
import { defineCommand } from "./command.js";

export const logout = defineCommand({
  name: "logout",
  summary: "Remove a profile's base URL and key from this machine",
  description: "The mirror stays. The key itself stays valid until it expires or is revoked in the console.",
  arguments: [],
  flags: [],
  examples: [
    { command: "brandapi logout", about: "forget the default profile's key" },
    { command: "brandapi logout --profile acme", about: "forget another brand's" },
  ],

  async run({ deps, options }) {
    const { existsSync } = await import("node:fs");
    const { chooseMirror, chooseProfile } = await import("../config/settings.js");
    const { refuseMistyped } = await import("../config/known.js");
    const { readProfiles, writeProfiles } = await import("../config/profiles.js");
    const { createReporter } = await import("../ui/reporter.js");
    const reporter = createReporter(deps, options);
    const name = chooseProfile(options, deps.env);
    const { config } = findFolders(deps);
    // Loose permissions are no obstacle here: the file is rewritten with safe ones, and without the key.
    const profiles = await readProfiles(config, { mending: true });
    if (!profiles.has(name)) refuseMistyped(name, profiles, deps);
    const { baseUrl, key, brandId, brandName, keyId, keyExpiresAt, ...rest } = profiles.get(name) ?? {};
    const removed = baseUrl !== undefined || key !== undefined;
    if (removed) {
      if (Object.keys(rest).length > 0) profiles.set(name, rest);
      else profiles.delete(name);
      await writeProfiles(config, profiles);
    }
    const mirror = chooseMirror(options, deps, name, rest);
    const kept = existsSync(mirror) ? mirror : null;
    if (options.json) printJson(deps.stdout, { profile: name, removed, mirror: kept });
    reporter.note(
      removed
        ? `Removed the base URL and key of the profile \`${name}\` from this machine.`
        : `Nothing was stored for the profile \`${name}\`.`,
    );
    if (kept) reporter.note(`The mirror is kept: ${kept}`);
    for (const variable of ["BRANDAPI_KEY", "BRANDAPI_BASE_URL"])
      if (deps.env[variable]) reporter.warn(`${variable} is still set in the environment.`);
    reporter.close();
    return exitCodes.done;
  },
});
