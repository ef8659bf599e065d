import type { ApiClient } from "../api/client.js";
import { encodePathSegment } from "../api/request-url.js";
import { BadRequest, NotFound } from "../errors.js";
import { isObject, type Json } from "../util/json-value.js";
import { isLoopback } from "../util/urls.js";
import { DownloadFailure } from "./download-failure.js";
import type { LibraryFile } from "./library-files.js";

/** Maximum URL length. Signed URLs have a few thousand characters, and servers reject URLs that are much longer. */
const maxUrlLength = 16_384;

/**
 * Requests a file's signed URL (API document, "8. GET /content/{source}/{item_id}/download"). The URL expires soon, so
 * it is never stored.
 * @throws DownloadFailure if the API returns no usable URL; other API errors
 */
export async function requestFileUrl(
  file: LibraryFile,
  { api, baseUrl }: { api: Pick<ApiClient, "get">; baseUrl: string },
): Promise<URL> {
  const path = downloadPath(file);
  if (path === null) throw new DownloadFailure("its ID cannot be part of a URL");
  let data: Json;
  try {
    ({ data } = await api.get(path, {}, "content:read"));
  } catch (error) {
    if (!(error instanceof NotFound || error instanceof BadRequest)) throw error;
    const kind = error instanceof NotFound ? "missing" : "permanent";
    throw new DownloadFailure(`the API has no download URL for it (${error.status})`, kind);
  }
  const url = readFileUrl(isObject(data) ? data.url : null, baseUrl);
  if ("problem" in url) throw new DownloadFailure(`its download URL ${url.problem}`);
  return url;
}

/**
 * Returns the API path that provides a file's download URL; null if the file's ID cannot be part of a URL. The item's
 * `download_path` is not used, because that path could point elsewhere.
 */
export function downloadPath(file: { source: string; id: string }): string | null {
  const [source, id] = [encodePathSegment(file.source), encodePathSegment(file.id)];
  return source === null || id === null ? null : `/content/${source}/${id}/download`;
}

/**
 * Returns a URL that is safe to request: https without a user name or password, or http if both the URL and the base
 * URL are on loopback. Otherwise returns the problem, without quoting the URL.
 */
export function readFileUrl(text: unknown, baseUrl: string): URL | { problem: string } {
  if (typeof text !== "string") return { problem: "is missing" };
  if (text.length > maxUrlLength || !URL.canParse(text)) return { problem: "is invalid" };
  const url = new URL(text);
  if (url.username || url.password) return { problem: "contains a user name or password" };
  if (url.protocol === "https:") return url;
  const isLocal =
    url.protocol === "http:" && isLoopback(url.hostname) && isLoopback(new URL(baseUrl).hostname);
  return isLocal ? url : { problem: "is not https" };
}
