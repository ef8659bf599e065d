import { UnexpectedAnswer } from "../errors.js";
import type { Query } from "../resources/types.js";

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
