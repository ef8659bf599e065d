import { existsSync, type Stats, statSync } from "node:fs";
import { dirname } from "node:path";
import { ConfigurationError } from "../errors.js";
import { pathExists, readTextFile } from "../util/files.js";
import { abbreviate } from "../util/redact-keys.js";
import { errorCode } from "../util/system-errors.js";
import { quoteShellWord } from "../util/text.js";
import { isLoopback } from "../util/urls.js";
import { expandPath, type PathDeps } from "./folders.js";
import type { Settings } from "./settings.js";

/** The API's address and the key for it. */
export interface ApiCredentials {
  baseUrl: string;
  key: string;
}

const versionedRoot = "/api/brand/v1";

/** Returns the base URL and the key. @throws ConfigurationError if one is missing */
export function requireCredentials({ baseUrl, key, profile }: Settings): ApiCredentials {
  if (baseUrl !== undefined && key !== undefined) return { baseUrl, key };
  const place = baseUrl === undefined ? "" : ` at ${new URL(baseUrl).origin}`;
  throw new ConfigurationError(
    `No ${missingCredentials({ baseUrl, key })} for the profile \`${profile}\`${place}.`,
    {
      hint: `run \`${commandFor("login", profile)}\`; without a key, try \`brandapi demo\`, or \`brandapi sandbox\`, which prints one`,
    },
  );
}

/** Names what is missing: the key, the base URL or both. Call it only if one is. */
export function missingCredentials({ baseUrl, key }: Pick<Settings, "baseUrl" | "key">): string {
  if (key !== undefined) return "base URL";
  return baseUrl === undefined ? "key and no base URL" : "key";
}

/** Returns a command as a person types it for a profile. */
export function commandFor(command: string, profile: string): string {
  return `brandapi ${command}${profile === "default" ? "" : ` --profile ${profile}`}`;
}

/**
 * Returns the API's address without trailing slashes. Its path ends in `/api/brand/v1`; it is https, or http on a
 * loopback host; it has no user info, query or fragment.
 * @param source for the message: `--base-url`, `BRANDAPI_BASE_URL`, a profile
 * @throws ConfigurationError
 */
export function checkBaseUrl(text: string, source: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const path = url?.pathname.replace(/\/+$/, "") ?? "";
  const refuse = (fault: string) =>
    new ConfigurationError(`The base URL from ${source} ${fault}.`, {
      hint: `use an address such as https://platform.example${versionedRoot}`,
    });
  if (!url && /^https?:/.test(text)) throw refuse("is no web address");
  if (url?.protocol === "http:" && !isLoopback(url.hostname))
    throw refuse(`is plain http, which would show the key to the network: ${url.origin}`);
  if (url?.protocol !== "https:" && url?.protocol !== "http:") throw refuse("does not start with https://");
  if (url.username || url.password || /[?#]/.test(text))
    throw refuse("must not have a user name, a password, a query or a fragment");
  if (!path.endsWith(versionedRoot)) throw refuse(`does not end in ${versionedRoot}: ${url.origin}${path}`);
  return url.origin + path;
}

/**
 * Returns a key without the white space around it.
 * @param source for the message, which never shows the key
 * @throws ConfigurationError if it cannot be sent in a header as it is
 */
export function checkKey(text: string, source: string): string {
  const key = text.trim();
  if (/^[\x21-\x7e]{1,16384}$/.test(key)) return key;
  const fault = key === "" ? "is empty" : "has a space, a line break or another character that no key has";
  throw new ConfigurationError(`The key from ${source} ${fault}.`, {
    hint: "copy the key alone, on one line, as the console showed it when it was created",
  });
}

/** Reads `--key-file`. @throws ConfigurationError if others may read it or it holds no key; the system's errors */
export function readKeyFile(named: string, deps: PathDeps): string {
  const path = expandPath(named, deps);
  // A person may have passed the key itself.
  const isPath = /[\\/]/.test(named) && existsSync(dirname(path));
  const fault = keyFileFault(path);
  if (fault !== null)
    throw new ConfigurationError(`The key file ${fault}: ${isPath ? path : abbreviate(named)}`, {
      hint: "`--key-file` names a file that holds the key; the key itself is never an argument",
    });
  checkPrivate(path, deps);
  return checkKey(readTextFile(path), `the file ${path}`);
}

/** Returns why there is no file at a path, without the path, which may be a key; null if there is one. */
function keyFileFault(path: string): string | null {
  try {
    return pathExists(path) ? null : "does not exist";
  } catch (error) {
    return errorCode(error) === "EACCES" ? "cannot be read, permission denied" : "does not exist";
  }
}

/** Refuses a file with a key that other users of this machine may read. */
export function checkPrivate(path: string, { platform }: Pick<PathDeps, "platform">): void {
  const stat = statSync(path);
  if (stat.isDirectory())
    throw new ConfigurationError(`A folder holds no key: ${path}`, { hint: "name a file with `--key-file`" });
  if (!isReadableByOthers(stat, { platform })) return;
  // Editors make no settings file executable, but file systems without permissions report it so.
  const isInvented = (stat.mode & 0o100) !== 0;
  const otherFolder = `; if that changes nothing, its file system has no permissions: ${noPermissionsHint}`;
  throw new ConfigurationError(`Other users of this machine may read the key in ${path}`, {
    hint: `run \`chmod 600 ${quoteShellWord(path)}\`${isInvented ? otherFolder : ""}`,
  });
}

/** Returns true if users other than the owner can read a file. Windows keeps permissions elsewhere. */
export function isReadableByOthers(stat: Stats, { platform }: Pick<PathDeps, "platform">): boolean {
  return platform !== "win32" && stat.isFile() && (stat.mode & 0o077) !== 0;
}

/** What to do if the file system of the settings or of a key file has no permissions. */
export const noPermissionsHint =
  "set `BRANDAPI_CONFIG_DIR` to a folder on another one, or give the key in `BRANDAPI_KEY`";
