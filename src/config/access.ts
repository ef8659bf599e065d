import { readFileSync, statSync } from "node:fs";
import { platform } from "node:os";
import { addAbortSignal, type Readable } from "node:stream";
import { ConfigurationError } from "../errors.js";
import { wordsOf } from "../lib/failures.js";
import { isLoopback } from "../lib/loopback.js";
import { shellWord } from "../lib/shell.js";

const versionedRoot = "/api/brand/v1";
/** No key is anywhere near this long. */
const longestKey = 16_384;

/**
 * Returns the API's address without trailing slashes. Its path ends in `/api/brand/v1`; it is https, or http on a
 * loopback host; it has no user info, query or fragment.
 * @param source for the message: `--base-url`, `BRANDAPI_BASE_URL`, a profile
 * @throws ConfigurationError
 */
export function checkBaseUrl(text: string, source: string): string {
  const fault = faultOf(text.trim());
  if (fault !== undefined)
    throw new ConfigurationError(`The base URL from ${source} ${fault}`, {
      hint: `use an address such as https://platform.example${versionedRoot}`,
    });
  const { origin, pathname } = new URL(text.trim());
  return origin + pathname.replace(/\/+$/, "");
}

/** Returns what is wrong with an address, without a password that it may hold; undefined if nothing is. */
function faultOf(text: string): string | undefined {
  if (!text.includes("://")) return "does not start with https://";
  if (!URL.canParse(text)) return "is not a URL.";
  const url = new URL(text);
  if (url.username || url.password) return "must not hold a user name or password.";
  if (text.includes("?")) return "must not have a query (`?…`).";
  if (text.includes("#")) return "must not have a fragment (`#…`).";
  if (url.protocol !== "https:" && url.protocol !== "http:")
    return `must start with https://, not ${url.protocol}//`;
  if (url.protocol === "http:" && !isLoopback(url.hostname))
    return `is plain http, which would show the key to the network: ${url.origin}`;
  if (!url.pathname.replace(/\/+$/, "").endsWith(versionedRoot))
    return `does not end in ${versionedRoot}: ${url.origin}${url.pathname}`;
  return undefined;
}

/**
 * Returns a key without the white space around it.
 * @param source for the message, which never shows the key
 * @throws ConfigurationError if it cannot be sent in a header as it is
 */
export function checkKey(text: string, source: string): string {
  const key = text.replace(/^\ufeff/, "").trim();
  if (/^[\x21-\x7e]+$/.test(key) && key.length <= longestKey) return key;
  const fault =
    key === ""
      ? "is empty"
      : /\s/u.test(key)
        ? "has a space or line break in it"
        : "has a character that no key has, or is too long";
  throw new ConfigurationError(`The key from ${source} ${fault}.`, {
    hint: "copy the key alone, on one line, as the console showed it when it was created",
  });
}

/** Reads `--key-file`. @throws ConfigurationError if it cannot be read, others may read it, or it holds no key */
export function readKeyFile(path: string): string {
  try {
    checkPrivate(path);
    return checkKey(readFileSync(path, "utf8"), `the file ${path}`);
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    throw new ConfigurationError(`cannot read the key file ${path}: ${wordsOf(error)}`, {
      hint: "check --key-file, or store the key with `brandapi login`",
    });
  }
}

/** Reads a key from stdin. Rejects with ConfigurationError if there is none, with an AbortError when the signal aborts. */
export async function readKeyStream(stream: Readable, signal: AbortSignal): Promise<string> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of addAbortSignal(signal, stream)) {
    pieces.push(Buffer.from(piece));
    length += piece.length;
    if (length > longestKey) break;
  }
  return checkKey(Buffer.concat(pieces).toString("utf8"), "stdin");
}

/** Refuses a file with a key that other users of this machine may read. Windows keeps permissions elsewhere. */
export function checkPrivate(path: string): void {
  const stat = statSync(path);
  if (platform() === "win32" || !stat.isFile() || (stat.mode & 0o077) === 0) return;
  throw new ConfigurationError(`Other users of this machine may read the key in ${path}`, {
    hint: `run \`chmod 600 ${shellWord(path)}\``,
  });
}
