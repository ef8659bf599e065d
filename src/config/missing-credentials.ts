import { ConfigurationError } from "../errors.js";
import { quoteShellWord } from "../util/format-text.js";
import { configPath, type PathDeps } from "./folders.js";
import { parseOrigin, type Settings } from "./settings.js";
import { findMisspelledField, readProfiles } from "./stored-profiles.js";
import { findMisspelledVariables } from "./variables.js";

export interface ApiCredentials {
  baseUrl: string;
  key: string;
}

/**
 * Returns the base URL and the key.
 * @throws ConfigurationError if either is missing
 */
export function requireCredentials(settings: Settings, deps: PathDeps): ApiCredentials {
  const { baseUrl, key, profile } = settings;
  if (baseUrl !== undefined && key !== undefined) return { baseUrl, key };
  refuseUnknownProfile(settings, deps);
  const missing = explainMissingCredentials(settings, deps);
  const place = baseUrl === undefined ? "" : ` at ${new URL(baseUrl).origin}`;
  const reason = missing ? ` ${missing.text}` : "";
  throw new ConfigurationError(
    `No ${describeMissingCredentials({ baseUrl, key })} for the profile \`${profile}\`${place}.${reason}`,
    {
      hint:
        missing?.hint ??
        `run \`brandapi login\`${profile === "default" ? ", or set BRANDAPI_KEY and BRANDAPI_BASE_URL" : ""}; if you have no key, try \`brandapi demo\`, or \`brandapi sandbox\`, which prints a key`,
    },
  );
}

/** @throws ConfigurationError if there is no key and the config file contains other profiles but not this one */
export function refuseUnknownProfile(settings: Settings, deps: PathDeps): void {
  if (settings.key !== undefined) return;
  const missing = explainMissingCredentials(settings, deps);
  if (missing?.isUnknownProfile)
    throw new ConfigurationError(`Unknown profile: \`${settings.profile}\`.`, { hint: missing.hint });
}

export function describeMissingCredentials({ baseUrl, key }: Pick<Settings, "baseUrl" | "key">): string {
  if (key !== undefined) return "base URL";
  return baseUrl === undefined ? "key and no base URL" : "key";
}

interface MissingReason {
  text: string;
  hint: string;
  isUnknownProfile?: true;
}

/**
 * Explains why the profile does not provide a key or a base URL, and how to fix that. Returns undefined if the reason
 * is unknown.
 */
export function explainMissingCredentials(
  { profile: name, baseUrl, passedFlags }: Settings,
  deps: PathDeps,
): MissingReason | undefined {
  const { env } = deps;
  const profiles = readProfiles(deps);
  const profile = profiles.get(name) ?? {};
  const list = (words: readonly string[]) => words.join(" and ");

  if (profile.key !== undefined && baseUrl !== undefined)
    return {
      text: `The stored key is for ${parseOrigin(profile.baseUrl)}.`,
      hint: `run \`brandapi login --base-url ${quoteShellWord(baseUrl)}\` to replace the stored key, or omit the base URL`,
    };

  const field = findMisspelledField(profile);
  if (field !== undefined)
    return {
      text: `The config file has an unknown field \`${field.written}\`.`,
      hint: `rename \`${field.written}\` to \`${field.meant}\` in ${configPath(deps)}`,
    };

  const misspelledVariables = findMisspelledVariables(passedFlags, env);
  if (misspelledVariables.length > 0)
    return {
      text: `${list(misspelledVariables.map(({ written }) => `\`${written}\``))} ${misspelledVariables.length === 1 ? "is" : "are"} not used.`,
      hint: `did you mean ${list(misspelledVariables.map(({ meant }) => `\`${meant}\``))}?`,
    };

  if (profiles.has(name)) return undefined;
  const ignored = ["BRANDAPI_BASE_URL", "BRANDAPI_KEY"].filter(
    (variable) => passedFlags.profile && env[variable],
  );
  if (ignored.length > 0)
    return {
      text: `With \`--profile\`, ${list(ignored)} ${ignored.length === 1 ? "is" : "are"} ignored.`,
      hint: `omit \`--profile\` to use ${list(ignored)}, or run \`brandapi login --profile ${name}\` to add the profile`,
    };
  if (env.BRANDAPI_CONFIG_DIR && profiles.size === 0)
    return {
      text: `There are no profiles in BRANDAPI_CONFIG_DIR: ${configPath(deps)}.`,
      hint: "check BRANDAPI_CONFIG_DIR, or run `brandapi login`",
    };
  if (profiles.size === 0 || name === "default") return undefined;
  return {
    isUnknownProfile: true,
    text: "There is no profile with this name.",
    hint: `run \`brandapi profiles\` to list the profiles, or \`brandapi login --profile ${name}\` to add this one`,
  };
}
