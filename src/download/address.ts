import { addressPart, longestPart } from "../api/index.js";
import { isLoopback } from "../lib/loopback.js";

/**
 * The path, below the base URL, that gives an item's download URL. The item's own `download_path` may repeat the
 * versioned root or not, with what a gateway puts before it or without, and may be a whole URL: all are taken, if they
 * stay on the base URL's origin and below its path. Otherwise the path is built from source and id: API document, "8. GET
 * /content/{source}/{item_id}/download".
 * @returns null where no address can hold its id
 */
export function downloadPath(
  item: { source: string; id: string; downloadPath: string | null },
  baseUrl: string,
): string | null {
  const [source, id] = [addressPart(item.source), addressPart(item.id)];
  const built = source === null || id === null ? null : `/content/${source}/${id}/download`;
  return pathBelow(item.downloadPath ?? "", new URL(`${baseUrl}/`)) ?? built;
}

/** API document, "What the service does" 4. */
const versioned = "/api/brand/v1/";

function pathBelow(text: string, base: URL): string | null {
  const root = base.pathname;
  // A backslash is a slash to `new URL`, and a control character is nothing at all.
  if (!/^[\x21-\x5b\x5d-\x7e]+$/.test(text) || text.startsWith("//") || text.length > longestPart)
    return null;
  const isWhole = text.startsWith(root) || text.includes("://");
  // A gateway before the API has a root of its own, of which the API knows nothing.
  const path = text.startsWith(versioned) ? text.slice(versioned.length) : text;
  const below = isWhole ? text : `.${path.startsWith("/") ? "" : "/"}${path}`;
  if (!URL.canParse(below, base.href)) return null;
  const url = new URL(below, base);
  const stays = url.origin === base.origin && url.pathname.startsWith(root) && !url.username && !url.password;
  const found = url.pathname.slice(root.length - 1);
  return stays && !url.search && !url.hash && found.length > 1 ? found : null;
}

/** Signed ones have some thousand letters; no server takes more than this. */
const longestUrl = 16_384;

/**
 * A signed URL that may be called: https, or http on loopback where the base URL is on loopback too (contract,
 * section 7); no user info.
 * @returns what is wrong with it, in words that do not quote it, where it may not
 */
export function readFileUrl(text: unknown, baseUrl: string): URL | { refused: string } {
  if (typeof text !== "string" || text.length > longestUrl || !URL.canParse(text))
    return { refused: "the API gave no download URL for it" };
  const url = new URL(text);
  if (url.username || url.password) return { refused: "its download URL holds a user name or password" };
  if (url.protocol === "https:") return url;
  const local = url.protocol === "http:" && isLoopback(url.hostname) && isLoopback(new URL(baseUrl).hostname);
  return local ? url : { refused: "its download URL is not https" };
}
