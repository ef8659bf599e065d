import { UnexpectedResponse } from "../errors.js";
import type { QueryParameters } from "../util/urls.js";

/** Servers commonly reject URLs longer than 8,000 characters, and a path contains up to two IDs. */
const maxSegmentLength = 4_000;

/**
 * Encodes an ID as a URL path segment. Returns null for `.` and `..`, which change the path, for lone surrogates, which
 * cannot be encoded, and for long IDs.
 */
export function encodePathSegment(id: string): string | null {
  if (/^\.{0,2}$/.test(id) || !id.isWellFormed()) return null;
  const segment = encodeURIComponent(id);
  return segment.length > maxSegmentLength ? null : segment;
}

/**
 * Returns the URL for a path relative to the base URL.
 * @param base the base URL with a trailing slash
 * @throws UnexpectedResponse if the URL leads outside the base URL, because an ID from the API must not cause the key
 * to be sent to another server
 */
export function buildUrl(base: URL, path: string, query: QueryParameters): URL {
  const url = new URL(`.${path.startsWith("/") ? "" : "/"}${path}`, base);
  if (!url.href.startsWith(base.href) || url.search || url.hash)
    throw new UnexpectedResponse("A path leads outside the base URL, so it was not requested.");
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) url.searchParams.set(name, String(value));
  return url;
}
