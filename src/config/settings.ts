import { dirname } from "node:path";
import type { Deps, Env } from "../deps.js";
import { ConfigurationError, UsageError } from "../errors.js";
import { pathExists } from "../util/files.js";
import { abbreviate } from "../util/redact-keys.js";
import { closestName } from "../util/suggestions.js";
import { quoteShellWord } from "../util/text.js";
import { checkBaseUrl, checkKey, findUnresolvedText, readKeyFile } from "./credentials.js";
import { configPath } from "./folders.js";
import {
  findMisspelledField,
  findUnknownFields,
  mirrorPath,
  type Profile,
  type Profiles,
  readProfiles,
} from "./stored-profiles.js";

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
  /** False if `--no-color` is given. Otherwise, only terminals get colored output. */
  color?: boolean;
  progress?: boolean;
}

export interface Settings {
  profile: string;
  baseUrl: string | undefined;
  key: string | undefined;
  /**
   * The source of the key: `BRANDAPI_KEY`, `--key-file` or the profile. Undefined if the user has just entered the key.
   */
  keySource?: "variable" | "file" | "profile" | undefined;
  /** Why the profile provides no key or no base URL, and how to fix that. Undefined if the reason is unknown. */
  missingReason?: { text: string; hint: string; isUnknownProfile?: true } | undefined;
  dbPath: string;
  /**
   * The brand that `login` stored in the profile. Undefined if it is unknown, or if a different mirror file was given.
   */
  brand: { id: string; name: string } | undefined;
  rateLimit: number | null;
  /** The time without progress after which the API counts as unavailable, in milliseconds. */
  maxWaitMs: number;
  /** The profile's ping URL. `--ping` and `BRANDAPI_PING` apply to a command rather than to a profile. */
  ping: string | undefined;
  omit: readonly string[];
  /** Environment variables that resemble the program's variables but are not used, with the name that was meant. */
  misspelledVariables: readonly MisspelledVariable[];
  /** Fields of the profile that the program does not use. */
  unknownFields: readonly string[];
  output: GlobalFlags;
}

/**
 * Combines the flags, the environment and the profile. The key and the base URL may be missing, which
 * `requireCredentials` checks.
 * @param purpose `ask` and `login` have a shorter default for `--max-wait`, because a user is waiting; `login` may
 * create a profile
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
  if (purpose !== "login") refuseMistyped(name, profiles, deps);
  const profile = profiles.get(name) ?? {};
  const env = brandEnv(flags, deps.env);
  const source = `the profile \`${name}\` in ${configPath(deps)}`;
  const baseUrl = chooseBaseUrl(flags, env, profile, source);
  const { key, keySource } = chooseKey(flags, env, profile, { baseUrl, source, deps });
  if (key !== undefined) deps.keys.add(key);
  const namedMirror = flags.db ?? (env.BRANDAPI_DB || undefined);
  const limit = flags.rateLimit ?? parseRateLimit(deps.env.BRANDAPI_RATE_LIMIT || "60", "variable");
  const { brandId, brandName = brandId } = profile;
  const misspelledVariables = findMisspelledVariables(flags, deps.env);
  return {
    profile: name,
    baseUrl,
    key,
    keySource,
    missingReason:
      (key === undefined ? explainForeignUrl(profile, baseUrl) : undefined) ??
      explainMisspelledField(profile, deps) ??
      explainMisspelledVariables(misspelledVariables) ??
      (profiles.has(name) ? undefined : explainUnknownProfile(name, profiles, flags, deps)),
    dbPath: findMirror(name, namedMirror ?? profile.db, deps),
    brand: brandId && brandName && !namedMirror ? { id: brandId, name: brandName } : undefined,
    rateLimit: limit === "none" ? null : limit,
    maxWaitMs: flags.maxWait ?? (purpose === "run" ? 300_000 : 15_000),
    ping: profile.ping,
    omit: profile.omit?.match(/[^,\s]+/g) ?? [],
    misspelledVariables,
    unknownFields: findUnknownFields(profile),
    output: flags,
  };
}

/**
 * Returns the environment variables that apply. If `--profile` is given, variables that may belong to a different brand
 * are ignored.
 */
export function brandEnv({ profile }: GlobalFlags, env: Env): Env {
  if (profile === undefined) return env;
  const { BRANDAPI_DB, BRANDAPI_BASE_URL, BRANDAPI_KEY, ...rest } = env;
  return rest;
}

function overriddenVariables({ baseUrl, db, keyFile, profile, rateLimit }: GlobalFlags): string[] {
  const values = {
    BRANDAPI_BASE_URL: baseUrl,
    BRANDAPI_DB: db,
    BRANDAPI_KEY: keyFile,
    BRANDAPI_PROFILE: profile,
    BRANDAPI_RATE_LIMIT: rateLimit,
  };
  return Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : name));
}

/** @throws ConfigurationError if a variable that applies has quotes around its value or was not expanded */
function checkVariables(flags: GlobalFlags, env: Env): void {
  const overridden = overriddenVariables(flags);
  const used = brandEnv(flags, env);
  // `checkBaseUrl` and `checkKey` check the other variables.
  const names = ["CONFIG_DIR", "DB", "PING", "PROFILE", "RATE_LIMIT"].map((suffix) => `BRANDAPI_${suffix}`);
  for (const name of names) {
    const unresolved = overridden.includes(name) ? null : findUnresolvedText(used[name] ?? "");
    if (unresolved !== null)
      throw new ConfigurationError(`${name} ${unresolved.fault}.`, { hint: unresolved.hint });
  }
}

/** @param source describes the profile in error messages */
function chooseBaseUrl(flags: GlobalFlags, env: Env, profile: Profile, source: string): string | undefined {
  if (flags.baseUrl !== undefined) return checkBaseUrl(flags.baseUrl, "--base-url");
  if (env.BRANDAPI_BASE_URL) return checkBaseUrl(env.BRANDAPI_BASE_URL, "BRANDAPI_BASE_URL");
  return profile.baseUrl === undefined ? undefined : checkBaseUrl(profile.baseUrl, source);
}

/** @param options.baseUrl the base URL to which the key will be sent */
function chooseKey(
  { keyFile }: GlobalFlags,
  env: Env,
  profile: Profile,
  { baseUrl, source, deps }: { baseUrl: string | undefined; source: string; deps: Deps },
): Pick<Settings, "key" | "keySource"> {
  if (keyFile !== undefined) return { key: readKeyFile(keyFile, deps), keySource: "file" };
  if (env.BRANDAPI_KEY) return { key: checkKey(env.BRANDAPI_KEY, "BRANDAPI_KEY"), keySource: "variable" };
  if (profile.key === undefined || isForeignUrl(profile, baseUrl))
    return { key: undefined, keySource: undefined };
  return { key: checkKey(profile.key, source), keySource: "profile" };
}

/**
 * True if the base URL has a different origin than the profile's, in which case the profile's key must not be sent to
 * it.
 */
function isForeignUrl(profile: Profile, baseUrl: string | undefined): boolean {
  return profile.baseUrl !== undefined && originOf(profile.baseUrl) !== originOf(baseUrl);
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

type MissingReason = Settings["missingReason"];

function explainForeignUrl(profile: Profile, baseUrl: string | undefined): MissingReason {
  if (profile.key === undefined || baseUrl === undefined || !isForeignUrl(profile, baseUrl)) return undefined;
  return {
    text: `The stored key is for ${originOf(profile.baseUrl)}.`,
    hint: `run \`brandapi login --base-url ${quoteShellWord(baseUrl)}\` to replace the stored key, or omit the base URL`,
  };
}

function explainMisspelledField(profile: Profile, deps: Deps): MissingReason {
  const misspelled = findMisspelledField(profile);
  if (misspelled === undefined) return undefined;
  const { written, meant } = misspelled;
  return {
    text: `The config file has an unknown field \`${written}\`.`,
    hint: `rename \`${written}\` to \`${meant}\` in ${configPath(deps)}`,
  };
}

const suffixes = ["base_url", "config_dir", "db", "key", "ping", "profile", "rate_limit"];
const variables = suffixes.map((suffix) => `BRANDAPI_${suffix.toUpperCase()}`);
/** Words in the name of an unknown variable, with the variable that the user probably meant. */
const variableWords: readonly [pattern: RegExp, meant: string][] = [
  [/KEY|TOKEN|SECRET/, "BRANDAPI_KEY"],
  [/URL|HOST|ENDPOINT|SERVER/, "BRANDAPI_BASE_URL"],
  [/^DB|_DB|DATABASE|MIRROR|SQLITE/, "BRANDAPI_DB"],
  [/LIMIT/, "BRANDAPI_RATE_LIMIT"],
];

interface MisspelledVariable {
  written: string;
  meant: string;
}

/**
 * Finds variables such as `BRANDAPI_API_KEY`, unless the variable that was meant is also set or a flag overrides it. A
 * script may pass its own variable to a flag, as in `--key-file "$BRANDAPI_KEY_FILE"`.
 */
function findMisspelledVariables(flags: GlobalFlags, env: Env): MisspelledVariable[] {
  if (flags.profile !== undefined) return [];
  const overridden = overriddenVariables(flags);
  return Object.keys(env)
    .filter((name) => name.startsWith("BRANDAPI_") && !variables.includes(name) && env[name])
    .flatMap((written) => {
      const suffix = written.slice("BRANDAPI_".length);
      const meant =
        variableWords.find(([pattern]) => pattern.test(suffix))?.[1] ??
        variables.find((name) => name === `BRANDAPI_${closestName(suffix, suffixes)?.toUpperCase()}`);
      return meant === undefined || env[meant] || overridden.includes(meant) ? [] : { written, meant };
    });
}

function explainMisspelledVariables(misspelled: readonly MisspelledVariable[]): MissingReason {
  if (misspelled.length === 0) return undefined;
  const written = misspelled.map((variable) => `\`${variable.written}\``).join(" and ");
  return {
    text: `${written} ${misspelled.length === 1 ? "is" : "are"} not used.`,
    hint: `did you mean ${misspelled.map(({ meant }) => `\`${meant}\``).join(" and ")}?`,
  };
}

/** Prints a note for each misspelled variable. If the key or the base URL is missing, the error names the variables. */
export function noteMisspelledVariables(
  { misspelledVariables }: Pick<Settings, "misspelledVariables">,
  note: (text: string) => void,
): void {
  for (const { written, meant } of misspelledVariables)
    note(`\`${written}\` is not used: did you mean \`${meant}\`?`);
}

/**
 * Explains why an unknown profile has no key. The name may be wrong, or the key may be in a variable that is ignored
 * because of `--profile`.
 */
function explainUnknownProfile(
  name: string,
  profiles: Profiles,
  flags: GlobalFlags,
  deps: Deps,
): MissingReason {
  const { env } = deps;
  const ignored = ["BRANDAPI_BASE_URL", "BRANDAPI_KEY"].filter((variable) => flags.profile && env[variable]);
  if (ignored.length > 0)
    return {
      text: `With \`--profile\`, ${ignored.join(" and ")} ${ignored.length === 1 ? "is" : "are"} ignored.`,
      hint: `omit \`--profile\` to use ${ignored.join(" and ")}, or run \`brandapi login --profile ${name}\` to add the profile`,
    };
  if (env.BRANDAPI_CONFIG_DIR && profiles.size === 0)
    return {
      text: `There are no profiles in BRANDAPI_CONFIG_DIR: ${configPath(deps)}.`,
      hint: `check BRANDAPI_CONFIG_DIR, or run \`brandapi login${name === "default" ? "" : ` --profile ${name}`}\``,
    };
  if (profiles.size === 0 || name === "default") return undefined;
  return {
    isUnknownProfile: true,
    text: "There is no profile with this name.",
    hint: `run \`brandapi profiles\` to list the profiles, or \`brandapi login --profile ${name}\` to add this one`,
  };
}

function originOf(url = ""): string | undefined {
  return URL.canParse(url) ? new URL(url).origin : undefined;
}

/**
 * Returns the mirror's path.
 * @throws ConfigurationError if the user specified a path in a folder that does not exist
 */
function findMirror(name: string, named: string | undefined, deps: Deps): string {
  const path = mirrorPath(name, named, deps);
  if (named === undefined || pathExists(dirname(path))) return path;
  throw new ConfigurationError(`The mirror's folder does not exist: ${dirname(path)}`, {
    hint: `check the path, or run \`mkdir -p ${quoteShellWord(dirname(path))}\``,
  });
}

/**
 * Rejects an unknown profile whose name resembles a stored profile's name, because a typo would otherwise create a
 * second mirror. Rejects a very long name without printing it, because it may be a key.
 * @throws UsageError
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
