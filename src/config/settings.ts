import type { Deps } from "../deps.js";
import { ConfigurationError } from "../errors.js";
import { checkBaseUrl } from "./base-url.js";
import { expandPath, findFolders } from "./folders.js";
import { checkKey, readKeyFile } from "./key.js";
import { ownMirror, refuseMistyped } from "./known.js";
import type { GlobalOptions } from "./options.js";
import { checkProfileName, configFile, type Profile, readProfiles } from "./profiles.js";

/** How much is printed, and how. */
export interface OutputSettings {
  json: boolean;
  quiet: boolean;
  verbose: boolean;
  /** Whether colour is allowed; each stream still has to be a terminal. */
  color: boolean;
  /** Whether bars are allowed. */
  progress: boolean;
}

/** What one run works with: flag, then environment, then profile, then default (contract, section 2). */
export interface Settings {
  profile: string;
  baseUrl: string | undefined;
  key: string | undefined;
  /** The origin that the key was stored for; undefined where the key itself was given, by a file or the environment. */
  keyOrigin: string | undefined;
  /** Whether the environment's key goes before one that the profile has stored. */
  hidesStoredKey: boolean;
  dbPath: string;
  /** Whose the profile's own mirror is, as `login` was told; undefined where that is not known, or another file is named. */
  brand: { id: string; name: string } | undefined;
  configDir: string;
  /** Where what is needed between runs is kept, such as the rate budget. */
  stateDir: string;
  /** Requests a minute for the key; null for no limit. */
  rateLimit: number | null;
  /** Milliseconds without progress until the API counts as unavailable. */
  maxWaitMs: number;
  output: OutputSettings;
}

const defaultRateLimit = 60;
const defaultMaxWaitMs = 300_000;

/** What a command may want otherwise. */
export interface SettingsOptions {
  /** The patience where `--max-wait` is not given, in milliseconds. */
  maxWaitMs?: number;
  /** `flag`: only `--key-file` names the key; neither the environment's nor the stored one is looked at. */
  keyFrom?: "anywhere" | "flag";
  /** Whether a name that is near a stored profile's is taken as it is: `login` may well make a new one. */
  isNew?: boolean;
}

/**
 * Reads flags, environment and the profile. A missing key or base URL is not yet an error: see `requireAccess`.
 * @throws ConfigurationError for a value that breaks the contract's section 2, UsageError for a mistyped profile
 */
export async function readSettings(
  options: GlobalOptions,
  deps: Deps,
  { maxWaitMs = defaultMaxWaitMs, keyFrom = "anywhere", isNew = false }: SettingsOptions = {},
): Promise<Settings> {
  const profileName = chooseProfile(options, deps.env);
  const folders = findFolders(deps);
  const stored = await readProfiles(folders.config);
  if (!isNew) refuseMistyped(profileName, stored, deps);
  const profile = stored.get(profileName) ?? {};
  const where = `the profile \`${profileName}\` in ${configFile(folders.config)}`;
  const others = keyFrom === "flag" ? {} : { env: deps.env.BRANDAPI_KEY, profile };
  return {
    profile: profileName,
    baseUrl: chooseBaseUrl(options, deps.env, profile, where),
    ...(await chooseKey(options, deps, others, where)),
    hidesStoredKey:
      !options.keyFile && Boolean(others.env) && profile.key !== undefined && profile.key !== others.env,
    dbPath: chooseMirror(options, deps, profileName, profile),
    brand: namedMirror(options, deps) ? undefined : brandOf(profile),
    configDir: folders.config,
    get stateDir() {
      return folders.state;
    },
    rateLimit: chooseRateLimit(options, deps.env),
    maxWaitMs: options.maxWait ?? maxWaitMs,
    output: readOutput(options),
  };
}

/** The profile's name: flag, environment, `default`. */
export function chooseProfile(options: GlobalOptions, env: Deps["env"]): string {
  const { profile } = options;
  return checkProfileName(profile ?? (env.BRANDAPI_PROFILE || "default"), { isTyped: profile !== undefined });
}

/** The mirror file of a profile: flag, environment, the profile's own, `<profile>.sqlite` in the data folder. */
export function chooseMirror(options: GlobalOptions, deps: Deps, name: string, profile: Profile): string {
  const path = namedMirror(options, deps);
  return path ? expandPath(path, deps) : ownMirror(name, profile, deps);
}

function namedMirror(options: GlobalOptions, { env }: Deps): string | undefined {
  return options.db ?? env.BRANDAPI_DB;
}

function brandOf({ brandId, brandName }: Profile): Settings["brand"] {
  return brandId === undefined ? undefined : { id: brandId, name: brandName ?? brandId };
}

/** What flags alone decide: usable before any file is read. */
export function readOutput(options: GlobalOptions): OutputSettings {
  return {
    json: options.json === true,
    quiet: options.quiet === true,
    verbose: options.verbose === true,
    color: options.color !== false,
    progress: options.progress !== false,
  };
}

/** A command as a person types it for a profile. */
export function commandFor(command: "login" | "sync", profile: string): string {
  return `brandapi ${command}${profile === "default" ? "" : ` --profile ${profile}`}`;
}

/**
 * @throws ConfigurationError when the base URL or the key is missing, or the key was stored for another origin than the
 * one that would get it now
 */
export function requireAccess(settings: Settings): { baseUrl: string; key: string } {
  const { baseUrl, key, keyOrigin, profile } = settings;
  if (baseUrl === undefined || key === undefined) {
    const missing = key !== undefined ? "base URL" : baseUrl !== undefined ? "key" : "key and no base URL";
    throw new ConfigurationError(`No ${missing} for the profile \`${profile}\`.`, {
      hint: `run \`${commandFor("login", profile)}\`; without a key, try \`brandapi demo\`, or \`brandapi sandbox\`, which prints one`,
    });
  }
  const { origin } = new URL(baseUrl);
  if (keyOrigin !== undefined && keyOrigin !== origin)
    throw new ConfigurationError(
      `The key of the profile \`${profile}\` is for ${keyOrigin}: it is not sent to ${origin}.`,
      {
        hint: "give that address a key of its own: `brandapi login --profile NAME`, BRANDAPI_KEY or --key-file",
      },
    );
  return { baseUrl, key };
}

function chooseBaseUrl(options: GlobalOptions, env: Deps["env"], profile: Profile, where: string) {
  if (options.baseUrl !== undefined) return checkBaseUrl(options.baseUrl, "--base-url");
  if (env.BRANDAPI_BASE_URL) return checkBaseUrl(env.BRANDAPI_BASE_URL, "BRANDAPI_BASE_URL");
  return profile.baseUrl === undefined ? undefined : checkBaseUrl(profile.baseUrl, where);
}

async function chooseKey(
  options: GlobalOptions,
  deps: Deps,
  others: { env?: string | undefined; profile?: Profile },
  where: string,
): Promise<Pick<Settings, "key" | "keyOrigin">> {
  const given = (key: string) => ({ key, keyOrigin: undefined });
  if (options.keyFile !== undefined)
    return given(await readKeyFile(expandPath(options.keyFile, deps), deps.signal));
  if (others.env) return given(checkKey(others.env, "BRANDAPI_KEY"));
  const { key, baseUrl } = others.profile ?? {};
  if (key === undefined) return { key, keyOrigin: undefined };
  const keyOrigin = baseUrl === undefined ? undefined : new URL(checkBaseUrl(baseUrl, where)).origin;
  return { key: checkKey(key, where), keyOrigin };
}

function chooseRateLimit(options: GlobalOptions, env: Deps["env"]): number | null {
  if (options.rateLimit !== undefined) return options.rateLimit === "none" ? null : options.rateLimit;
  const text = env.BRANDAPI_RATE_LIMIT;
  if (!text) return defaultRateLimit;
  if (text === "none") return null;
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  throw new ConfigurationError("BRANDAPI_RATE_LIMIT is not a number of requests a minute.", {
    hint: "set it to a whole number such as 60, or to `none`",
  });
}
