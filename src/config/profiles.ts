import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { realpath, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ConfigurationError, UsageError } from "../errors.js";
import { makeFolder } from "../lib/make-folder.js";
import { nearest } from "../lib/nearest.js";
import { checkPrivate } from "./access.js";
import { expandPath, findFolders, type Surroundings } from "./folders.js";

/** One brand in the config file. Members unknown to this version are kept when the file is written. */
export interface Profile {
  baseUrl?: string;
  key?: string;
  db?: string;
  /** From `/me` when the key was stored, because `status` and `profiles` work without a network. */
  brandId?: string;
  brandName?: string;
  keyExpiresAt?: string | undefined;
  /** The address that a sync pings. */
  ping?: string;
  /** Members that the mirror does not keep, with commas between. */
  omit?: string;
}

export type Profiles = Map<string, Profile>;

/** A brand that is set up on this machine: its key is stored. */
export interface KnownProfile {
  name: string;
  stored: Profile;
  /** The path of its own mirror, which may not exist yet. */
  mirror: string;
}

export function configFile(configDir: string): string {
  return join(configDir, "config.json");
}

/** True for a name that can be a file's: `[A-Za-z0-9._-]+`, not starting with a dot. */
export function isProfileName(name: string): boolean {
  return /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$/.test(name);
}

/**
 * Reads `config.json`: `{"profiles": {"<name>": {"baseUrl", "key", "db", …}}}`; no file means no profiles.
 * @throws ConfigurationError if it is garbled, or open to others while it holds a key; never its content
 */
export async function readProfiles(deps: Surroundings): Promise<Profiles> {
  const { config } = findFolders(deps);
  const { profiles } = readRoot(config);
  if ([...profiles.values()].some(({ key }) => key !== undefined)) checkPrivate(configFile(config), deps);
  return profiles;
}

/** Replaces the profiles in the config file, atomically, and keeps what else it holds; folder 0700, file 0600. */
export async function writeProfiles(configDir: string, profiles: Profiles): Promise<void> {
  const root = { ...readRoot(configDir).root, profiles: Object.fromEntries(profiles) };
  await writePrivate(configFile(configDir), `${JSON.stringify(root, null, 2)}\n`);
}

/** Returns every key that the config file holds; none if it cannot be read, because `readProfiles` reports that. */
export function storedKeys(deps: Surroundings): string[] {
  try {
    const { profiles } = readRoot(findFolders(deps).config);
    return [...profiles.values()].flatMap(({ key }) => key ?? []);
  } catch {
    return [];
  }
}

/** Returns the profiles with a stored key, in the order of the config file. */
export async function readKnownProfiles(deps: Surroundings): Promise<KnownProfile[]> {
  const profiles = [...(await readProfiles(deps))];
  return profiles
    .filter(([, { key }]) => key !== undefined)
    .map(([name, stored]) => ({ name, stored, mirror: ownMirror(name, stored, deps) }));
}

/** The mirror of a profile if neither a flag nor the environment names another. */
export function ownMirror(name: string, { db }: Profile, deps: Surroundings): string {
  return db ? expandPath(db, deps) : join(findFolders(deps).data, `${name}.sqlite`);
}

/** @throws UsageError for an unknown profile whose name is near a stored one: it would begin a second mirror */
export function refuseMistyped(name: string, stored: Profiles, deps: Surroundings): void {
  const near = stored.has(name) ? undefined : nearest(name, stored.keys());
  if (near === undefined || existsSync(ownMirror(name, {}, deps))) return;
  throw new UsageError(`Unknown profile: \`${name}\`.`, {
    hint: `did you mean \`${near}\`? A new brand begins with \`brandapi login --profile ${name}\``,
  });
}

/** Returns the whole config file, and its profiles. */
function readRoot(configDir: string): { root: object; profiles: Profiles } {
  const path = configFile(configDir);
  const root = existsSync(path) ? parseJson(readFileSync(path, "utf8")) : {};
  const profiles = isObject(root) ? (root.profiles ?? {}) : undefined;
  if (isObject(root) && isObject(profiles)) {
    const entries = Object.entries(profiles).filter((entry): entry is [string, Profile] =>
      isProfile(entry[1]),
    );
    if (entries.length === Object.keys(profiles).length) return { root, profiles: new Map(entries) };
  }
  throw new ConfigurationError(`The config file is not JSON as \`brandapi login\` writes it: ${path}`, {
    hint: "mend it, or move it away and run `brandapi login` again",
  });
}

/** Returns undefined if the text is not JSON, because the parser's own message quotes it, and it may be the key. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isProfile(value: unknown): value is Profile {
  return isObject(value) && Object.values(value).every((member) => typeof member === "string");
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Writes the whole file or nothing, with mode 0600; missing folders get 0700. A symbolic link stays one. */
async function writePrivate(path: string, text: string): Promise<void> {
  const target = await realpath(path).catch(() => path);
  makeFolder(dirname(target), 0o700);
  const beside = `${target}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    await writeFile(beside, text, { flag: "wx", mode: 0o600, flush: true });
    await rename(beside, target);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
}
