import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { realpath, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Deps } from "../deps.js";
import { ConfigurationError, UsageError } from "../errors.js";
import { wordsOf } from "../lib/failures.js";
import { makeFolder } from "../lib/make-folder.js";
import { nearest } from "../lib/nearest.js";
import { checkPrivate } from "./access.js";
import { expandPath, findFolders } from "./folders.js";

/** What the config file holds for one brand. Members unknown to this version are kept when it is written. */
export interface Profile {
  baseUrl?: string;
  key?: string;
  db?: string;
  /** What `/me` said when the key was stored: for what works without a network. */
  brandId?: string;
  brandName?: string;
  keyId?: string | undefined;
  keyExpiresAt?: string | undefined;
  /** The address that a sync pings. */
  ping?: string;
  /** Members that the mirror does not keep, with commas between. */
  omit?: string;
}

export type Profiles = ReadonlyMap<string, Profile>;

/** A brand that is set up on this machine: by `login`, or by a mirror in the data folder. */
export interface KnownProfile {
  name: string;
  stored: Profile;
  /** The path of its own mirror, which may not exist yet. */
  mirror: string;
}

type Surroundings = Pick<Deps, "env" | "cwd" | "home" | "platform">;

const texts = new Set([
  "baseUrl",
  "key",
  "db",
  "brandId",
  "brandName",
  "keyId",
  "keyExpiresAt",
  "ping",
  "omit",
]);

export function configFile(configDir: string): string {
  return join(configDir, "config.json");
}

/** True for a name that can be a file's: `[A-Za-z0-9._-]+`, not starting with a dot. */
export function isProfileName(name: string): boolean {
  return /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$/.test(name);
}

/**
 * Reads `{"profiles": {"<name>": {"baseUrl", "key", "db", …}}}`; no file means no profiles.
 * @param options.mending the file is about to be rewritten with safe permissions
 * @throws ConfigurationError if it is unreadable, garbled, or open to others while it holds a key; never its content
 */
export async function readProfiles(
  configDir: string,
  options: { mending?: boolean } = {},
): Promise<Map<string, Profile>> {
  const path = configFile(configDir);
  const { profiles = {} } = readRoot(path);
  if (!isObject(profiles)) throw garbled(path, "has `profiles` that is not an object");
  const all = new Map<string, Profile>();
  for (const [name, profile] of Object.entries(profiles)) {
    if (!isObject(profile))
      throw garbled(path, `has a profile that is not an object: ${JSON.stringify(name)}`);
    for (const [member, value] of Object.entries(profile))
      if (typeof value !== "string" && texts.has(member))
        throw garbled(path, `has a \`${member}\` that is not text in the profile ${JSON.stringify(name)}`);
    all.set(name, profile);
  }
  if (!options.mending && [...all.values()].some(({ key }) => key !== undefined)) checkPrivate(path);
  return all;
}

/** Replaces the profiles in the config file, atomically, and keeps what else it holds; folder 0700, file 0600. */
export async function writeProfiles(configDir: string, profiles: Profiles): Promise<void> {
  const path = configFile(configDir);
  const root = { ...readRoot(path), profiles: Object.fromEntries(profiles) };
  await writePrivate(path, `${JSON.stringify(root, null, 2)}\n`).catch((error: unknown) => {
    throw new ConfigurationError(`cannot write ${path}: ${wordsOf(error)}`, {
      hint: "make the folder writable, or name another with BRANDAPI_CONFIG_DIR",
    });
  });
}

/** Every key that the config file holds; none if it cannot be read, which other code reports. */
export async function storedKeys(deps: Deps): Promise<string[]> {
  try {
    const profiles = await readProfiles(findFolders(deps).config, { mending: true });
    return [...profiles.values()].flatMap(({ key }) => key ?? []);
  } catch {
    return [];
  }
}

/** The profiles of the config file in its order, then those that only have a mirror. */
export async function readKnownProfiles(deps: Surroundings): Promise<KnownProfile[]> {
  const { config, data } = findFolders(deps);
  const stored = await readProfiles(config);
  const mirrored = (existsSync(data) ? readdirSync(data).sort() : [])
    .filter((file) => file.endsWith(".sqlite"))
    .map((file) => file.slice(0, -".sqlite".length))
    // If one folder serves for everything, as on macOS, the rate budget lies among the mirrors.
    .filter((name) => isProfileName(name) && name !== "rate");
  return [...new Set([...stored.keys(), ...mirrored])].map((name) => {
    const profile = stored.get(name) ?? {};
    return { name, stored: profile, mirror: ownMirror(name, profile, deps) };
  });
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

function readRoot(path: string): Record<string, unknown> {
  if (!existsSync(path)) return {};
  let root: unknown;
  try {
    root = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    // The parser's own message quotes the text around the fault, and that may be the key: neither shown nor kept.
    if (error instanceof SyntaxError) throw garbled(path, "is not valid JSON");
    throw new ConfigurationError(`cannot read ${path}: ${wordsOf(error)}`, {
      hint: "mend its permissions, or name another folder with BRANDAPI_CONFIG_DIR",
    });
  }
  if (!isObject(root)) throw garbled(path, "is not a JSON object");
  return root;
}

function garbled(path: string, what: string): ConfigurationError {
  return new ConfigurationError(`The config file ${what}: ${path}`, {
    hint: "mend it, or move it away and run `brandapi login` again",
  });
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
