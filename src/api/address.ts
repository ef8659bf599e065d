import { UnexpectedAnswer } from "../errors.js";
import type { Query } from "../resources/types.js";

/** Servers take addresses of some thousand letters: with a longer one, all that is asked for is refused. */
export const longestPart = 4_000;

/**
 * An id as one part of an address; null where no address can hold it: `.` and `..` would lead elsewhere, half a character
 * nowhere, and one that is endless is refused.
 */
export function addressPart(id: string): string | null {
  if (/^\.{0,2}$/.test(id) || !id.isWellFormed()) return null;
  const part = encodeURIComponent(id);
  return part.length > longestPart ? null : part;
}

/** A base URL with the slash that keeps `new URL` from dropping its last segment. */
export function baseOf(baseUrl: string): URL {
  return new URL(baseUrl.replace(/\/*$/, "/"));
}

/**
 * The address of a path below the base URL. An id from the API can be part of the path: one that leads anywhere
 * else is refused, so that the key stays where it belongs.
 */
export function addressOf(base: URL, path: string, query: Query): URL {
  const url = new URL(`.${path.startsWith("/") ? "" : "/"}${path}`, base);
  if (!url.href.startsWith(base.href) || url.search || url.hash) {
    throw new UnexpectedAnswer("A path leads outside the base URL: not requested.");
  }
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  return url;
}
