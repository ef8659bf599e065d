import { addressPart } from "../api/index.js";
import { isLoopback } from "../lib/loopback.js";

/** Signed URLs have some thousand letters; no server takes more than this. */
const longestUrl = 16_384;

/**
 * Returns the path, below the base URL, that gives an item's download URL; null if no address can hold its id. An item's
 * `download_path` is this path, with the API's root or without: made of source and id it leads nowhere else. API document,
 * "8. GET /content/{source}/{item_id}/download".
 */
export function downloadPath(item: { source: string; id: string }): string | null {
  const [source, id] = [addressPart(item.source), addressPart(item.id)];
  return source === null || id === null ? null : `/content/${source}/${id}/download`;
}

/**
 * Returns a signed URL that may be called: https, or http on loopback if the base URL is on loopback too; without user
 * info. Otherwise returns the reason, which does not quote the URL.
 */
export function readFileUrl(text: unknown, baseUrl: string): URL | { refused: string } {
  if (typeof text !== "string" || text.length > longestUrl || !URL.canParse(text))
    return { refused: "the API gave no download URL for it" };
  const url = new URL(text);
  if (url.username || url.password) return { refused: "its download URL holds a user name or password" };
  if (url.protocol === "https:") return url;
  const isLocal =
    url.protocol === "http:" && isLoopback(url.hostname) && isLoopback(new URL(baseUrl).hostname);
  return isLocal ? url : { refused: "its download URL is not https" };
}
