import { existsSync, type Stats, statSync } from "node:fs";
import { dirname, isAbsolute } from "node:path";
import { ConfigurationError } from "../errors.js";
import { pathExists, readTextFile } from "../util/files.js";
import { quoteShellWord } from "../util/format-text.js";
import { abbreviate } from "../util/redact-keys.js";
import { errorCode } from "../util/system-errors.js";
import { isLoopback } from "../util/urls.js";
import { expandPath, type PathDeps } from "./folders.js";

const versionedRoot = "/api/brand/v1";

/**
 * Parses a base URL and removes trailing slashes. The URL must use https, or http if the host is a loopback host. It
 * must end in `/api/brand/v1`, without user info, a query or a fragment.
 * @param source the URL's source, such as `--base-url`, for error messages
 * @throws ConfigurationError if the URL is invalid
 */
export function parseBaseUrl(text: string, source: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const path = url?.pathname.replace(/\/+$/, "") ?? "";
  const unexpanded = findExpansionFault(text);
  if (unexpanded !== null)
    throw new ConfigurationError(`The base URL from ${source} ${unexpanded.fault}.`, {
      hint: unexpanded.hint,
    });
  const meant = correctAddress(text);
  const createUrlError = (fault: string) =>
    new ConfigurationError(`The base URL from ${source} ${fault}.`, {
      hint:
        meant === null
          ? `use an address such as https://platform.example${versionedRoot}`
          : `did you mean ${meant}?`,
    });
  if (!url && /^https?:/.test(text)) throw createUrlError("is not a URL");
  if (url?.protocol === "http:" && !isLoopback(url.hostname))
    throw createUrlError(`uses plain http, which would expose the key to the network: ${url.origin}`);
  if (url?.protocol !== "https:" && url?.protocol !== "http:")
    throw createUrlError(`does not start with https://${meant === null ? "" : `: ${abbreviate(text)}`}`);
  if (url.username || url.password || /[?#]/.test(text))
    throw createUrlError("must not have a username, a password, a query or a fragment");
  if (!path.endsWith(versionedRoot))
    throw createUrlError(`does not end in ${versionedRoot}: ${url.origin}${path}`);
  return url.origin + path;
}

/**
 * Corrects the scheme and the end of an address such as `localhost:4010/api/brand/v1` or `https//platform.example/`.
 * Returns null for text that does not look like an address, because it may be a key or contain a password.
 */
function correctAddress(text: string): string | null {
  const [, address = "", host = "", path = ""] =
    /^(?:https?[:;]?\/\/?)?((localhost|\[::1\]|[\w-]+(?:\.[\w-]+)+)(?::\d+)?(\/[\w./-]*))$/i.exec(text) ?? [];
  const scheme = isLoopback(host.toLowerCase()) ? "http" : "https";
  if (host === "" || !URL.canParse(`${scheme}://${address}`)) return null;
  const prefix = path.replace(/\/+$|\/api(?:\/.*)?$/, "");
  return new URL(`${scheme}://${address}`).origin + prefix + versionedRoot;
}

/**
 * Detects a setting that the shell or the `.env` loader did not process: a value that is still in quotes, or a variable
 * such as `$KEY` instead of its value. Returns null for any other text.
 */
export function findExpansionFault(text: string): { fault: string; hint: string } | null {
  if (/^(["']).*\1$/.test(text)) return { fault: "is in quotation marks", hint: "remove the quotes" };
  const [variable] = /^\$(?:\w+|\{\w+\})/.exec(text) ?? [];
  if (variable === undefined) return null;
  return {
    fault: `is a variable that was not expanded: \`${variable}\``,
    hint: "write the value instead of the variable's name",
  };
}

/**
 * Parses a key, and removes surrounding whitespace.
 * @param source the key's source, for error messages, which never contain the key
 * @throws ConfigurationError if the key cannot be sent in a header
 */
export function parseKey(text: string, source: string): string {
  const key = text.trim();
  const isQuoted = /^["']|["']$/.test(key);
  if (/^[\x21-\x7e]{1,16384}$/.test(key) && !isQuoted) return key;
  const invalid = isQuoted
    ? "contains quotes"
    : "contains a space, a line break or another invalid character";
  const fault = key === "" ? "is empty" : invalid;
  throw new ConfigurationError(`The key from ${source} ${fault}.`, {
    hint: "copy only the key, exactly as the console displays it",
  });
}

/**
 * Reads the file passed to `--key-file`.
 * @throws ConfigurationError if other users can read the file, or if it does not contain a valid key
 */
export function readKeyFile(givenPath: string, deps: PathDeps): string {
  const path = expandPath(givenPath, deps);
  const fault = findKeyFileFault(path);
  if (fault !== null)
    throw new ConfigurationError(
      `The key file ${fault}: ${looksLikePath(givenPath, path) ? path : abbreviate(givenPath)}`,
      {
        hint: fault.startsWith("cannot be read")
          ? "check the permissions of the file and its folder"
          : "`--key-file` takes the path of a file that contains the key; never pass the key itself as an argument",
      },
    );
  checkPrivate(path, deps);
  return parseKey(readTextFile(path), `the file ${path}`);
}

/**
 * True if the value of `--key-file` is a path, and not the key itself. It is a path if it contains a slash and its parent
 * folder exists. For an absolute path, any existing folder above it other than the root is sufficient.
 */
function looksLikePath(givenPath: string, path: string): boolean {
  if (!/[\\/]/.test(givenPath)) return false;
  let folder = dirname(path);
  if (isAbsolute(givenPath) || givenPath.startsWith("~/"))
    while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder);
  return existsSync(folder) && dirname(folder) !== folder;
}

/**
 * Returns the problem if a key file is missing or inaccessible, and null if the file exists. The text omits the path,
 * because the user may have passed a key instead of a path.
 */
function findKeyFileFault(path: string): string | null {
  try {
    return pathExists(path) ? null : "does not exist";
  } catch (error) {
    return errorCode(error) === "EACCES" ? "cannot be read (permission denied)" : "does not exist";
  }
}

/** @throws ConfigurationError if other users of this machine can read a file that contains a key */
export function checkPrivate(path: string, { platform }: Pick<PathDeps, "platform">): void {
  const stat = statSync(path);
  if (stat.isDirectory())
    throw new ConfigurationError(`The key file is a folder: ${path}`, {
      hint: "pass a file to `--key-file`",
    });
  if (!isReadableByOthers(stat, { platform })) return;
  // File systems that do not support permissions usually report every file as executable. On these, `chmod` has no
  // effect, so the hint must name another solution.
  const lacksPermissionSupport = (stat.mode & 0o100) !== 0;
  const otherFolder = `; if that has no effect, the file system does not support permissions, so ${noPermissionsHint}`;
  throw new ConfigurationError(`Other users of this machine can read the key in ${path}`, {
    hint: `run \`chmod 600 ${quoteShellWord(path)}\`${lacksPermissionSupport ? otherFolder : ""}`,
  });
}

/**
 * True if users other than the owner can read the file. Always false on Windows, which has a different permission
 * model.
 */
export function isReadableByOthers(stat: Stats, { platform }: Pick<PathDeps, "platform">): boolean {
  return platform !== "win32" && stat.isFile() && (stat.mode & 0o077) !== 0;
}

export const noPermissionsHint =
  "set `BRANDAPI_CONFIG_DIR` to a folder on another file system, or pass the key in `BRANDAPI_KEY`";
