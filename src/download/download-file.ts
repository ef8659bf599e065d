import type { ApiClient } from "../api/client.js";
import { classifyError } from "../api/request-errors.js";
import type { Deps, HttpResponse } from "../deps.js";
import { BadRequest, NotFound } from "../errors.js";
import { isObject, type Json } from "../util/json-value.js";
import { rejectOnAbort } from "../util/reject-on-abort.js";
import type { Task } from "../util/reporter.js";
import { dayMs } from "../util/timestamps.js";
import { encodePathSegment, isLoopback } from "../util/urls.js";
import type { LibraryFile } from "./library-download.js";
import { type FileVersion, PartialFile } from "./partial-file.js";

/**
 * The reasons why a download can fail:
 * - permanent: retrying cannot help
 * - missing: the library no longer has the file
 * - retryable: a retry may succeed
 * - restart: a retry may succeed if it starts over from the first byte
 * - unavailable: the file host is unreachable or failing, which probably affects the next file as well
 */
type DownloadFailureKind = "permanent" | "missing" | "retryable" | "restart" | "unavailable";

/** Thrown if a file cannot be downloaded. The message is printed after the file's path and never contains a URL. */
export class DownloadFailure extends Error {
  constructor(
    message: string,
    readonly kind: DownloadFailureKind = "permanent",
    /** The wait that the file host requested, in milliseconds. */
    readonly retryAfterMs?: number,
  ) {
    super(message);
  }
}

interface TransferOptions extends Pick<Deps, "fetch" | "setTimer" | "signal"> {
  userAgent: string;
  /** The base URL of the API. File URLs may use plain http only if they and this URL are on loopback. */
  baseUrl: string;
  maxWaitMs: number;
}

export interface DownloadFileOptions extends TransferOptions, Pick<Deps, "clock" | "random"> {
  api: Pick<ApiClient, "get">;
  task: Pick<Task, "waiting">;
}

const maxAttempts = 3;
/** The delays before the second and third attempts, in milliseconds and without jitter. */
const retryDelays = [1_000, 5_000];

/**
 * Downloads a file in up to three attempts, each with a new signed URL. Resumes an earlier partial download if the file
 * host still has the same version.
 * @throws DownloadFailure; file system and API errors; the signal's abort reason
 */
export async function downloadFile(
  file: LibraryFile,
  path: string,
  options: DownloadFileOptions,
): Promise<{ bytes: number; sha256: string; resumedFrom: number }> {
  const partial = await PartialFile.open(path);
  const hasAllBytes = partial.bytesWritten === partial.version?.length;
  let isDownloaded = hasAllBytes && partial.bytesWritten === file.size;
  // Start over if an earlier run downloaded all bytes, but their number does not match the size in the library.
  if (hasAllBytes && !isDownloaded) await partial.restart();
  try {
    for (let attempt = 1; !isDownloaded; attempt += 1) {
      try {
        const url = await requestFileUrl(file, options);
        await transfer(url, partial, file.size, options);
        isDownloaded = true;
      } catch (error) {
        if (!(error instanceof DownloadFailure)) throw error;
        if (error.kind === "restart") await partial.restart();
        if (error.kind === "permanent" || error.kind === "missing" || attempt === maxAttempts) throw error;
        const delayMs = (retryDelays[attempt - 1] ?? 0) * (0.5 + options.random());
        const waitMs = Math.min(error.retryAfterMs ?? delayMs, options.maxWaitMs);
        options.task.waiting(waitMs, error.message);
        await options.clock.sleep(waitMs, options.signal);
      }
    }
    return { bytes: partial.bytesWritten, sha256: await partial.finish(), resumedFrom: partial.resumedFrom };
  } catch (error) {
    await partial.close();
    throw error;
  }
}

/** The maximum length of a signed URL. Signed URLs are typically a few thousand characters long. */
const maxUrlLength = 16_384;

/**
 * Requests a signed URL for a file (see "8. GET /content/{source}/{item_id}/download" in the API documentation). The
 * URL is never stored, because it expires soon.
 * @throws DownloadFailure if the API returns no usable URL; also throws other API errors
 */
async function requestFileUrl(
  file: LibraryFile,
  { api, baseUrl }: { api: Pick<ApiClient, "get">; baseUrl: string },
): Promise<URL> {
  const path = downloadPath(file);
  if (path === null) throw new DownloadFailure("the file's ID cannot be part of a URL");
  let data: Json;
  try {
    ({ data } = await api.get(path, {}, "content:read"));
  } catch (error) {
    if (!(error instanceof NotFound || error instanceof BadRequest)) throw error;
    const kind = error instanceof NotFound ? "missing" : "permanent";
    throw new DownloadFailure(`the API has no download URL for the file (${error.status})`, kind);
  }
  const url = parseFileUrl(isObject(data) ? data.url : null, baseUrl);
  if ("problem" in url) throw new DownloadFailure(`the file's download URL ${url.problem}`);
  return url;
}

/**
 * Returns the API path for requesting a file's signed URL, or null if the ID cannot be part of a URL. The item's
 * `download_path` is not used, because it could point to something else.
 */
export function downloadPath(file: { source: string; id: string }): string | null {
  const [source, id] = [encodePathSegment(file.source), encodePathSegment(file.id)];
  return source === null || id === null ? null : `/content/${source}/${id}/download`;
}

/**
 * Returns a URL that is safe to request: an https URL without a username or password, or an http URL if both the URL
 * and the base URL are on loopback. For any other URL, returns the problem without quoting the URL.
 */
export function parseFileUrl(text: unknown, baseUrl: string): URL | { problem: string } {
  if (typeof text !== "string") return { problem: "is missing" };
  if (text.length > maxUrlLength || !URL.canParse(text)) return { problem: "is invalid" };
  const url = new URL(text);
  if (url.username || url.password) return { problem: "contains a username or password" };
  if (url.protocol === "https:") return url;
  const isLocal =
    url.protocol === "http:" && isLoopback(url.hostname) && isLoopback(new URL(baseUrl).hostname);
  return isLocal ? url : { problem: "is not https" };
}

/** The maximum file size in bytes, unless the library reports a larger size. */
const maxBytes = 16 * 2 ** 30;
/** The minimum download speed. The time limit for an attempt is `--max-wait` plus the transfer time at this speed. */
const minBytesPerMs = 64;
const maxTimeoutMs = dayMs;
const maxRedirects = 3;

/**
 * Downloads the missing bytes of a file from a signed URL, without sending the API key.
 * @param size the size in the mirrored content record, or null; the length that the file host reports takes precedence
 * @throws DownloadFailure, or the signal's abort reason
 */
export async function transfer(
  url: URL,
  partial: PartialFile,
  size: number | null,
  options: TransferOptions,
): Promise<void> {
  const timeout = new AbortController();
  let cancelTimeout = startTimeout(size ?? maxBytes);
  const signal = AbortSignal.any([options.signal, timeout.signal]);
  try {
    const response = await requestFile(url, partial, { ...options, signal }).catch(throwFailure);
    if (!continuesFile(response, partial)) {
      checkStatus(response);
      await partial.restart(versionOf(response));
    }
    const statedLength = partial.version?.length ?? contentLength(response);
    if (statedLength !== null && statedLength > Math.max(size ?? 0, maxBytes)) throw createTooLargeError();
    if (statedLength !== null && statedLength > (size ?? maxBytes)) {
      cancelTimeout?.();
      cancelTimeout = startTimeout(statedLength);
    }
    const expected = statedLength ?? size;
    const body = response.body?.[Symbol.asyncIterator]();
    while (body) {
      const chunk = await rejectOnAbort(body.next(), signal).catch(throwFailure);
      if (chunk.done) break;
      const newLength = partial.bytesWritten + chunk.value.byteLength;
      if (newLength > (expected ?? maxBytes))
        throw expected === null ? createTooLargeError() : createWrongSizeError(newLength, expected);
      await partial.append(chunk.value);
    }
    if (expected === null || partial.bytesWritten === expected) return;
    throw new DownloadFailure("the file host sent only part of the file", "retryable");
  } finally {
    cancelTimeout?.();
    // Closes the connection if the body has not been read to the end.
    timeout.abort();
  }

  function startTimeout(bytes: number): (() => void) | undefined {
    const ms = Math.min(options.maxWaitMs + bytes / minBytesPerMs, maxTimeoutMs);
    return options.setTimer?.(ms, () => timeout.abort());
  }

  /** Throws a DownloadFailure for a network error. The cause is omitted, because it could contain the URL. */
  function throwFailure(error: unknown): never {
    if (error instanceof DownloadFailure) throw error;
    options.signal.throwIfAborted();
    if (timeout.signal.aborted) throw new DownloadFailure("the transfer timed out", "unavailable");
    const failure = classifyError(error, "the file host");
    throw new DownloadFailure(failure?.reason ?? "the connection to the file host was lost", "unavailable");
  }
}

/**
 * Requests a file and follows redirects.
 * @throws DownloadFailure if a redirect is invalid
 */
async function requestFile(url: URL, partial: PartialFile, options: TransferOptions): Promise<HttpResponse> {
  const headers: Record<string, string> = { "user-agent": options.userAgent, "accept-encoding": "identity" };
  if (partial.bytesWritten > 0 && partial.version) {
    headers.range = `bytes=${partial.bytesWritten}-`;
    headers["if-range"] = partial.version.validator;
  }
  let target = url;
  for (let redirects = 0; ; redirects += 1) {
    const abort = new AbortController();
    const signal = AbortSignal.any([options.signal, abort.signal]);
    const response = await rejectOnAbort(options.fetch(target, { headers, signal }), signal);
    if (![301, 302, 303, 307, 308].includes(response.status)) return response;
    // Close the connection, because the body of a redirect is not needed.
    abort.abort();
    if (redirects === maxRedirects)
      throw new DownloadFailure(`the file host redirected more than ${maxRedirects} times`);
    target = redirectTarget(response, target, options.baseUrl);
  }
}

function redirectTarget({ status, headers }: HttpResponse, from: URL, baseUrl: string): URL {
  const location = headers.get("location") || null;
  const isUrl = location !== null && URL.canParse(location, from.href);
  const target = parseFileUrl(isUrl ? new URL(location, from).href : location, baseUrl);
  if ("problem" in target)
    throw new DownloadFailure(`the file host redirected (${status}) to a URL that ${target.problem}`);
  return target;
}

/**
 * True if a response continues the partial file. False if it contains the complete file.
 * @throws DownloadFailure if the transfer cannot be resumed
 */
function continuesFile({ status, headers }: HttpResponse, { bytesWritten, version }: PartialFile): boolean {
  if (status !== 206 && status !== 416) return false;
  const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers.get("content-range") ?? "");
  const isSameVersion =
    status === 206 &&
    version !== undefined &&
    headers.get(version.header) === version.validator &&
    Number(range?.[1]) === bytesWritten &&
    (range?.[2] === "*" || Number(range?.[2]) === version.length) &&
    headers.get("content-encoding") === null;
  if (isSameVersion) return true;
  throw new DownloadFailure("the file host cannot resume the transfer", "restart");
}

function checkStatus({ status, headers }: HttpResponse): void {
  if (status === 200) return;
  if (status === 401 || status === 403 || status === 410)
    throw new DownloadFailure(`the file host rejected the download URL (${status})`, "retryable");
  if (status === 404) throw new DownloadFailure("the file host does not have the file (404)", "missing");
  const isTemporary = status === 408 || status === 429 || status >= 500;
  const retryAfterMs = Number(headers.get("retry-after") ?? 0) * 1_000 || undefined;
  throw new DownloadFailure(
    `the file host returned HTTP ${status}`,
    isTemporary ? "unavailable" : "permanent",
    retryAfterMs,
  );
}

/**
 * Returns the length of a response's body in bytes, or null if the file host does not report it or compresses the body.
 */
function contentLength({ headers }: HttpResponse): number | null {
  const length = headers.get("content-length") ?? "";
  return /^\d+$/.test(length) && headers.get("content-encoding") === null ? Number(length) : null;
}

/** Returns a response's strong validator (RFC 9110, 8.8) and length. Both are required to resume a download. */
function versionOf(response: HttpResponse): FileVersion | undefined {
  const length = contentLength(response);
  if (length === null) return undefined;
  const etag = response.headers.get("etag");
  if (etag)
    return /^"[\x21\x23-\x7e]*"$/.test(etag) ? { header: "etag", validator: etag, length } : undefined;
  const modified = response.headers.get("last-modified") ?? "";
  // A recent modification time does not identify a version, because the file may have changed again within the same
  // second.
  const ageMs = Date.parse(response.headers.get("date") ?? "") - Date.parse(modified);
  return ageMs >= 60_000 ? { header: "last-modified", validator: modified, length } : undefined;
}

function createWrongSizeError(actual: number, expected: number): DownloadFailure {
  return new DownloadFailure(`the file host sent ${actual} bytes instead of ${expected}`, "restart");
}

function createTooLargeError(): DownloadFailure {
  return new DownloadFailure(`the file is larger than ${maxBytes} bytes`);
}
