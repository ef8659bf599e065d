import { readFileSync, statSync } from "node:fs";
import { rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { CommandLine, Deps } from "../deps.js";
import { ConfigurationError } from "../errors.js";
import { createFolder, pathExists, readTextFile, resolveLinks } from "../util/files.js";
import { findJsonFault } from "../util/json-fault.js";
import { isObject, parseJson } from "../util/json-value.js";
import { abbreviate } from "../util/redact-keys.js";
import { closestName } from "../util/suggestions.js";
import { releaseTempFile, reserveTempFile } from "../util/temp-files.js";
import { checkPrivate, isReadableByOthers, noPermissionsHint } from "./credentials.js";
import { configPath, expandPath, type PathDeps, platformFolder } from "./folders.js";

/** A brand's entry in the config file. Unknown fields are preserved when the file is rewritten. */
export interface Profile {
  baseUrl?: string;
  key?: string;
  db?: string | undefined;
  /**
   * The brand and the key's expiry date. `login` stores them so that `status` and `profiles` need no network access.
   */
  brandId?: string;
  brandName?: string;
  keyExpiresAt?: string | undefined;
  ping?: string | undefined;
  /** The fields to omit from the mirror, separated by commas. */
  omit?: string | undefined;
}

export type Profiles = Map<string, Profile>;

/**
 * Reads the profiles from `config.json`: `{"profiles": {"<name>": {"baseUrl", "key", "db", …}}}`.
 * @returns an empty map if there is no config file
 * @throws ConfigurationError if the file is invalid, or if it contains a key and other users can read it
 */
export function readProfiles(deps: PathDeps): Profiles {
  const { profiles } = readConfigFile(deps);
  const hasKey = [...profiles.values()].some(({ key }) => key !== undefined);
  if (hasKey) checkPrivate(configPath(deps), deps);
  return profiles;
}

/**
 * Parses the config file without checking its permissions.
 * @throws ConfigurationError if the file is invalid
 */
function readConfigFile(deps: PathDeps): { root: object; profiles: Profiles } {
  const path = configPath(deps);
  const text = pathExists(path) ? readTextFile(path) : '{"profiles": {}}';
  const root = parseJson<unknown>(text);
  const fault = root === undefined ? findJsonFault(text) : null;
  if (fault !== null)
    throw new ConfigurationError(
      `The config file is not valid JSON (line ${fault.line}: ${fault.reason}): ${path}`,
      { hint: `fix the line, ${startOverHint}` },
    );
  const stored: unknown = isObject(root) ? root.profiles : undefined;
  const entries: [string, unknown][] | undefined = isObject(stored) ? Object.entries(stored) : undefined;
  if (isObject(root) && entries?.every(isNamedProfile)) return { root, profiles: new Map(entries) };
  throw new ConfigurationError(`The config file is not valid: ${path}`, {
    hint: configFileHint(root, stored),
  });
}

// The file contains the keys of all profiles, so the hint does not suggest deleting it.
const startOverHint = "or move the file away and run `brandapi login` for each profile";

const profileFields = ["baseUrl", "key", "db", "brandId", "brandName", "keyExpiresAt", "ping", "omit"];

/**
 * Returns the hint for an invalid config file. Because the file contains keys, the hint quotes only names that are not
 * secret.
 */
function configFileHint(root: unknown, stored: unknown): string {
  if (!isObject(root)) return `put the profiles in an object, \`{"profiles": {…}}\`, ${startOverHint}`;
  const misspelled = Object.keys(root).find((name) => closestName(name, ["profiles"]) !== undefined);
  if (stored === undefined && misspelled !== undefined) return `rename \`${misspelled}\` to \`profiles\``;
  if (!isObject(stored)) return `add the missing \`profiles\` object, ${startOverHint}`;
  const wrong = Object.entries(stored).flatMap(([name, profile]) =>
    isObject(profile)
      ? Object.keys(profile)
          .filter((field) => typeof profile[field] !== "string")
          .map((field) =>
            profileFields.includes(field)
              ? `\`${field}\` of the profile \`${name}\` is not a string; put its value in quotes`
              : `\`${abbreviate(field)}\` of the profile \`${name}\` is not supported; ${unknownFieldHint(field)}`,
          )
      : [`fix or remove the profile \`${name}\`, which is not an object`],
  );
  return wrong[0] ?? `fix its profiles, ${startOverHint}`;
}

/** Returns a hint that explains how to fix an unknown field in a profile. */
export function unknownFieldHint(field: string): string {
  if (/^rate_?limit$/i.test(field)) return "remove it, and use `--rate-limit` or BRANDAPI_RATE_LIMIT";
  const meant = findSimilarField(field, profileFields);
  return meant === undefined ? "remove it" : `rename it to \`${meant}\``;
}

/** Maps patterns that match the name of an unknown field to the field that the user probably meant. */
const fieldWords: readonly [pattern: RegExp, meant: string][] = [
  [/^(?:api|access|secret|brand)?_?(?:key|token|secret)$/i, "key"],
  [/url|host|endpoint|server/i, "baseUrl"],
  [/mirror|database|sqlite/i, "db"],
];

function findSimilarField(written: string, fields: readonly string[]): string | undefined {
  const meant = fieldWords.find(([pattern]) => pattern.test(written))?.[1];
  return meant !== undefined && fields.includes(meant) ? meant : closestName(written, fields);
}

/** Returns the names of a profile's unknown fields, which brandapi ignores. */
export function listUnknownFields(profile: Profile): string[] {
  return Object.keys(profile).filter((field) => !profileFields.includes(field));
}

/** Finds an unknown field whose name is probably a misspelling of a field that the profile lacks. */
export function findMisspelledField(profile: Profile): { written: string; meant: string } | undefined {
  const missing = profileFields.filter((field) => !(field in profile));
  for (const written of Object.keys(profile)) {
    const meant = profileFields.includes(written) ? undefined : findSimilarField(written, missing);
    if (meant !== undefined) return { written, meant };
  }
  return undefined;
}

/**
 * Replaces the profiles in the config file atomically, and preserves everything else in the file. The folder gets mode
 * 0700, and the file gets mode 0600.
 * @throws ConfigurationError if other users could read the file, in which case nothing is stored
 */
export async function writeProfiles(profiles: Profiles, deps: Deps): Promise<void> {
  const root = { ...readConfigFile(deps).root, profiles: Object.fromEntries(profiles) };
  const target = await resolveLinks(configPath(deps));
  createFolder(dirname(target), 0o700);
  await deps.runGracefully(async () => {
    const tempPath = await reserveTempFile(target, deps.random);
    try {
      await writeFile(tempPath, `${JSON.stringify(root, null, 2)}\n`, {
        flag: "wx",
        mode: 0o600,
        flush: true,
      });
      if (isReadableByOthers(await stat(tempPath), deps))
        throw new ConfigurationError(
          `Nothing was stored, because other users could read the key: ${target}`,
          {
            hint: `the file system does not support permissions; ${noPermissionsHint}`,
          },
        );
      await rename(tempPath, target);
    } finally {
      await rm(tempPath, { force: true });
      releaseTempFile(tempPath);
    }
  });
}

export function readProfilesWithKey(deps: PathDeps): [name: string, stored: Profile][] {
  return [...readProfiles(deps)].filter(([, { key }]) => key !== undefined);
}

/**
 * Returns the path of a profile's mirror.
 * @param givenPath the path from a flag, the environment or the profile, or undefined for the default path
 */
export function mirrorPath(name: string, givenPath: string | undefined, deps: PathDeps): string {
  return givenPath === undefined
    ? join(platformFolder("data", deps), `${name}.sqlite`)
    : expandPath(givenPath, deps);
}

function isNamedProfile(entry: [string, unknown]): entry is [string, Profile] {
  return isObject(entry[1]) && Object.values(entry[1]).every((member) => typeof member === "string");
}

/**
 * Returns the keys in the environment, in all profiles and in the `--key-file`. Ignores unreadable files, which are
 * reported when the settings are read.
 */
export function readKeysInUse({ keyFile }: CommandLine, deps: Deps): string[] {
  const fromEnv = deps.env.BRANDAPI_KEY ? [deps.env.BRANDAPI_KEY.trim()] : [];
  const stored = ignoreErrors(() =>
    [...readConfigFile(deps).profiles.values()].flatMap(({ key }) => key ?? []),
  );
  const fromFile = ignoreErrors(() => {
    if (keyFile === undefined) return [];
    const path = expandPath(keyFile, deps);
    // Skip pipes, which can be read only once.
    return statSync(path).isFile() ? [readFileSync(path, "utf8").trim()] : [];
  });
  return [...fromEnv, ...stored, ...fromFile];
}

function ignoreErrors(read: () => string[]): string[] {
  try {
    return read();
  } catch {
    return [];
  }
}
