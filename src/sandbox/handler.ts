import { authorize, refuseMisplacedKey } from "./access.js";
import type { Brand } from "./brand.js";
import type { Doubts } from "./doubts.js";
import { type Answer, type ApiRequest, match, type Reply } from "./endpoint.js";
import { endpoints } from "./endpoints.js";
import type { Limits } from "./limits.js";
import { Refusal } from "./refusal.js";

/** The versioned root: every endpoint's path is below it. */
export const root = "/api/brand/v1";

/** The two keyless feeds of before: API document, Versioning 5. */
const retired = ["/api/public/brands/{partner_id}/recommendations", "/api/brands/{domain}/recommendations"];

export interface HandlerOptions {
  doubts: Doubts;
  /** The file host's origin, for signed URLs. */
  filesUrl: string;
  limits: Limits;
}

/** Answers one request from a brand's records as they are now: the whole API, without anything that it remembers. */
export function answer(request: ApiRequest, brand: Brand, now: number, options: HandlerOptions): Answer {
  const date = new Date(now).toUTCString();
  const headers = { ...options.limits.headers, date, "content-type": "application/json; charset=utf-8" };
  try {
    const { data, pagination } = replyTo(request, brand, now, options);
    const envelope = { success: true, data, pagination, _timing: { duration_ms: 1 } };
    return { status: 200, headers, body: JSON.stringify(envelope) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { status: error.status, headers: { ...headers, ...error.headers }, body: error.body() };
  }
}

/** Makes every check in its order (the help of `brandapi sandbox` names it). Throws a `Refusal`. */
function replyTo(request: ApiRequest, brand: Brand, now: number, options: HandlerOptions): Reply {
  const { doubts, filesUrl, limits } = options;
  const [path = "", text = ""] = request.url.split(/\?(.*)/s);
  const query = new URLSearchParams(text);
  if (limits.refusal) throw limits.refusal;
  if (retired.some((feed) => match(feed, path)))
    throw new Refusal(410, "gone", "This feed is retired: use GET /recommendations with a key.");
  const { endpoint, params } = endpointOf(path);
  if (request.method !== "GET" && request.method !== "HEAD")
    throw new Refusal(405, "read_only", "Every endpoint is a GET.", { allow: "GET, HEAD" });
  refuseMisplacedKey(request, query, brand);
  const key = authorize(request, brand, endpoint, now);
  return endpoint.answer({ brand, key, query, params, doubts, filesUrl, now });
}

function endpointOf(path: string) {
  for (const endpoint of endpoints) {
    const params = match(root + endpoint.path, path);
    if (params) return { endpoint, params };
  }
  throw new Refusal(404, "unknown_path", "No endpoint has this path.");
}
