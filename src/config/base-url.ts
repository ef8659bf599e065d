import { ConfigurationError } from "../errors.js";
import { isLoopback } from "../lib/loopback.js";

const versionedRoot = "/api/brand/v1";
const longest = 2_000;

/**
 * Returns the API's address without trailing slashes. Its path ends in `/api/brand/v1`; it is https, or http on a
 * loopback host; it has no user info, query or fragment.
 * @param source where it was given, for the message: `--base-url`, `BRANDAPI_BASE_URL`, a profile
 * @throws ConfigurationError, a message of its own for each rule
 */
export function checkBaseUrl(text: string, source: string): string {
  const trimmed = text.trim();
  const wrong = faultOf(trimmed);
  if (wrong === undefined) {
    const { origin, pathname } = new URL(trimmed);
    return origin + pathname.replace(/\/+$/, "");
  }
  const better = mended(trimmed);
  throw new ConfigurationError(`The base URL from ${source} ${wrong}`, {
    hint: better
      ? `did you mean ${better}?`
      : `use an address such as https://platform.example${versionedRoot}`,
  });
}

/** What is wrong with an address; undefined if nothing is. An address that may hold a password is not shown. */
function faultOf(text: string): string | undefined {
  if (text.length > longest) return "is longer than any address.";
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

/** The address that was probably meant: one that `faultOf` finds nothing wrong with; undefined if there is none. */
function mended(text: string): string | undefined {
  const whole = text.includes("://") ? text : `https://${text}`;
  if (text.includes("@") || !URL.canParse(whole)) return undefined;
  const { host, hostname, pathname } = new URL(whole);
  if (!/[.:]/.test(host) && !isLoopback(hostname)) return undefined;
  const path = pathname.replace(/\/+$/, "");
  const version = path.search(/\/api\/brand\/v\d+(\/|$)/);
  const prefix = version < 0 ? path.replace(/\/api(\/brand)?$/, "") : path.slice(0, version);
  const better = `${isLoopback(hostname) ? "http" : "https"}://${host}${prefix}${versionedRoot}`;
  return faultOf(better) === undefined ? better : undefined;
}
