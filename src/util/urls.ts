/** The parameters of an API request. Undefined parameters are omitted from the URL. */
export type QueryParameters = Record<string, string | number | undefined>;

export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname);
}

/**
 * The maximum length of an encoded ID. Servers commonly reject URLs longer than 8,000 characters, and a path contains
 * up to two IDs.
 */
const maxSegmentLength = 4_000;

/**
 * Encodes an ID as a URL path segment. Returns null for IDs that would change the path (`.` and `..`), cannot be
 * encoded (lone surrogates) or are too long.
 */
export function encodePathSegment(id: string): string | null {
  if (/^\.{0,2}$/.test(id) || !id.isWellFormed()) return null;
  const segment = encodeURIComponent(id);
  return segment.length > maxSegmentLength ? null : segment;
}
