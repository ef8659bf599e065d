import { ConfigurationError } from "../errors.js";
import { isLoopback } from "../lib/loopback.js";

const versionedRoot = "/api/brand/v1";
const longest = 2_000;

/**
 * Checks the API's address and removes trailing slashes. The API document, Access 4: the path ends in
 * `/api/brand/v1`; the contract, section 2: https, or http on a loopback host; no user info, query or fragment.
 * @param source where it was given, for the message: `--base-url`, `BRANDAPI_BASE_URL`, a profile
 * @throws ConfigurationError, a message of its own for each rule
 */
export function checkBaseUrl(text: string, source: string): string {
  const refuse = (what: string, hint?: string) =>
    new ConfigurationError(`The base URL from ${source} ${what}`, {
      hint: hint ?? `use an address such as https://platform.example${versionedRoot}`,
    });
  const trimmed = text.trim();
  if (trimmed.length > longest) throw refuse("is longer than any address.");
  if (!trimmed.includes("://")) throw refuse("does not start with https://", withScheme(trimmed));
  if (!URL.canParse(trimmed)) throw refuse("is not a URL.");
  const url = new URL(trimmed);
  // The address is shown in no message before this: it may hold a password.
  if (url.username || url.password) throw refuse("must not hold a user name or password.");
  if (trimmed.includes("?")) throw refuse("must not have a query (`?…`).");
  if (trimmed.includes("#")) throw refuse("must not have a fragment (`#…`).");
  if (url.protocol !== "https:" && url.protocol !== "http:")
    throw refuse(`must start with https://, not ${url.protocol}//`);
  if (url.protocol === "http:" && !isLoopback(url.hostname))
    throw refuse(
      `is plain http, which would show the key to the network: ${url.origin}`,
      `use https://${url.host}${url.pathname}`,
    );
  const path = url.pathname.replace(/\/+$/, "");
  if (!path.endsWith(versionedRoot))
    throw refuse(
      `does not end in ${versionedRoot}: ${url.origin}${url.pathname}`,
      `did you mean ${url.origin}${mendPath(path)}?`,
    );
  return url.origin + path;
}

/** A hint for an address without its scheme; none where the address may hold a password. */
function withScheme(text: string): string | undefined {
  if (!URL.canParse(`https://${text}`) || !/[.:]/.test(text) || text.includes("@")) return undefined;
  const { hostname } = new URL(`https://${text}`);
  return `did you mean ${isLoopback(hostname) ? "http" : "https"}://${text}?`;
}

/** `/api/brand` and `/` lack the end of the root; `/api/brand/v1/orders` has too much, `/api/brand/v2` another. */
function mendPath(path: string): string {
  const within = path.search(/\/api\/brand\/v\d+(\/|$)/);
  if (within >= 0) return path.slice(0, within) + versionedRoot;
  const begun = ["/api/brand", "/api"].find((part) => path.endsWith(part)) ?? "";
  return path.slice(0, path.length - begun.length) + versionedRoot;
}
