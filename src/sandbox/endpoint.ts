import type { ApiVariants } from "./api-variants.js";
import type { Brand } from "./brand.js";
import type { ApiKey } from "./keys.js";

/** Thrown to answer with an error status. The fields of error bodies are "not shown": these are the sandbox's own. */
export class ErrorResponse extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly headers: Record<string, string> = {},
  ) {
    super(message);
    this.name = "Refusal";
  }

  body(): string {
    const { status, code, message } = this;
    return JSON.stringify({ success: false, error: { code, message, status } });
  }
}

export interface ApiRequest {
  method: string;
  /** Path and query, exactly as they came. */
  url: string;
  /** By lower-case name. */
  headers: Record<string, string | undefined>;
  /** The caller's IP address. */
  address: string;
}

export interface HttpResponse<Body = string> {
  status: number;
  headers: Record<string, string>;
  body: Body;
}

export interface PageInfo {
  page: number;
  per_page: number;
  total_items: number;
  total_pages: number;
  has_next: boolean;
  has_prev: boolean;
}

/** The material of an endpoint's answer. */
export interface EndpointContext {
  brand: Brand;
  key: ApiKey;
  query: URLSearchParams;
  /** The parts of the path that stand for `{…}`, in order. */
  params: readonly string[];
  variants: ApiVariants;
  /** The file host's origin. */
  filesUrl: string;
  now: number;
}

/** The parts of the envelope that differ from answer to answer. */
export interface ResponseData {
  data: unknown;
  pagination?: PageInfo;
}

/** One row of the document's table of endpoints. */
export interface Endpoint {
  path: string;
  /** Null: none needed. */
  scope: string | null;
  /** True if it needs the plan feature Analytics. */
  needsAnalyticsPlan?: boolean;
  /** Throws a `Refusal` for an invalid query, or for an id that the brand does not have. */
  handle(asked: EndpointContext): ResponseData;
}

/** Returns the parts of `path` that stand for `{…}` in `pattern`; null if it does not match. */
export function matchPath(pattern: string, path: string): string[] | null {
  const parts = pattern.replaceAll(/\{[a-z_]+\}/g, "([^/]+)");
  return new RegExp(`^${parts}$`).exec(path)?.slice(1) ?? null;
}
