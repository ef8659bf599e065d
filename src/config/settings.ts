import { dirname } from "node:path";
import type { Deps, Env } from "../deps.js";
import { ConfigurationError, UsageError } from "../errors.js";
import { pathExists } from "../util/files.js";
import { quoteShellWord } from "../util/format-text.js";
import { abbreviate } from "../util/redact-keys.js";
import { closestName } from "../util/suggestions.js";
import { parseBaseUrl, parseKey, readKeyFile } from "./credentials.js";
import { configPath } from "./folders.js";
import {
  listUnknownFields,
  mirrorPath,
  type Profile,
  type Profiles,
  readProfiles,
} from "./stored-profiles.js";
import { brandEnv, checkVariables } from "./variables.js";

export interface GlobalFlags {
  profile?: string;
  db?: string;
  baseUrl?: string | undefined;
  keyFile?: string;
  rateLimit?: number | "none";
  maxWait?: number;
  json?: boolean;
  quiet?: boolean;
  verbose?: boolean;
  /** False if `--no-color` is given. Output that does not go to a terminal is never colored. */
  color?: boolean;
  progress?: boolean;
}

/** The flags that override environment variables. */
export type OverridingFlags = Pick<GlobalFlags, "baseUrl" | "db" | "keyFile" | "profile" | "rateLimit">;

export interface Settings {
  profile: string;
  baseUrl: string | undefined;
  key: string | undefined;
  /**
   * The source of the key: `BRANDAPI_KEY`, `--key-file` or the profile. Undefined if the user has just entered the key.
   */
  keySource?: "variable" | "file" | "profile" | undefined;
  dbPath: string;
  /**
   * The brand that `login` stored in the profile. Undefined if it is unknown, or if the user specified a different
   * mirror file.
   */
  brand: { id: string; name: string } | undefined;
  rateLimit: number | null;
  /** The time in milliseconds without progress after which the API is considered unavailable. */
  maxWaitMs: number;
  /** The profile's ping URL. `--ping` and `BRANDAPI_PING` apply to a single command and are not included. */
  ping: string | undefined;
  omit: readonly string[];
  /** The profile's unknown fields, which brandapi ignores. */
  unknownFields: readonly string[];
  /** The flags that the user passed. Error messages and hints depend on them. */
  passedFlags: OverridingFlags;
}

/**
 * Combines the flags, the environment and the profile into settings. The key and the base URL may be missing;
 * `requireCredentials` checks this.
 * @param purpose `ask` and `login` shorten the default `--max-wait`, because a user is waiting; `login` may also create
 * a profile
 * @throws ConfigurationError for an invalid value; UsageError for a misspelled profile name
 */
export function readSettings(
  flags: GlobalFlags,
  deps: Deps,
  purpose: "run" | "ask" | "login" = "run",
): Settings {
  checkVariables(flags, deps.env);
  const name = chooseProfile(flags, deps.env);
  const profiles = readProfiles(deps);
  if (purpose !== "login") refuseMistypedProfile(name, profiles, deps);
  const profile = profiles.get(name) ?? {};
  const env = brandEnv(flags, deps.env);
  const source = `the profile \`${name}\` in ${configPath(deps)}`;
  const baseUrl = chooseBaseUrl(flags, env, profile, source);
  const { key, keySource } = chooseKey(flags, env, profile, { baseUrl, source, deps });
  if (key !== undefined) deps.apiKeys.add(key);
  const givenPath = flags.db ?? (env.BRANDAPI_DB || undefined);
  const limit = flags.rateLimit ?? parseRateLimit(env.BRANDAPI_RATE_LIMIT || "60", "variable");
  const { brandId, brandName } = profile;
  return {
    profile: name,
    baseUrl,
    key,
    keySource,
    dbPath: chooseMirrorPath(name, givenPath ?? profile.db, deps),
    brand: brandId && !givenPath ? { id: brandId, name: brandName || brandId } : undefined,
    rateLimit: limit === "none" ? null : limit,
    maxWaitMs: flags.maxWait ?? (purpose === "run" ? 300_000 : 15_000),
    ping: profile.ping,
    omit: profile.omit?.match(/[^,\s]+/g) ?? [],
    unknownFields: listUnknownFields(profile),
    passedFlags: flags,
  };
}

/** @param source describes the profile in error messages */
function chooseBaseUrl(flags: GlobalFlags, env: Env, profile: Profile, source: string): string | undefined {
  if (flags.baseUrl !== undefined) return parseBaseUrl(flags.baseUrl, "--base-url");
  if (env.BRANDAPI_BASE_URL) return parseBaseUrl(env.BRANDAPI_BASE_URL, "BRANDAPI_BASE_URL");
  return profile.baseUrl === undefined ? undefined : parseBaseUrl(profile.baseUrl, source);
}

/** @param options.baseUrl the base URL to which the key will be sent */
function chooseKey(
  { keyFile }: GlobalFlags,
  env: Env,
  profile: Profile,
  { baseUrl, source, deps }: { baseUrl: string | undefined; source: string; deps: Deps },
): Pick<Settings, "key" | "keySource"> {
  if (keyFile !== undefined) return { key: readKeyFile(keyFile, deps), keySource: "file" };
  if (env.BRANDAPI_KEY) return { key: parseKey(env.BRANDAPI_KEY, "BRANDAPI_KEY"), keySource: "variable" };
  if (profile.key === undefined || isForeignUrl(profile, baseUrl))
    return { key: undefined, keySource: undefined };
  return { key: parseKey(profile.key, source), keySource: "profile" };
}

/**
 * True if the base URL and the profile's base URL have different origins. In that case, the profile's key must not be
 * sent.
 */
function isForeignUrl(profile: Profile, baseUrl: string | undefined): boolean {
  return profile.baseUrl !== undefined && parseOrigin(profile.baseUrl) !== parseOrigin(baseUrl);
}

/** Returns the profile name from the flag or the environment, or `default` if neither is set. */
function chooseProfile({ profile }: GlobalFlags, env: Env): string {
  const name = profile ?? (env.BRANDAPI_PROFILE || "default");
  if (/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$/.test(name)) return name;
  const ErrorClass = profile === undefined ? ConfigurationError : UsageError;
  throw new ErrorClass(`Not a profile name: \`${name}\`.`, {
    hint: "use letters, digits, `.`, `_` and `-`, and do not start with a dot",
  });
}

export function parseOrigin(url = ""): string | undefined {
  return URL.canParse(url) ? new URL(url).origin : undefined;
}

/**
 * Returns the path of the mirror file.
 * @throws ConfigurationError if the user specified a path in a folder that does not exist
 */
function chooseMirrorPath(name: string, givenPath: string | undefined, deps: Deps): string {
  const path = mirrorPath(name, givenPath, deps);
  if (givenPath === undefined || pathExists(dirname(path))) return path;
  throw new ConfigurationError(`The mirror's folder does not exist: ${dirname(path)}`, {
    hint: `check the path, or run \`mkdir -p ${quoteShellWord(dirname(path))}\``,
  });
}

/**
 * Rejects an unknown profile name that resembles a stored profile's name, because a typo would otherwise create a
 * second mirror. Rejects a very long name without printing it, because it may be a key.
 * @throws UsageError
 */
function refuseMistypedProfile(name: string, stored: Profiles, deps: Deps): void {
  if (stored.has(name)) return;
  const isLong = abbreviate(name) !== name;
  const near = closestName(name, stored.keys());
  if ((near === undefined && !isLong) || pathExists(mirrorPath(name, undefined, deps))) return;
  if (isLong)
    throw new UsageError(`Unknown profile: \`${abbreviate(name)}\`.`, {
      hint: "run `brandapi profiles` to list the profiles",
    });
  throw new UsageError(`Unknown profile: \`${name}\`.`, {
    hint: `did you mean \`${near}\`? To add a new brand, run \`brandapi login --profile ${name}\``,
  });
}

/**
 * Parses a number of requests per minute, or `none`.
 * @throws UsageError if a flag is invalid; ConfigurationError if a variable is invalid
 */
export function parseRateLimit(text: string, source: "flag" | "variable"): number | "none" {
  if (text === "none") return text;
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  const fault = `is not a number of requests per minute: \`${text}\`.`;
  const hint = "use a whole number such as 60, or `none`";
  if (source === "flag") throw new UsageError(`\`--rate-limit\` ${fault}`, { hint });
  throw new ConfigurationError(`BRANDAPI_RATE_LIMIT ${fault}`, { hint });
}
