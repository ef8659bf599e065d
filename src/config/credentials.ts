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

/** The API's base URL and a key for it. */
export interface ApiCredentials {
  baseUrl: string;
  key: string;
}

const versionedRoot = "/api/brand/v1";

/** Returns the base URL and the key. Throws a ConfigurationError if one is missing. */
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

/** Returns which is missing: the key, the base URL, or both. */
export function missingCredentials({ baseUrl, key }: Pick<Settings, "baseUrl" | "key">): string {
  if (key !== undefined) return "base URL";
  return baseUrl === undefined ? "key and no base URL" : "key";
}

/** Returns a command line for a profile. */
export function commandFor(command: string, profile: string): string {
  return `brandapi ${command}${profile === "default" ? "" : ` --profile ${profile}`}`;
}

/**
 * Returns the API's address without trailing slashes. Its path ends in `/api/brand/v1`; it is https, or http on a
 * loopback host; it has no user info, query or fragment.
 * @param source where the text comes from, for the message: `--base-url`, `BRANDAPI_BASE_URL`, a profile
 * @throws ConfigurationError
 */
export function checkBaseUrl(text: string, source: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const path = url?.pathname.replace(/\/+$/, "") ?? "";
  const refuse = (fault: string) =>
    new ConfigurationError(`The base URL from ${source} ${fault}.`, {
      hint: `use an address such as https://platform.example${versionedRoot}`,
    });
  if (!url && /^https?:/.test(text)) throw refuse("is not a URL");
  if (url?.protocol === "http:" && !isLoopback(url.hostname))
    throw refuse(`is plain http, which would expose the key to the network: ${url.origin}`);
  if (url?.protocol !== "https:" && url?.protocol !== "http:") throw refuse("does not start with https://");
  if (url.username || url.password || /[?#]/.test(text))
    throw refuse("must not have a user name, a password, a query or a fragment");
  if (!path.endsWith(versionedRoot)) throw refuse(`does not end in ${versionedRoot}: ${url.origin}${path}`);
  return url.origin + path;
}

/**
 * Returns a key without surrounding white space.
 * @param source where the key comes from, for the message, which never contains the key
 * @throws ConfigurationError if the key is not valid in a header
 */
export function checkKey(text: string, source: string): string {
  const key = text.trim();
  if (/^[\x21-\x7e]{1,16384}$/.test(key)) return key;
  const fault = key === "" ? "is empty" : "contains a space, a line break or another invalid character";
  throw new ConfigurationError(`The key from ${source} ${fault}.`, {
    hint: "copy only the key, as the console showed it when it was created",
  });
}

/** Reads the file of `--key-file`. Throws a ConfigurationError if other users can read it, or if it contains no key. */
export function readKeyFile(named: string, deps: PathDeps): string {
  const path = expandPath(named, deps);
  // The key itself may have been passed instead of a path.
  const isPath = /[\\/]/.test(named) && existsSync(dirname(path));
  const fault = keyFileFault(path);
  if (fault !== null)
    throw new ConfigurationError(`The key file ${fault}: ${isPath ? path : abbreviate(named)}`, {
      hint: "`--key-file` takes the path of a file with the key; never pass the key itself as an argument",
    });
  checkPrivate(path, deps);
  return checkKey(readTextFile(path), `the file ${path}`);
}

/** Returns why a file cannot be found, without its path, which may be a key; null if it exists. */
function keyFileFault(path: string): string | null {
  try {
    return pathExists(path) ? null : "does not exist";
  } catch (error) {
    return errorCode(error) === "EACCES" ? "cannot be read, permission denied" : "does not exist";
  }
}

/** Throws a ConfigurationError if other users of this machine can read a file with a key. */
export function checkPrivate(path: string, { platform }: Pick<PathDeps, "platform">): void {
  const stat = statSync(path);
  if (stat.isDirectory())
    throw new ConfigurationError(`The key file is a folder: ${path}`, {
      hint: "pass a file to `--key-file`",
    });
  if (!isReadableByOthers(stat, { platform })) return;
  // File systems without permissions report every file as executable; a settings file is not.
  const hasNoPermissions = (stat.mode & 0o100) !== 0;
  const otherFolder = `; if that has no effect, the file system has no permissions: ${noPermissionsHint}`;
  throw new ConfigurationError(`Other users of this machine may read the key in ${path}`, {
    hint: `run \`chmod 600 ${quoteShellWord(path)}\`${hasNoPermissions ? otherFolder : ""}`,
  });
}

/** True if users other than the owner can read a file; false on Windows, which has other permissions. */
export function isReadableByOthers(stat: Stats, { platform }: Pick<PathDeps, "platform">): boolean {
  return platform !== "win32" && stat.isFile() && (stat.mode & 0o077) !== 0;
}

/** The hint for a file system without permissions. */
export const noPermissionsHint =
  "set `BRANDAPI_CONFIG_DIR` to a folder on another file system, or pass the key in `BRANDAPI_KEY`";
