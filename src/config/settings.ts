import { dirname } from "node:path";
import type { Deps, Env } from "../deps.js";
import { ConfigurationError, UsageError } from "../errors.js";
import { pathExists } from "../util/files.js";
import { abbreviate } from "../util/redact-keys.js";
import { closestName } from "../util/suggestions.js";
import { quoteShellWord } from "../util/text.js";
import { checkBaseUrl, checkKey, readKeyFile } from "./credentials.js";
import { configPath, platformFolder } from "./folders.js";
import {
  findMisspelledField,
  mirrorPath,
  type Profile,
  type Profiles,
  readProfiles,
} from "./stored-profiles.js";

/** The flags that every command accepts. */
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
  /** False with `--no-color`. Otherwise, only terminals get colored output. */
  color?: boolean;
  /** False with `--no-progress`. */
  progress?: boolean;
}

/** The settings of a command. Flags override environment variables, which override the profile. */
export interface Settings {
  profile: string;
  baseUrl: string | undefined;
  key: string | undefined;
  /** Where the key comes from: BRANDAPI_KEY, `--key-file` or the profile; undefined for a key that was just entered. */
  keySource?: "variable" | "file" | "profile" | undefined;
  /**
   * Explains why the profile in the config file does not provide the key or the base URL, and what to do; undefined if
   * the reason is unknown.
   */
  missingReason?: { text: string; hint: string } | undefined;
  dbPath: string;
  /**
   * The brand that `login` stored in the profile; undefined if the brand is unknown, or if a different mirror file was
   * specified.
   */
  brand: { id: string; name: string } | undefined;
  /** The folder for state shared by all commands, such as the request log. */
  readonly stateDir: string;
  /** The maximum number of requests per minute; null for no limit. */
  rateLimit: number | null;
  /** Time without progress after which the API is considered unavailable, in milliseconds. */
  maxWaitMs: number;
  /** The profile's URL for pings. `--ping` and `BRANDAPI_PING` belong to a command, not to a profile. */
  ping: string | undefined;
  /** The fields that are never stored. */
  omit: readonly string[];
  output: GlobalFlags;
}

/**
 * Combines the flags, the environment and the profile. A missing key or base URL is not an error here: see
 * `requireCredentials`.
 * @param purpose `ask` and `login` have a shorter default `--max-wait`, because a user is waiting; `login` may create a
 * profile
 * @throws ConfigurationError for an invalid value; UsageError for a mistyped profile name
 */
export async function readSettings(
  flags: GlobalFlags,
  deps: Deps,
  purpose: "run" | "ask" | "login" = "run",
): Promise<Settings> {
  const name = chooseProfile(flags, deps.env);
  const stored = await readProfiles(deps);
  if (purpose !== "login") refuseMistyped(name, stored, deps);
  const profile = stored.get(name) ?? {};
  const env = effectiveEnv(flags, deps.env);
  const source = `the profile \`${name}\` in ${configPath(deps)}`;
  const baseUrl = firstGiven(
    checkBaseUrl,
    [flags.baseUrl, "--base-url"],
    [env.BRANDAPI_BASE_URL || undefined, "BRANDAPI_BASE_URL"],
    [profile.baseUrl, source],
  );
  // A stored key is sent only to the origin of the stored base URL.
  const isForeign = profile.baseUrl !== undefined && originOf(profile.baseUrl) !== originOf(baseUrl);
  const key = firstGiven(
    checkKey,
    [flags.keyFile && readKeyFile(flags.keyFile, deps), "--key-file"],
    [env.BRANDAPI_KEY || undefined, "BRANDAPI_KEY"],
    [isForeign ? undefined : profile.key, source],
  );
  const keySource = flags.keyFile ? "file" : env.BRANDAPI_KEY ? "variable" : "profile";
  if (key !== undefined) deps.keys.add(key);
  const namedMirror = flags.db ?? (env.BRANDAPI_DB || undefined);
  const limit =
    flags.rateLimit ?? parseRateLimit(deps.env.BRANDAPI_RATE_LIMIT || "60", "BRANDAPI_RATE_LIMIT");
  const { brandId, brandName = brandId } = profile;
  return {
    profile: name,
    baseUrl,
    key,
    keySource: key === undefined ? undefined : keySource,
    missingReason:
      explainMissing(profile, isForeign && key === undefined ? baseUrl : undefined, deps) ??
      explainUnknown(name, stored, flags, deps),
    dbPath: findMirror(name, namedMirror ?? profile.db, deps),
    brand: brandId && brandName && !namedMirror ? { id: brandId, name: brandName } : undefined,
    get stateDir() {
      return platformFolder("state", deps);
    },
    rateLimit: limit === "none" ? null : limit,
    maxWaitMs: flags.maxWait ?? (purpose === "run" ? 300_000 : 15_000),
    ping: profile.ping,
    omit: profile.omit?.match(/[^,\s]+/g) ?? [],
    output: flags,
  };
}

/**
 * Returns the environment. If `--profile` is given on the command line, excludes the variables that belong to one
 * brand.
 */
export function effectiveEnv({ profile }: GlobalFlags, env: Env): Env {
  if (profile === undefined) return env;
  const { BRANDAPI_DB, BRANDAPI_BASE_URL, BRANDAPI_KEY, ...rest } = env;
  return rest;
}

/** Returns the profile name from the flag or the environment; `default` if neither is set. */
function chooseProfile({ profile }: GlobalFlags, env: Env): string {
  const name = profile ?? (env.BRANDAPI_PROFILE || "default");
  if (/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$/.test(name)) return name;
  const ErrorClass = profile === undefined ? ConfigurationError : UsageError;
  throw new ErrorClass(`Not a profile name: \`${name}\`.`, {
    hint: "use letters, digits, `.`, `_` and `-`, and do not start with a dot",
  });
}

/** Returns the first defined string after checking it. */
function firstGiven(
  check: (text: string, source: string) => string,
  ...texts: readonly (readonly [text: string | undefined, source: string])[]
): string | undefined {
  const [text, source] = texts.find(([one]) => one !== undefined) ?? [];
  return text === undefined || source === undefined ? undefined : check(text, source);
}

/**
 * Explains why a profile's key or base URL is not used.
 * @param foreignUrl a base URL that the profile's key is not sent to
 */
function explainMissing(
  profile: Profile,
  foreignUrl: string | undefined,
  deps: Deps,
): { text: string; hint: string } | undefined {
  if (foreignUrl !== undefined && profile.key !== undefined)
    return {
      text: `The stored key is for ${originOf(profile.baseUrl)}.`,
      hint: `run \`brandapi login --base-url ${quoteShellWord(foreignUrl)}\` to replace the stored key, or omit the base URL`,
    };
  const misspelled = findMisspelledField(profile);
  if (misspelled === undefined) return undefined;
  const { written, meant } = misspelled;
  return {
    text: `The config file has an unknown field \`${written}\`.`,
    hint: `rename \`${written}\` to \`${meant}\` in ${configPath(deps)}`,
  };
}

/** Explains why an unknown profile has no key: the name may be wrong, and variables do not apply to a named profile. */
function explainUnknown(
  name: string,
  stored: Profiles,
  flags: GlobalFlags,
  deps: Deps,
): { text: string; hint: string } | undefined {
  const { env } = deps;
  if (stored.has(name)) return undefined;
  const ignored = ["BRANDAPI_BASE_URL", "BRANDAPI_KEY"].filter((variable) => flags.profile && env[variable]);
  if (ignored.length > 0)
    return {
      text: `With \`--profile\`, ${ignored.join(" and ")} ${ignored.length === 1 ? "is" : "are"} ignored.`,
      hint: `omit \`--profile\` to use ${ignored.join(" and ")}, or run \`brandapi login --profile ${name}\` to add the profile`,
    };
  if (env.BRANDAPI_CONFIG_DIR && stored.size === 0)
    return {
      text: `There are no profiles in BRANDAPI_CONFIG_DIR: ${configPath(deps)}.`,
      hint: `check BRANDAPI_CONFIG_DIR, or run \`brandapi login${name === "default" ? "" : ` --profile ${name}`}\``,
    };
  if (stored.size === 0 || name === "default") return undefined;
  return {
    text: "There is no profile with this name.",
    hint: `run \`brandapi profiles\` to list the profiles, or \`brandapi login --profile ${name}\` to add this one`,
  };
}

function originOf(url = ""): string | undefined {
  return URL.canParse(url) ? new URL(url).origin : undefined;
}

/**
 * Returns the mirror's path. Throws a ConfigurationError if the user specified a path in a folder that does not
 * exist.
 */
function findMirror(name: string, named: string | undefined, deps: Deps): string {
  const path = mirrorPath(name, named, deps);
  if (named === undefined || pathExists(dirname(path))) return path;
  throw new ConfigurationError(`The mirror's folder does not exist: ${dirname(path)}`, {
    hint: `check the path, or run \`mkdir -p ${quoteShellWord(dirname(path))}\``,
  });
}

/**
 * Throws a UsageError if a profile is unknown and its name resembles a stored profile's name. Without this check, a
 * typo would create a second mirror. Also rejects an unknown name that is so long that it may be a key, without
 * repeating it.
 */
function refuseMistyped(name: string, stored: Profiles, deps: Deps): void {
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
 * @param variable the environment variable that contains the text; undefined for a flag
 * @throws UsageError if a flag is invalid; ConfigurationError if a variable is invalid
 */
export function parseRateLimit(text: string, variable?: string): number | "none" {
  if (text === "none") return text;
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  const Failure = variable === undefined ? UsageError : ConfigurationError;
  throw new Failure(`${variable ?? "The rate limit"} is not a number of requests per minute: \`${text}\`.`, {
    hint: "use a whole number such as 60, or `none`",
  });
}
