import { createHash, createHmac } from "node:crypto";
import { secondMs } from "../util/timestamps.js";
import type { SandboxRequest, SandboxResponse } from "./api.js";
import type { Brand } from "./brand.js";
import type { ContentItem } from "./content-endpoints.js";
import { mixBits } from "./random.js";

/** See "Download URL" in the API documentation. */
const downloadSeconds = 300;

export function createDownloadUrl({ seed }: Brand, item: ContentItem, filesUrl: string, now: number) {
  const path = `/files/${item.source}/${item.id}`;
  const expires = String(now + downloadSeconds * secondMs);
  const query = new URLSearchParams({ expires, signature: sign(seed, path, expires) });
  const { filename, mime_type } = item;
  return { url: `${filesUrl}${path}?${query}`, expires_in_seconds: downloadSeconds, filename, mime_type };
}

function sign(seed: number, path: string, expires: string): string {
  return createHmac("sha256", `files of ${seed}`).update(`${path}\n${expires}`).digest("hex");
}

/** Serves a file or, if the request has a `Range: bytes=N-` header, the rest of the file. */
export function handleFileRequest(
  request: SandboxRequest,
  brand: Brand,
  now: number,
): SandboxResponse<Buffer> {
  const url = new URL(request.url, "http://files");
  const [, , source, id] = url.pathname.split("/");
  const item = brand.content.find((one) => one.source === source && one.id === id);
  const error = checkRequest(request, brand, url, now);
  if (error !== null || !item) return { status: error ?? 404, headers: {}, body: Buffer.alloc(0) };
  const size = item.file_size_bytes ?? 10_000;
  const etag = `"${createHash("sha256").update(`${item.source}/${item.id}/${size}`).digest("hex").slice(0, 32)}"`;
  const type = item.mime_type ?? "application/octet-stream";
  const headers = { "accept-ranges": "bytes", "content-type": type, etag };
  const range = /^bytes=(\d+)-$/.exec(request.headers.range ?? "");
  const isUnchanged = (request.headers["if-range"] ?? etag) === etag;
  if (!range || !isUnchanged) {
    const length = { "content-length": String(size) };
    return { status: 200, headers: { ...headers, ...length }, body: fileBytes(item.id, 0, size) };
  }
  const first = Number(range[1]);
  const isSatisfiable = first < size;
  const contentRange = `bytes ${isSatisfiable ? `${first}-${size - 1}` : "*"}/${size}`;
  return {
    status: isSatisfiable ? 206 : 416,
    headers: { ...headers, "content-range": contentRange },
    body: fileBytes(item.id, first, Math.max(first, size)),
  };
}

function checkRequest(
  { method, headers }: SandboxRequest,
  { seed }: Brand,
  url: URL,
  now: number,
): number | null {
  // Reject requests with a key, because clients must never send their key to the file host.
  if (headers.authorization !== undefined || headers["x-api-key"] !== undefined) return 400;
  if (method !== "GET" && method !== "HEAD") return 405;
  const expires = url.searchParams.get("expires") ?? "";
  const isSigned = url.searchParams.get("signature") === sign(seed, url.pathname, expires);
  return isSigned && Number(expires) > now ? null : 403;
}

/** Returns a range of a file's bytes, excluding `end`. The bytes depend only on the file's ID. */
export function fileBytes(id: string, first: number, end: number): Buffer {
  const salt = Number.parseInt(id.slice(0, 8), 16) || 0;
  const from = first - (first % 4);
  const words = Uint32Array.from({ length: Math.ceil((end - from) / 4) }, (_, n) =>
    mixBits(salt + from / 4 + n),
  );
  return Buffer.from(words.buffer).subarray(first - from, end - from);
}
