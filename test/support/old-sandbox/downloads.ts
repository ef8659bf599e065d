import { createHmac } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { ContentItem } from "./data/library.js";
import { hash, hex, scatter, topics } from "./data/random.js";
import { type Answer, type Fault, faultyAnswer, sendFaulty } from "./faults.js";
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
  /** Answers a request, and returns its log entry. `fault` spoils the answer. */
  serve(request: IncomingMessage, response: ServerResponse, fault?: Fault): FileLogEntry;
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

/** What a test's intercept of the file host sees. */
export interface InterceptedFile {
  path: string;
  range: string | undefined;
  /** 1 for the first request that arrived there. */
  count: number;
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

  function serve(request: IncomingMessage, response: ServerResponse, fault?: Fault): FileLogEntry {
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
    const right = refused === undefined && item ? fileAnswer(item, request) : refusedAnswer(refused ?? 404);
    const answer = fault ? faultyAnswer(fault, right) : right;
    if (!fault || !sendFaulty(fault, answer, response)) {
      const length = Buffer.byteLength(answer.body);
      response.writeHead(answer.status, { ...answer.headers, "content-length": length }).end(answer.body);
    }
    return entry(answer.status);
  }

  return { sign, serve, leakedKeys: () => leaked };
}

function refusedAnswer(status: number): Answer {
  return { status, headers: status === 405 ? { allow: "GET, HEAD" } : {}, body: "" };
}

function fileAnswer(item: ContentItem, request: IncomingMessage): Answer {
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
    return { status: 416, headers: { ...headers, "content-range": `bytes */${item.size}` }, body: "" };
  }
  if (!range) return { status: 200, headers, body: fileBytes(item, 0, item.size) };
  const [first, last] = range;
  const partial = { ...headers, "content-range": `bytes ${first}-${last}/${item.size}` };
  return { status: 206, headers: partial, body: fileBytes(item, first, last + 1) };
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
