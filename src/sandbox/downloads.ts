import { createHmac } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { ContentItem } from "./data/library.js";
import { hash, hex, scatter, topics } from "./data/random.js";
import { readTarget } from "./target.js";
import type { SandboxTime } from "./time.js";

/** How long a download URL is valid: API document, Download URL. */
export const downloadSeconds = 300;

export interface DownloadSigner {
  /** The `data` of a download answer: a new URL at each call. */
  sign(item: ContentItem): {
    url: string;
    expires_in_seconds: number;
    filename: string | null;
    mime_type: string | null;
  };
}

/** One request to the file host. */
export interface FileLogEntry {
  at: number;
  method: string;
  /** Path without the signature. */
  path: string;
  status: number;
  range: string | undefined;
}

export interface FileHost extends DownloadSigner {
  /** Answers a request, and returns its log entry. */
  serve(request: IncomingMessage, response: ServerResponse): FileLogEntry;
  /** How often a request carried credentials, which no file host should ever see. */
  leakedKeys(): number;
}

export interface FileHostOptions {
  seed: number;
  time: SandboxTime;
  /** The origin, known once the server listens. */
  origin(): string;
  find(id: string): ContentItem | undefined;
  /** Whether a text holds one of the sandbox's keys. */
  holdsKey(text: string): boolean;
}

/** The second origin: files behind signed URLs, with ranges, as object stores serve them. */
export function createFileHost(options: FileHostOptions): FileHost {
  const secret = hex(hash(options.seed, topics.file, 0), 8);
  let serial = 0;
  let leaked = 0;

  function signature(path: string, expires: string, nonce: string): string {
    return createHmac("sha256", secret).update(`${path}\n${expires}\n${nonce}`).digest("hex");
  }

  function sign(item: ContentItem) {
    const path = `/files/${item.source}/${item.id}`;
    const expires = String(options.time.now() + downloadSeconds * 1000);
    const nonce = String(++serial);
    const query = new URLSearchParams({ expires, nonce, signature: signature(path, expires, nonce) });
    return {
      url: `${options.origin()}${path}?${query}`,
      expires_in_seconds: downloadSeconds,
      filename: item.filename,
      mime_type: item.mimeType,
    };
  }

  function refusal(request: IncomingMessage, path: string, query: URLSearchParams): number | undefined {
    const credentials = request.headers.authorization ?? request.headers["x-api-key"];
    if (credentials !== undefined || options.holdsKey(`${request.url} ${request.rawHeaders.join(" ")}`)) {
      leaked++;
      return 400;
    }
    if (request.method !== "GET" && request.method !== "HEAD") return 405;
    const [expires, nonce, given] = ["expires", "nonce", "signature"].map((name) => query.get(name) ?? "");
    if (given !== signature(path, expires ?? "", nonce ?? "")) return 403;
    return Number(expires) <= options.time.now() ? 403 : undefined;
  }

  function serve(request: IncomingMessage, response: ServerResponse): FileLogEntry {
    const { path, query } = readTarget(request);
    const entry = (status: number): FileLogEntry => ({
      at: options.time.now(),
      method: request.method ?? "",
      path,
      status,
      range: request.headers.range,
    });
    const [, , source, id] = path.split("/");
    const item = options.find(id ?? "");
    const refused = refusal(request, path, query) ?? (item?.source === source ? undefined : 404);
    if (refused !== undefined || !item) {
      response.writeHead(refused ?? 404, refused === 405 ? { allow: "GET, HEAD" } : {}).end();
      return entry(refused ?? 404);
    }
    return entry(sendFile(item, request, response));
  }

  return { sign, serve, leakedKeys: () => leaked };
}

function sendFile(item: ContentItem, request: IncomingMessage, response: ServerResponse): number {
  const etag = `"${item.id.slice(0, 8)}-${item.size}"`;
  const headers = {
    "accept-ranges": "bytes",
    etag,
    "last-modified": new Date(item.createdAt).toUTCString(),
    "content-type": item.mimeType ?? "application/octet-stream",
  };
  const stated = request.headers["if-range"];
  const range =
    stated === undefined || stated === etag ? readRange(request.headers.range, item.size) : undefined;
  if (range === "unsatisfiable") {
    response.writeHead(416, { ...headers, "content-range": `bytes */${item.size}` }).end();
    return 416;
  }
  const [first, last] = range ?? [0, item.size - 1];
  response.writeHead(range ? 206 : 200, {
    ...headers,
    "content-length": last - first + 1,
    ...(range ? { "content-range": `bytes ${first}-${last}/${item.size}` } : {}),
  });
  response.end(request.method === "HEAD" ? undefined : fileBytes(item, first, last + 1));
  return range ? 206 : 200;
}

/** A single byte range, RFC 9110 section 14; several ranges or another unit are answered with the whole. */
function readRange(text: string | undefined, size: number): [number, number] | "unsatisfiable" | undefined {
  const match = /^bytes=(\d*)-(\d*)$/.exec(text ?? "");
  if (!match || (match[1] === "" && match[2] === "")) return undefined;
  if (match[1] === "") {
    const tail = Number(match[2]);
    return tail === 0 ? "unsatisfiable" : [Math.max(0, size - tail), size - 1];
  }
  const first = Number(match[1]);
  const last = match[2] === "" ? size - 1 : Math.min(Number(match[2]), size - 1);
  if (match[2] !== "" && Number(match[2]) < first) return undefined;
  return first >= size ? "unsatisfiable" : [first, last];
}

/** The bytes of a file from `first` up to `end`: the same for the same id, whatever the range. */
export function fileBytes(item: Pick<ContentItem, "id">, first: number, end: number): Buffer {
  const salt = Number.parseInt(item.id.slice(0, 8), 16);
  const from = first - (first % 4);
  const words = new Uint32Array(Math.ceil((end - from) / 4));
  for (let n = 0; n < words.length; n++) words[n] = scatter(salt + from / 4 + n);
  return Buffer.from(words.buffer).subarray(first - from, end - from);
}
