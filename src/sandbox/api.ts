import type { Brand } from "./brand.js";
import { ErrorResponse, type ResponseData } from "./endpoint.js";
import { endpoints } from "./endpoints.js";
import { handleFileRequest } from "./file-host.js";
import { authorize, findKey, rejectMisplacedKey } from "./keys.js";

export const apiRoot = "/api/brand/v1";

/** Retired public feeds that needed no key (see "Versioning" in the API documentation). */
const retiredFeeds = [
  "/api/public/brands/{partner_id}/recommendations",
  "/api/brands/{domain}/recommendations",
];

export interface SandboxRequest {
  method: string;
  url: string;
  headers: Record<string, string | undefined>;
  /** The client's IP address, without the port. */
  address: string;
}

export interface SandboxResponse<Body = string> {
  status: number;
  headers: Record<string, string>;
  body: Body;
}

export interface SandboxApiOptions {
  /** The brands that the API serves. The first one is used for requests with an unknown key or no key. */
  brands: readonly Brand[];
  now(): number;
  monotonic?(): number;
  rateLimit?: number | null;
  /** The endpoints to serve. Tests replace them to simulate servers that differ from the API documentation. */
  respond?: typeof respond;
}

/**
 * Handles API requests for one or more brands, without a network. The only state is the request counts for the rate
 * limits.
 */
export interface SandboxApi {
  /** The file host's origin. `serveSandbox` sets it when the port is known. */
  filesUrl: string;
  handle(request: SandboxRequest): SandboxResponse;
  handleFile(request: SandboxRequest): SandboxResponse<Buffer>;
}

export function createSandboxApi(options: SandboxApiOptions): SandboxApi {
  const { now, monotonic = now, brands, rateLimit = null, respond: respondToRequest = respond } = options;
  const limits = new RequestLimits(rateLimit);
  const api: SandboxApi = {
    filesUrl: "https://files.brand.test",
    handle(request) {
      const brand = brands.find((one) => findKey(request, one)) ?? (brands[0] as Brand);
      const keyId = findKey(request, brand)?.id ?? null;
      const limit = limits.count(request.address, keyId, monotonic());
      const at = now();
      const date = new Date(at).toUTCString();
      const headers = { ...limit.headers, date, "content-type": "application/json; charset=utf-8" };
      try {
        if (limit.error) throw limit.error;
        const { data, pagination } = respondToRequest(request, brand, { now: at, filesUrl: api.filesUrl });
        const envelope = { success: true, data, pagination, _timing: { duration_ms: 1 } };
        return { status: 200, headers, body: JSON.stringify(envelope) };
      } catch (error) {
        if (!(error instanceof ErrorResponse)) throw error;
        return { status: error.status, headers: { ...headers, ...error.headers }, body: error.body };
      }
    },
    handleFile(request) {
      const responses = brands.map((brand) => handleFileRequest(request, brand, now()));
      return responses.find(({ status }) => status < 400) ?? (responses[0] as SandboxResponse<Buffer>);
    },
  };
  return api;
}

export function respond(
  request: SandboxRequest,
  brand: Brand,
  context: { now: number; filesUrl: string },
): ResponseData {
  const [path = "", text = ""] = request.url.split(/\?(.*)/s);
  const query = new URLSearchParams(text);
  if (retiredFeeds.some((feed) => matchPath(feed, path)))
    throw new ErrorResponse(410, "gone", "This feed is retired: use GET /recommendations with a key.");
  const { endpoint, params } = findEndpoint(path);
  if (request.method !== "GET" && request.method !== "HEAD")
    throw new ErrorResponse(405, "read_only", "Only GET is supported.", { allow: "GET, HEAD" });
  rejectMisplacedKey(request, query, brand);
  const key = authorize(request, brand, endpoint, context.now);
  return endpoint.handle({ brand, key, query, params, ...context });
}

/** Returns the values for the `{…}` segments of a pattern, or null if the path does not match. */
function matchPath(pattern: string, path: string): string[] | null {
  const expression = pattern.replaceAll(/\{[a-z_]+\}/g, "([^/]+)");
  return new RegExp(`^${expression}$`).exec(path)?.slice(1) ?? null;
}

function findEndpoint(path: string) {
  for (const endpoint of endpoints) {
    const params = matchPath(apiRoot + endpoint.path, path);
    if (params) return { endpoint, params };
  }
  throw new ErrorResponse(404, "unknown_path", "There is no endpoint at this path.");
}

/** The sandbox's behavior in cases that the API documentation leaves open. The help lists these choices. */
export const undocumentedChoices: readonly string[] = [
  "A date without a time means the entire day in UTC.",
  "Timestamps must end in Z or a zero offset.",
  "Pages past the end are empty, and total_pages is 0 for an empty list.",
  "`active` orders are neither cancelled nor fully refunded.",
  "Among orders with the same date, the one attributed last comes first.",
  "A malformed ID causes a 404 in a path and a 400 in a query.",
  "Requests are checked in this order: limit, path, method, key, scope, plan, parameters.",
  "Rejected requests count toward the limits.",
  "Analytics totals exclude cancelled orders, subtract refunds and mix currencies.",
  "Weeks start on Monday.",
  "The unique count for a period is less than the sum of its daily unique counts.",
  "`download_path` starts with /content.",
  "Attachment URLs do not work.",
  "Recommended products have `note` and `url` in addition to `id` and `title`.",
  "Gifts, codes and surveys are paginated and have UUIDs.",
  "The results of a survey are a single object.",
  "Error bodies have the form {success: false, error: {code, message, status}}.",
];

/** See "Limits" in the API documentation. */
const windowMs = 60_000;

/**
 * Counts requests in a sliding window for each key and for each IP address. The limit per IP address is twice the limit
 * per key. Rejected requests count as well, which is the strictest interpretation of the API documentation.
 */
class RequestLimits {
  private readonly arrivals = new Map<string, number[]>();

  constructor(private readonly perMinute: number | null) {}

  /** Counts a request. Returns the response headers and, if the request exceeds a limit, an error. */
  count(
    address: string,
    keyId: string | null,
    now: number,
  ): { error: ErrorResponse | null; headers: Record<string, string> } {
    if (this.perMinute === null) return { error: null, headers: {} };
    const states = [this.add(`address ${address}`, this.perMinute * 2, now)];
    if (keyId !== null) states.push(this.add(`key ${keyId}`, this.perMinute, now));
    const tightest = states.reduce((a, b) => (b.remaining <= a.remaining ? b : a));
    const waitMs = Math.max(...states.map((state) => state.waitMs));
    const seconds = Math.max(1, Math.ceil(waitMs / 1_000));
    const isOver = tightest.remaining < 0;
    const headers = {
      "x-ratelimit-limit": String(tightest.limit),
      "x-ratelimit-remaining": String(Math.max(0, tightest.remaining)),
      "x-ratelimit-reset": String(isOver ? seconds : windowMs / 1_000),
    };
    if (!isOver) return { error: null, headers };
    const retry = { "retry-after": String(seconds) };
    const error = new ErrorResponse(429, "rate_limited", "Too many requests per minute.", retry);
    return { error, headers };
  }

  /** The number of remaining requests is -1 if this request exceeds the limit. */
  private add(caller: string, limit: number, now: number) {
    const recent = (this.arrivals.get(caller) ?? []).filter((time) => now - time < windowMs);
    const times = [...recent, now].slice(-limit - 1);
    this.arrivals.set(caller, times);
    const remaining = limit - times.length;
    return { limit, remaining, waitMs: remaining < 0 ? (times[1] ?? now) + windowMs - now : 0 };
  }
}
