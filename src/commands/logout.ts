import { Command } from "commander";
import { findFolders } from "../config/folders.js";
import { printJson } from "../ui/print.js";
import type { Context, GlobalOptions } from "./context.js";
import { examples } from "./help.js";

export function logout(context: Context): Command {
  return new Command("logout")
    .summary("Remove a profile's base URL and key from this machine")
    .description(
      "The mirror stays. The key itself stays valid until it expires or is revoked in the console.",
    )
    .addHelpText(
      "after",
      examples(
        ["brandapi logout", "forget the default profile's key"],
        ["brandapi logout --profile acme", "forget another brand's"],
      ),
    )
    .action((_, command: Command) => runLogout(command.optsWithGlobals(), context));
}

async function runLogout(options: GlobalOptions, { deps }: Context): Promise<void> {
  const { existsSync } = await import("node:fs");
  const { chooseMirror, chooseProfile } = await import("../config/settings.js");
  const { refuseMistyped } = await import("../config/profiles.js");
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
}
