import { addressPart, longestPart } from "../api/index.js";
import { isLoopback } from "../lib/loopback.js";

const versioned = "/api/brand/v1/";
/** Signed URLs have some thousand letters; no server takes more than this. */
const longestUrl = 16_384;

/**
 * Returns the path, below the base URL, that gives an item's download URL. The item's own `download_path` is taken if it
 * stays below the base URL, with or without the versioned root, or as a whole URL. Otherwise the path is made of source
 * and id: API document, "8. GET /content/{source}/{item_id}/download".
 * @returns null if no address can hold the id
 */
export function downloadPath(
  item: { source: string; id: string; downloadPath: string | null },
  baseUrl: string,
): string | null {
  const [source, id] = [addressPart(item.source), addressPart(item.id)];
  const built = source === null || id === null ? null : `/content/${source}/${id}/download`;
  return pathBelow(item.downloadPath ?? "", new URL(`${baseUrl}/`)) ?? built;
}

function pathBelow(text: string, base: URL): string | null {
  const root = base.pathname;
  // `new URL` reads a backslash as a slash, and skips control characters.
  if (!/^[\x21-\x5b\x5d-\x7e]+$/.test(text) || text.startsWith("//") || text.length > longestPart)
    return null;
  const isWhole = text.startsWith(root) || text.includes("://");
  // A gateway before the API has a root of its own, which the API does not know.
  const path = text.startsWith(versioned) ? text.slice(versioned.length) : text;
  const below = isWhole ? text : `.${path.startsWith("/") ? "" : "/"}${path}`;
  if (!URL.canParse(below, base.href)) return null;
  const url = new URL(below, base);
  const stays = url.origin === base.origin && url.pathname.startsWith(root) && !url.username && !url.password;
  const found = url.pathname.slice(root.length - 1);
  return stays && !url.search && !url.hash && found.length > 1 ? found : null;
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
