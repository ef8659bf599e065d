import { type ApiVariants, documentedBehaviour } from "./api-variants.js";
import type { Brand } from "./brand.js";
import {
  type ApiRequest,
  ErrorResponse,
  type HttpResponse,
  matchPath,
  type ResponseData,
} from "./endpoint.js";
import { endpoints } from "./endpoints.js";
import { handleFileRequest } from "./file-host.js";
import { authorize, createRequestLimits, findKey, type LimitResult, refuseMisplacedKey } from "./keys.js";

/** The versioned root: every endpoint's path is below it. */
export const apiRoot = "/api/brand/v1";

/** The two keyless feeds of before: API document, Versioning 5. */
const retired = ["/api/public/brands/{partner_id}/recommendations", "/api/brands/{domain}/recommendations"];

export interface HandlerOptions {
  variants: ApiVariants;
  /** The file host's origin, for signed URLs. */
  filesUrl: string;
  limits: LimitResult;
}

/** Answers one request from a brand's records as they are now: the whole API, without anything that it remembers. */
export function handleRequest(
  request: ApiRequest,
  brand: Brand,
  now: number,
  options: HandlerOptions,
): HttpResponse {
  const date = new Date(now).toUTCString();
  const headers = { ...options.limits.headers, date, "content-type": "application/json; charset=utf-8" };
  try {
    const { data, pagination } = replyTo(request, brand, now, options);
    const envelope = { success: true, data, pagination, _timing: { duration_ms: 1 } };
    return { status: 200, headers, body: JSON.stringify(envelope) };
  } catch (error) {
    if (!(error instanceof ErrorResponse)) throw error;
    return { status: error.status, headers: { ...headers, ...error.headers }, body: error.body() };
  }
}

/** Makes every check in its order (the help of `brandapi sandbox` names it). Throws a `Refusal`. */
function replyTo(request: ApiRequest, brand: Brand, now: number, options: HandlerOptions): ResponseData {
  const { variants, filesUrl, limits } = options;
  const [path = "", text = ""] = request.url.split(/\?(.*)/s);
  const query = new URLSearchParams(text);
  if (limits.refusal) throw limits.refusal;
  if (retired.some((feed) => matchPath(feed, path)))
    throw new ErrorResponse(410, "gone", "This feed is retired: use GET /recommendations with a key.");
  const { endpoint, params } = endpointOf(path);
  if (request.method !== "GET" && request.method !== "HEAD")
    throw new ErrorResponse(405, "read_only", "Every endpoint is a GET.", { allow: "GET, HEAD" });
  refuseMisplacedKey(request, query, brand);
  const key = authorize(request, brand, endpoint, now);
  return endpoint.handle({ brand, key, query, params, variants, filesUrl, now });
}

function endpointOf(path: string) {
  for (const endpoint of endpoints) {
    const params = matchPath(apiRoot + endpoint.path, path);
    if (params) return { endpoint, params };
  }
  throw new ErrorResponse(404, "unknown_path", "No endpoint has this path.");
}

export interface SandboxApiOptions {
  /** Each with keys of its own; the first is the one that requests without a known key meet. */
  brands: readonly Brand[];
  /** Milliseconds since 1970. */
  now(): number;
  /** Milliseconds of a clock that never jumps, for the limits. Default: `now`. */
  monotonic?(): number;
  /** Requests a minute for a key, twice that for an address; null, the default: none. */
  rateLimit?: number | null;
  variants?: Partial<ApiVariants>;
}

/** The API of some brands: what it remembers are the limits. */
export interface SandboxApi {
  brands: readonly Brand[];
  variants: Partial<ApiVariants>;
  filesUrl: string;
  handle(request: ApiRequest): HttpResponse;
  handleFile(request: ApiRequest): HttpResponse<Buffer>;
}

export function createSandboxApi(options: SandboxApiOptions): SandboxApi {
  const { now, monotonic = now, brands } = options;
  const count = createRequestLimits(options.rateLimit ?? null);
  const api: SandboxApi = {
    brands,
    variants: options.variants ?? {},
    filesUrl: "https://files.brand.test",
    handle(request) {
      const brand = brands.find((one) => findKey(request, one)) ?? (brands[0] as Brand);
      const limits = count(request.address, findKey(request, brand)?.id ?? null, monotonic());
      const variants = { ...documentedBehaviour, ...api.variants };
      return handleRequest(request, brand, now(), { variants, filesUrl: api.filesUrl, limits });
    },
    handleFile(request) {
      const answers = brands.map((brand) => handleFileRequest(request, brand, now()));
      return answers.find(({ status }) => status < 400) ?? (answers[0] as HttpResponse<Buffer>);
    },
  };
  return api;
}

/** The sandbox's choices, for its help: the API document says "not shown" here, or allows several readings. */
export const undocumentedChoices: readonly string[] = [
  "A bare date is a whole day in UTC; timestamps end in Z or a zero offset.",
  "A page past the end is an empty list; an empty list has total_pages 0.",
  "`active` orders are neither cancelled nor fully refunded.",
  "Orders of one instant: the one attributed last comes first.",
  "A malformed id is a 404 in a path, a 400 in a query.",
  "Checked in this order: limit, path, method, key, scope, plan, parameters.",
  "Refused requests count against the limits too.",
  "Analytics: no cancelled orders, refunds taken off, currencies added up.",
  "Weeks begin on Monday; unique counts of days do not add up.",
  "`download_path` starts at /content; attachments' URLs lead nowhere.",
  "Recommended products carry `note` and `url` beside `id` and `title`.",
  "Gifts, codes, surveys: paginated, with UUIDs; results: one object.",
  "Errors: {success: false, error: {code, message, status}}.",
];
