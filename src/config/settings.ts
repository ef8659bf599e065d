import { existsSync } from "node:fs";
import { dirname } from "node:path";
import type { Deps, Env } from "../deps.js";
import { ConfigurationError, UsageError } from "../errors.js";
import { shellWord } from "../lib/shell.js";
import { checkBaseUrl, checkKey, type GivenAccess, readKeyFile } from "./access.js";
import { findFolders } from "./folders.js";
import {
  configFile,
  isProfileName,
  ownMirror,
  type Profile,
  readProfiles,
  refuseMistyped,
} from "./profiles.js";

/** The flags that decide how much is printed, and how. */
export interface OutputOptions {
  json?: boolean;
  quiet?: boolean;
  verbose?: boolean;
  /** False with `--no-color`; each stream must still be a terminal. */
  color?: boolean;
  /** False with `--no-progress`. */
  progress?: boolean;
}

/** The flags that every command takes. */
export interface GlobalOptions extends OutputOptions {
  profile?: string;
  db?: string;
  baseUrl?: string;
  keyFile?: string;
  rateLimit?: number | "none";
  maxWait?: number;
}

/** The settings of one run: flag, then environment, then profile, then default. */
export interface Settings extends GivenAccess {
  dbPath: string;
  /** The brand of the profile's own mirror, as `login` stored it; undefined if unknown, or if another file is named. */
  brand: { id: string; name: string } | undefined;
  configDir: string;
  /** The folder of files that are kept between runs, such as the rate budget. */
  readonly stateDir: string;
  /** Requests a minute for the key; null for no limit. */
  rateLimit: number | null;
  /** Milliseconds without progress until the API counts as unavailable. */
  maxWaitMs: number;
  /** The address that a sync pings: `BRANDAPI_PING`, else the profile's. */
  ping: string | undefined;
  /** Members that the mirror does not keep. */
  omit: readonly string[];
  output: OutputOptions;
}

/**
 * Reads flags, environment and the profile. A missing key or base URL is not yet an error: see `requireAccess`.
 * @param isLogin true for `login`: only `--key-file` names the key, and the profile may be new
 * @throws ConfigurationError for an invalid value, UsageError for a mistyped profile
 */
export async function readSettings(
  options: GlobalOptions,
  deps: Deps,
  { maxWaitMs = 300_000, isLogin = false }: { maxWaitMs?: number; isLogin?: boolean } = {},
): Promise<Settings> {
  const folders = findFolders(deps);
  const name = chooseProfile(options, deps.env);
  const stored = await readProfiles(deps);
  if (!isLogin) refuseMistyped(name, stored, deps);
  const profile = stored.get(name) ?? {};
  const env = environmentFor(options, deps.env);
  const source = `the profile \`${name}\` in ${configFile(folders.config)}`;
  const keyFile = options.keyFile === undefined ? undefined : readKeyFile(options.keyFile, deps);
  const [givenKey, keySource] = firstGiven(
    [keyFile, "--key-file"],
    [isLogin ? undefined : env.BRANDAPI_KEY || undefined, "BRANDAPI_KEY"],
    [isLogin ? undefined : profile.key, source],
  );
  const [baseUrl, urlSource] = firstGiven(
    [options.baseUrl, "--base-url"],
    [(isLogin ? deps.env : env).BRANDAPI_BASE_URL || undefined, "BRANDAPI_BASE_URL"],
    [profile.baseUrl, source],
  );
  const key = givenKey === undefined ? undefined : checkKey(givenKey, keySource);
  if (key !== undefined) deps.keys.add(key);
  const namedMirror = options.db ?? (env.BRANDAPI_DB || undefined);
  const { brandId, brandName = brandId } = profile;
  return {
    profile: name,
    baseUrl: baseUrl === undefined ? undefined : checkBaseUrl(baseUrl, urlSource),
    key,
    keyOrigin:
      keySource === source && profile.baseUrl
        ? new URL(checkBaseUrl(profile.baseUrl, source)).origin
        : undefined,
    dbPath: findMirror(name, namedMirror === undefined ? profile : { db: namedMirror }, deps),
    brand: brandId && brandName && !namedMirror ? { id: brandId, name: brandName } : undefined,
    configDir: folders.config,
    get stateDir() {
      return folders.state;
    },
    rateLimit: chooseRateLimit(options, deps.env),
    maxWaitMs: options.maxWait ?? maxWaitMs,
    ping: deps.env.BRANDAPI_PING || profile.ping,
    omit: profile.omit ? profile.omit.split(",") : [],
    output: options,
  };
}

/** Returns the environment; `--profile` on the command line sets the variables of one brand aside. */
export function environmentFor({ profile }: GlobalOptions, env: Env): Env {
  if (profile === undefined) return env;
  const { BRANDAPI_DB, BRANDAPI_BASE_URL, BRANDAPI_KEY, ...rest } = env;
  return rest;
}

/** Returns the profile's name: flag, environment, `default`. */
function chooseProfile({ profile }: GlobalOptions, env: Env): string {
  const name = profile ?? (env.BRANDAPI_PROFILE || "default");
  if (isProfileName(name)) return name;
  throw new (profile === undefined ? ConfigurationError : UsageError)(`Not a profile name: \`${name}\`.`, {
    hint: "use letters, digits, `.`, `_` and `-`, not starting with a dot",
  });
}

/** Returns the first value that was given, and its source. */
function firstGiven(
  ...values: readonly (readonly [value: string | undefined, source: string])[]
): readonly [value: string | undefined, source: string] {
  return values.find(([value]) => value !== undefined) ?? [undefined, ""];
}

/** Returns the mirror's path. @throws ConfigurationError if it is named in a folder that does not exist */
function findMirror(name: string, profile: Profile, deps: Deps): string {
  const path = ownMirror(name, profile, deps);
  if (!profile.db || existsSync(dirname(path))) return path;
  throw new ConfigurationError(`The mirror's folder does not exist: ${dirname(path)}`, {
    hint: `check the path, or run \`mkdir -p ${shellWord(dirname(path))}\``,
  });
}

function chooseRateLimit({ rateLimit }: GlobalOptions, env: Env): number | null {
  const limit = String(rateLimit ?? (env.BRANDAPI_RATE_LIMIT || 60));
  if (limit === "none") return null;
  if (/^[1-9]\d{0,6}$/.test(limit)) return Number(limit);
  throw new ConfigurationError("BRANDAPI_RATE_LIMIT is not a number of requests a minute.", {
    hint: "set it to a whole number such as 60, or to `none`",
  });
}
