import { UnexpectedAnswer } from "../errors.js";
import type { Query } from "../resources/types.js";

/** Servers take addresses of some thousand letters. */
const longestPart = 4_000;

/**
 * Returns an id as one part of an address; null if no address can hold it: `.` and `..` would lead elsewhere, half of a
 * surrogate pair cannot be encoded, and servers refuse what is too long.
 */
export function addressPart(id: string): string | null {
  if (/^\.{0,2}$/.test(id) || !id.isWellFormed()) return null;
  const part = encodeURIComponent(id);
  return part.length > longestPart ? null : part;
}

/**
 * Returns the address of a path below the base URL. An id from the API can be part of the path.
 * @throws UnexpectedAnswer if it leads anywhere else, because the key must not go there
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
