import { TerminalReporter } from "../cli/progress.js";
import { type GlobalFlags, readSettings } from "../config/settings.js";
import { readProfiles, writeProfiles } from "../config/stored-profiles.js";
import type { Context } from "../deps.js";
import { pathExists } from "../util/files.js";
import { printJson } from "../util/terminal.js";

export const about =
  "The mirror is kept. The key remains valid until it expires or is revoked in the console.";

export const examples = {
  "brandapi logout": "remove the default profile's key",
  "brandapi logout --profile acme": "remove the `acme` profile's key",
};

export async function run(flags: GlobalFlags, { deps }: Context): Promise<void> {
  const { dbPath, profile } = readSettings(flags, deps);
  const profiles = readProfiles(deps);
  const { baseUrl, key, brandId, brandName, keyExpiresAt, ...rest } = profiles.get(profile) ?? {};
  const removed = baseUrl !== undefined || key !== undefined;
  if (Object.keys(rest).length > 0) profiles.set(profile, rest);
  else profiles.delete(profile);
  if (removed) await writeProfiles(profiles, deps);
  const keptPath = pathExists(dbPath) ? dbPath : null;
  if (flags.json) printJson(deps.stdout, { profile, removed, mirror: keptPath });
  const { note, warn } = new TerminalReporter(deps, flags);
  const name = `the profile \`${profile}\``;
  note(removed ? `Removed the base URL and key for ${name}.` : `Nothing was stored for ${name}.`);
  if (keptPath) note(`The mirror has been kept: ${keptPath}`);
  if (deps.env.BRANDAPI_KEY) warn("BRANDAPI_KEY is still set in the environment.");
}
