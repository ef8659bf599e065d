import type { ApiClient } from "../api/client.js";
import { classifyError } from "../api/request-failure.js";
import { encodePathSegment } from "../api/request-url.js";
import type { Clock, Deps, Fetch, HttpResponse } from "../deps.js";
import { NotFound, RequestRefused } from "../errors.js";
import { unlessAborted } from "../util/abort.js";
import type { Json } from "../util/json-value.js";
import type { Task } from "../util/reporter.js";
import { isLoopback } from "../util/urls.js";
import { DownloadFailure } from "./library-download.js";
import type { LibraryFile } from "./library-files.js";
import { type FileVersion, PartialFile } from "./partial-file.js";

/** Signed URLs have some thousand letters; no server takes more than this. */
const longestUrl = 16_384;

/**
 * Returns the path, below the base URL, that gives an item's download URL; null if no address can hold its id. An item's
 * `download_path` is this path, with the API's root or without: made of source and id it leads nowhere else. API document,
 * "8. GET /content/{source}/{item_id}/download".
 */
export function downloadPath(item: { source: string; id: string }): string | null {
  const [source, id] = [encodePathSegment(item.source), encodePathSegment(item.id)];
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

export interface TransferOptions {
  fetch: Fetch;
  signal: AbortSignal;
  later?: Deps["setTimer"] | undefined;
  userAgent: string;
  baseUrl: string;
  /** `--max-wait`, in milliseconds. */
  maxWaitMs: number;
}

/** Largest accepted file, unless the library itself says that it is larger. */
const mostBytes = 16 * 2 ** 30;
/** A try lasts as long as this rate needs for the file, and `--max-wait` longer. */
const slowestBytesPerMs = 64;
const mostRedirects = 3;

/**
 * Downloads a file, or the rest of it, through a signed URL, without the key. The partial file keeps the bytes that arrived.
 * @param size bytes according to the library; null if it does not say. If the file host states another length, that one counts.
 */
export async function transfer(
  url: URL,
  part: PartialFile,
  size: number | null,
  host: TransferOptions,
): Promise<void> {
  const limit = new AbortController();
  let endLimit = startLimit(size ?? mostBytes);
  const signal = AbortSignal.any([host.signal, limit.signal]);
  try {
    const reply = await request(url, part, { ...host, signal }).catch(explain);
    if (!isRest(reply, part)) {
      refuseOtherThan200(reply);
      await part.restart(versionOf(reply));
    }
    const stated = part.version?.length ?? statedLength(reply);
    if (stated !== null && stated > Math.max(size ?? 0, mostBytes)) throw tooLarge();
    if (stated !== null && stated > (size ?? mostBytes)) {
      endLimit?.();
      endLimit = startLimit(stated);
    }
    const expected = stated ?? size;
    const pieces = reply.body?.[Symbol.asyncIterator]();
    for (;;) {
      const next = await unlessAborted(Promise.resolve(pieces?.next()), signal).catch(explain);
      if (!next || next.done) break;
      const length = part.length + next.value.byteLength;
      if (length > (expected ?? mostBytes))
        throw expected === null ? tooLarge() : wrongSize(length, expected);
      await part.append(next.value);
    }
    if (expected === null || part.length === expected) return;
    if (stated === null) throw wrongSize(part.length, expected);
    throw new DownloadFailure("the file host sent only a part of it", "again");
  } finally {
    endLimit?.();
    // Frees the connection if the body was not read to its end.
    limit.abort();
  }

  function startLimit(bytes: number): (() => void) | undefined {
    const ms = Math.min(host.maxWaitMs + bytes / slowestBytesPerMs, 86_400_000);
    return host.later?.(ms, () => limit.abort());
  }

  /** Throws a network failure without its cause, which could quote the URL. */
  function explain(error: unknown): never {
    if (error instanceof DownloadFailure) throw error;
    host.signal.throwIfAborted();
    if (limit.signal.aborted) throw new DownloadFailure("the file host took too long", "host");
    const fault = classifyError(error, "the file host");
    throw new DownloadFailure(fault?.reason ?? "the connection to the file host broke off", "host");
  }
}

/** Requests a file, or the rest of it, and follows up to three redirects. @throws FileFailed for other redirects */
async function request(url: URL, part: PartialFile, host: TransferOptions): Promise<HttpResponse> {
  const headers: Record<string, string> = { "user-agent": host.userAgent, "accept-encoding": "identity" };
  if (part.length > 0 && part.version) {
    headers.range = `bytes=${part.length}-`;
    headers["if-range"] = part.version.validator;
  }
  let target = url;
  for (let redirects = 0; ; redirects += 1) {
    const end = new AbortController();
    const signal = AbortSignal.any([host.signal, end.signal]);
    const reply = await unlessAborted(host.fetch(target, { headers, signal }), signal);
    if (![301, 302, 303, 307, 308].includes(reply.status)) return reply;
    // Frees the connection: the body of a redirect is not read.
    end.abort();
    if (redirects === mostRedirects)
      throw new DownloadFailure(`the file host redirects it more than ${mostRedirects} times`);
    target = redirectTarget(reply, target, host.baseUrl);
  }
}

function redirectTarget({ status, headers }: HttpResponse, from: URL, baseUrl: string): URL {
  const location = headers.get("location") ?? "";
  const isUrl = location !== "" && URL.canParse(location, from.href);
  const target = isUrl
    ? readFileUrl(new URL(location, from).href, baseUrl)
    : { refused: "no address is given" };
  if ("refused" in target)
    throw new DownloadFailure(`the file host redirects it (${status}), which is refused: ${target.refused}`);
  return target;
}

/** True if a response brings the rest of the version that the partial file belongs to. @throws FileFailed if it is a part of another */
function isRest({ status, headers }: HttpResponse, { length, version }: PartialFile): boolean {
  if (status !== 206 && status !== 416) return false;
  const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers.get("content-range")?.trim() ?? "");
  const isSame =
    status === 206 &&
    version !== undefined &&
    headers.get(version.header) === version.validator &&
    Number(range?.[1]) === length &&
    (range?.[2] === "*" || Number(range?.[2]) === version.length) &&
    headers.get("content-encoding") === null;
  if (isSame && length > 0) return true;
  throw new DownloadFailure("the file host cannot continue it", "restart");
}

function refuseOtherThan200({ status, headers }: HttpResponse): void {
  if (status === 200) return;
  if (status === 401 || status === 403 || status === 410)
    throw new DownloadFailure(`the file host refuses the download URL (${status})`, "again");
  if (status === 404) throw new DownloadFailure("the file host does not have it (404)", "missing");
  const isPassing = status === 408 || status === 429 || status >= 500;
  const retryAfterMs = Number(headers.get("retry-after") ?? 0) * 1_000 || undefined;
  throw new DownloadFailure(`the file host answered ${status}`, isPassing ? "host" : "final", retryAfterMs);
}

/** Returns the length of the file in bytes, as its host states it; null if it does not, or the body is compressed. */
function statedLength({ headers }: HttpResponse): number | null {
  const length = headers.get("content-length")?.trim() ?? "";
  return /^\d{1,15}$/.test(length) && headers.get("content-encoding") === null ? Number(length) : null;
}

/**
 * Returns the version of a complete response: its strong validator (RFC 9110, 8.8) and its length. Undefined if it has none:
 * such a file cannot be resumed.
 */
function versionOf(reply: HttpResponse): FileVersion | undefined {
  const length = statedLength(reply);
  if (length === null) return undefined;
  const tag = reply.headers.get("etag")?.trim();
  if (tag) return /^"[\x21\x23-\x7e]*"$/.test(tag) ? { header: "etag", validator: tag, length } : undefined;
  const modified = reply.headers.get("last-modified")?.trim() ?? "";
  // A file that has just changed may change again within the same second.
  const age = Date.parse(reply.headers.get("date") ?? "") - Date.parse(modified);
  return age >= 60_000 ? { header: "last-modified", validator: modified, length } : undefined;
}

function wrongSize(found: number, expected: number): DownloadFailure {
  return new DownloadFailure(`the file host sends ${found} bytes instead of ${expected}`, "restart");
}

function tooLarge(): DownloadFailure {
  return new DownloadFailure(`it is longer than ${mostBytes} bytes`);
}

export interface FetchOptions extends TransferOptions {
  clock: Clock;
  api: Pick<ApiClient, "get">;
  /** A number in [0, 1). */
  random(): number;
  task: Pick<Task, "waiting">;
}

/** A complete file. `resumedFrom` is the number of bytes that an earlier run had left. */
export interface FetchedFile {
  bytes: number;
  sha256: string;
  resumedFrom: number;
}

const mostTries = 3;
/** The wait before each further try, in milliseconds, with jitter. */
const waitMs = [1_000, 5_000];

/**
 * Fetches one file to a path: three tries at most, each through a fresh signed URL. An interrupted file is resumed if it is
 * still the same version. Nothing has its name before it is complete.
 * @throws FileFailed if this file cannot be fetched; the errors of the file system, the API and the signal
 */
export async function fetchFile(file: LibraryFile, path: string, access: FetchOptions): Promise<FetchedFile> {
  const part = await PartialFile.open(path);
  let isComplete = part.length > 0 && part.length === part.version?.length && part.length === file.size;
  // All bytes of a size that the library no longer states.
  if (!isComplete && part.length === part.version?.length) await part.restart(undefined);
  try {
    for (let tries = 1; !isComplete; tries += 1) {
      try {
        const url = await requestFileUrl(file, access);
        await transfer(url, part, file.size, access);
        isComplete = true;
      } catch (error) {
        if (!(error instanceof DownloadFailure)) throw error;
        if (error.kind === "restart" || !part.version) await part.restart(undefined);
        if (["final", "missing"].includes(error.kind) || tries === mostTries) throw error;
        const ownMs = (waitMs[tries - 1] ?? 0) * (0.5 + access.random());
        const ms = Math.min(error.retryAfterMs ?? ownMs, access.maxWaitMs);
        access.task.waiting(ms, error.message);
        await access.clock.sleep(ms, access.signal);
      }
    }
    return { bytes: part.length, sha256: await part.finish(), resumedFrom: part.resumedFrom };
  } catch (error) {
    await part.close();
    throw error;
  }
}

/** Asks for a download URL: API document, "8. GET /content/{source}/{item_id}/download". It is never kept. */
async function requestFileUrl(file: LibraryFile, { api, baseUrl }: FetchOptions): Promise<URL> {
  const path = downloadPath(file);
  if (path === null) throw new DownloadFailure("no address can hold its id");
  const data = await api
    .get(path, {}, "content:read")
    .then((answer): Json => answer.data)
    .catch((error: unknown) => {
      if (!(error instanceof NotFound || error instanceof RequestRefused)) throw error;
      const kind = error instanceof NotFound ? "missing" : "final";
      throw new DownloadFailure(`the API has no download URL for it (${error.status})`, kind);
    });
  const text = typeof data === "object" && data !== null && "url" in data ? data.url : null;
  const url = readFileUrl(text, baseUrl);
  if ("refused" in url) throw new DownloadFailure(url.refused);
  return url;
}
