import { isLoopback } from "../loopback.js";

/**
 * The path, below the base URL, that gives an item's download URL. The item's own `download_path` may repeat the
 * versioned root or not, and may be a whole URL: all are taken, if they stay on the base URL's origin and below its
 * path. Otherwise the path is built from source and id: API document, "8. GET /content/{source}/{item_id}/download".
 */
export function downloadPath(
  item: { source: string; id: string; downloadPath: string | null },
  baseUrl: string,
): string {
  const { source, id } = item;
  const built = `/content/${encodeURIComponent(source)}/${encodeURIComponent(id)}/download`;
  return pathBelow(item.downloadPath ?? "", new URL(`${baseUrl}/`)) ?? built;
}

function pathBelow(text: string, base: URL): string | null {
  const root = base.pathname;
  // A backslash is a slash to `new URL`, and a control character is nothing at all.
  if (!/^[\x21-\x5b\x5d-\x7e]+$/.test(text) || text.startsWith("//")) return null;
  const below =
    text.startsWith(root) || text.includes("://") ? text : `.${text.startsWith("/") ? "" : "/"}${text}`;
  if (!URL.canParse(below, base.href)) return null;
  const url = new URL(below, base);
  const stays = url.origin === base.origin && url.pathname.startsWith(root) && !url.username && !url.password;
  const path = url.pathname.slice(root.length - 1);
  return stays && !url.search && !url.hash && path.length > 1 ? path : null;
}

/**
 * A signed URL that may be called: https, or http on loopback where the base URL is on loopback too (contract,
 * section 7); no user info.
 * @returns what is wrong with it, in words that do not quote it, where it may not
 */
export function readFileUrl(text: unknown, baseUrl: string): URL | { refused: string } {
  if (typeof text !== "string" || !URL.canParse(text))
    return { refused: "the API gave no download URL for it" };
  const url = new URL(text);
  if (url.username || url.password) return { refused: "its download URL holds a user name or password" };
  if (url.protocol === "https:") return url;
  const local = url.protocol === "http:" && isLoopback(url.hostname) && isLoopback(new URL(baseUrl).hostname);
  return local ? url : { refused: "its download URL is not https" };
}
