import { closeSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { ConfigurationError, UsageError } from "../errors.js";
import { reasonOf } from "./key.js";
import { checkFolder, checkPrivate, openToRead, writePrivate } from "./private-file.js";

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
}

export type Profiles = ReadonlyMap<string, Profile>;

const members = ["baseUrl", "key", "db", "brandId", "brandName", "keyId", "keyExpiresAt"] as const;
/** A file that large is not ours. */
const mostBytes = 1_048_576;

export function configFile(configDir: string): string {
  return join(configDir, "config.json");
}

/**
 * `[A-Za-z0-9._-]+`, not starting with a dot: it becomes a file's name.
 * @throws ConfigurationError where it is none; UsageError where it was typed as a flag's value
 */
export function checkProfileName(name: string, { isTyped = false } = {}): string {
  if (isProfileName(name)) return name;
  throw new (isTyped ? UsageError : ConfigurationError)(`Not a profile name: \`${name}\`.`, {
    hint: "use letters, digits, `.`, `_` and `-`, not starting with a dot",
  });
}

export function isProfileName(name: string): boolean {
  return /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$/.test(name);
}

/**
 * Reads `{"profiles": {"<name>": {"baseUrl", "key", "db", …}}}`; no file is no profiles.
 * @param options.mending the file is about to be rewritten with safe permissions, so that loose ones are no obstacle
 * @throws ConfigurationError when it is unreadable, garbled, in a folder that others may write to, or open to others
 * while it holds a key; never its content
 */
export async function readProfiles(
  configDir: string,
  options: { mending?: boolean } = {},
): Promise<Map<string, Profile>> {
  const path = configFile(configDir);
  const content = readContent(path);
  if (content === undefined) return new Map();
  if (!options.mending) checkFolder(configDir, statSync(configDir));
  const profiles = parseProfiles(content.text, path);
  const holdsKey = [...profiles.values()].some((profile) => profile.key !== undefined);
  if (holdsKey && !options.mending) checkPrivate(path, content.stat);
  return profiles;
}

/** Replaces the profiles in the config file, atomically, and keeps what else it holds; folder 0700, file 0600. */
export async function writeProfiles(configDir: string, profiles: Profiles): Promise<void> {
  const path = configFile(configDir);
  const present = readContent(path);
  const folder = statSync(configDir, { throwIfNoEntry: false });
  if (!present && folder) checkFolder(configDir, folder);
  const root = present ? parseRoot(present.text, path) : {};
  try {
    const text = JSON.stringify({ ...root, profiles: Object.fromEntries(profiles) }, null, 2);
    await writePrivate(path, `${text}\n`);
  } catch (error) {
    throw new ConfigurationError(`The settings cannot be written (${reasonOf(error)}): ${path}`, {
      hint: "make the folder writable, or name another with BRANDAPI_CONFIG_DIR",
    });
  }
}

function readContent(path: string) {
  try {
    const { fd, stat } = openToRead(path);
    try {
      if (stat.size > mostBytes) throw garbled(path, "is too large to be one");
      return { text: readFileSync(fd, "utf8"), stat };
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw new ConfigurationError(`The config file cannot be read (${reasonOf(error)}): ${path}`, {
      hint: "mend its permissions, or name another folder with BRANDAPI_CONFIG_DIR",
    });
  }
}

function parseProfiles(text: string, path: string): Map<string, Profile> {
  const root = parseRoot(text, path);
  if (root.profiles === undefined) return new Map();
  if (!isObject(root.profiles)) throw garbled(path, "has `profiles` that is not an object");
  const profiles = new Map<string, Profile>();
  for (const [name, profile] of Object.entries(root.profiles)) {
    if (!isObject(profile))
      throw garbled(path, `has a profile that is not an object: ${JSON.stringify(name)}`);
    for (const member of members)
      if (profile[member] !== undefined && typeof profile[member] !== "string")
        throw garbled(path, `has a \`${member}\` that is not text in the profile ${JSON.stringify(name)}`);
    profiles.set(name, profile);
  }
  return profiles;
}

function parseRoot(text: string, path: string): Record<string, unknown> {
  let root: unknown;
  try {
    root = JSON.parse(text.replace(/^\ufeff/, ""));
  } catch {
    // The parser's own message quotes the text around the fault, and that may be the key: neither shown nor kept.
    throw garbled(path, "is not valid JSON");
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
