import { existsSync } from "node:fs";
import { dirname } from "node:path";
import type { Deps, Env } from "../deps.js";
import { ConfigurationError, UsageError } from "../errors.js";
import { shellWord } from "../lib/shell.js";
import { checkBaseUrl, checkKey, readKeyFile } from "./access.js";
import { expandPath, findFolders } from "./folders.js";
import {
  configFile,
  isProfileName,
  ownMirror,
  type Profile,
  readProfiles,
  refuseMistyped,
} from "./profiles.js";

/** The flags that every command takes. */
export interface GlobalOptions {
  profile?: string;
  db?: string;
  baseUrl?: string;
  keyFile?: string;
  json?: boolean;
  quiet?: boolean;
  verbose?: boolean;
  /** false with `--no-color`. */
  color?: boolean;
  /** false with `--no-progress`. */
  progress?: boolean;
  rateLimit?: number | "none";
  maxWait?: number;
}

/** The settings of one run: flag, then environment, then profile, then default. */
export interface Settings {
  profile: string;
  baseUrl: string | undefined;
  key: string | undefined;
  /** The origin that the key was stored for; undefined if the key was given by a file or the environment. */
  keyOrigin: string | undefined;
  dbPath: string;
  /** The brand of the profile's own mirror, as `login` stored it; undefined if unknown, or if another file is named. */
  brand: { id: string; name: string } | undefined;
  configDir: string;
  /** The folder of what is kept between runs, such as the rate budget. */
  readonly stateDir: string;
  /** Requests a minute for the key; null for no limit. */
  rateLimit: number | null;
  /** Milliseconds without progress until the API counts as unavailable. */
  maxWaitMs: number;
  /** The address that a sync pings: `BRANDAPI_PING`, else the profile's. */
  ping: string | undefined;
  /** Members that the mirror does not keep. */
  omit: readonly string[];
  output: OutputSettings;
}

/** How much is printed, and how. */
export interface OutputSettings {
  json: boolean;
  quiet: boolean;
  verbose: boolean;
  /** False forbids colour; each stream must still be a terminal. */
  color: boolean;
  progress: boolean;
}

export interface SettingsOptions {
  /** The patience without `--max-wait`, in milliseconds. */
  maxWaitMs?: number;
  /** True for `login`: only `--key-file` names the key, and the profile may be new. */
  isLogin?: boolean;
}

/**
 * Reads flags, environment and the profile. A missing key or base URL is not yet an error: see `requireAccess`.
 * @throws ConfigurationError for an invalid value, UsageError for a mistyped profile
 */
export async function readSettings(
  options: GlobalOptions,
  deps: Deps,
  { maxWaitMs = 300_000, isLogin = false }: SettingsOptions = {},
): Promise<Settings> {
  const name = chooseProfile(options, deps.env);
  const folders = findFolders(deps);
  const stored = await readProfiles(folders.config);
  if (!isLogin) refuseMistyped(name, stored, deps);
  const profile = stored.get(name) ?? {};
  const env = environmentFor(options, deps.env);
  const source = `the profile \`${name}\` in ${configFile(folders.config)}`;
  const { BRANDAPI_BASE_URL } = isLogin ? deps.env : env;
  const baseUrl = options.baseUrl ?? (BRANDAPI_BASE_URL || profile.baseUrl);
  const urlSource =
    options.baseUrl !== undefined ? "--base-url" : BRANDAPI_BASE_URL ? "BRANDAPI_BASE_URL" : source;
  const { brandId, brandName } = profile;
  const ownsMirror = (options.db ?? env.BRANDAPI_DB) === undefined;
  return {
    profile: name,
    baseUrl: baseUrl === undefined ? undefined : checkBaseUrl(baseUrl, urlSource),
    ...chooseKey(options, deps, isLogin ? {} : { env, profile, source }),
    dbPath: chooseMirror(options, deps, name, profile),
    brand: ownsMirror && brandId !== undefined ? { id: brandId, name: brandName ?? brandId } : undefined,
    configDir: folders.config,
    get stateDir() {
      return folders.state;
    },
    rateLimit: chooseRateLimit(options, deps.env),
    maxWaitMs: options.maxWait ?? maxWaitMs,
    ping: deps.env.BRANDAPI_PING || profile.ping,
    omit: profile.omit ? profile.omit.split(",") : [],
    output: readOutput(options),
  };
}

/** Returns the environment; `--profile` on the command line sets the variables of one brand aside. */
export function environmentFor({ profile }: GlobalOptions, env: Env): Env {
  if (profile === undefined) return env;
  const { BRANDAPI_DB, BRANDAPI_BASE_URL, BRANDAPI_KEY, ...rest } = env;
  return rest;
}

/** Returns the profile's name: flag, environment, `default`. */
export function chooseProfile({ profile }: GlobalOptions, env: Env): string {
  const name = profile ?? (env.BRANDAPI_PROFILE || "default");
  if (isProfileName(name)) return name;
  throw new (profile === undefined ? ConfigurationError : UsageError)(`Not a profile name: \`${name}\`.`, {
    hint: "use letters, digits, `.`, `_` and `-`, not starting with a dot",
  });
}

/**
 * Returns the mirror file of a profile: flag, environment, the profile's own, `<profile>.sqlite` in the data folder.
 * @throws ConfigurationError if it is named in a folder that does not exist
 */
export function chooseMirror(options: GlobalOptions, deps: Deps, name: string, profile: Profile): string {
  const named = options.db ?? (environmentFor(options, deps.env).BRANDAPI_DB || profile.db);
  if (!named) return ownMirror(name, {}, deps);
  const path = expandPath(named, deps);
  if (existsSync(dirname(path))) return path;
  throw new ConfigurationError(`The mirror's folder does not exist: ${dirname(path)}`, {
    hint: `check the path, or run \`mkdir -p ${shellWord(dirname(path))}\``,
  });
}

/** Returns what flags alone decide. */
export function readOutput(options: GlobalOptions): OutputSettings {
  const { json = false, quiet = false, verbose = false, color = true, progress = true } = options;
  return { json, quiet, verbose, color, progress };
}

/** Returns a command as a person types it for a profile. */
export function commandFor(command: "login" | "sync", profile: string): string {
  return `brandapi ${command}${profile === "default" ? "" : ` --profile ${profile}`}`;
}

/**
 * Returns the base URL and the key.
 * @throws ConfigurationError if one is missing, or the key was stored for another origin
 */
export function requireAccess({ baseUrl, key, keyOrigin, profile }: Settings): {
  baseUrl: string;
  key: string;
} {
  if (baseUrl === undefined || key === undefined) {
    const missing = key !== undefined ? "base URL" : baseUrl !== undefined ? "key" : "key and no base URL";
    throw new ConfigurationError(`No ${missing} for the profile \`${profile}\`.`, {
      hint: `run \`${commandFor("login", profile)}\`; without a key, try \`brandapi demo\`, or \`brandapi sandbox\`, which prints one`,
    });
  }
  const { origin } = new URL(baseUrl);
  if (keyOrigin === undefined || keyOrigin === origin) return { baseUrl, key };
  throw new ConfigurationError(
    `The key of \`${profile}\` is for ${keyOrigin}: it is not sent to ${origin}.`,
    {
      hint: "give that address a key of its own: `brandapi login --profile NAME`, BRANDAPI_KEY or --key-file",
    },
  );
}

function chooseKey(
  options: GlobalOptions,
  deps: Deps,
  { env, profile, source = "" }: { env?: Env; profile?: Profile; source?: string },
): Pick<Settings, "key" | "keyOrigin"> {
  const given = (key: string) => ({ key, keyOrigin: undefined });
  if (options.keyFile !== undefined) return given(readKeyFile(expandPath(options.keyFile, deps)));
  if (env?.BRANDAPI_KEY) return given(checkKey(env.BRANDAPI_KEY, "BRANDAPI_KEY"));
  const { key, baseUrl } = profile ?? {};
  if (key === undefined) return { key, keyOrigin: undefined };
  const keyOrigin = baseUrl === undefined ? undefined : new URL(checkBaseUrl(baseUrl, source)).origin;
  return { key: checkKey(key, source), keyOrigin };
}

function chooseRateLimit(options: GlobalOptions, env: Env): number | null {
  if (options.rateLimit !== undefined) return options.rateLimit === "none" ? null : options.rateLimit;
  const text = env.BRANDAPI_RATE_LIMIT || "60";
  if (text === "none") return null;
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  throw new ConfigurationError("BRANDAPI_RATE_LIMIT is not a number of requests a minute.", {
    hint: "set it to a whole number such as 60, or to `none`",
  });
}
