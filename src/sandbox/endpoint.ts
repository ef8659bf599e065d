import type { ApiKey, Brand } from "./brand.js";

/** A request to the API or to its file host. */
export interface SandboxRequest {
  method: string;
  /** The path and query string as received. */
  url: string;
  /** The headers, keyed by lower-case name. */
  headers: Record<string, string | undefined>;
  /** The client's IP address. */
  address: string;
}

export interface SandboxResponse<Body = string> {
  status: number;
  headers: Record<string, string>;
  body: Body;
}

/** A row of the endpoint table in the API document. */
export interface Endpoint {
  path: string;
  /** The scope that the key needs; null if none. */
  scope: string | null;
  /** True if the endpoint is part of the Analytics plan. */
  needsAnalyticsPlan?: boolean;
  /** Handles a request. @throws ErrorResponse for an invalid query or an unknown ID */
  handle(context: EndpointContext): ResponseData;
}

export interface EndpointContext {
  brand: Brand;
  key: ApiKey;
  query: URLSearchParams;
  /** The values of the path's `{…}` segments, in order. */
  params: readonly string[];
  /** The origin of the file host, for signed URLs. */
  filesUrl: string;
  /** Milliseconds since 1970. */
  now: number;
}

/** The parts of the response envelope that an endpoint supplies. */
export interface ResponseData {
  data: unknown;
  pagination?: PageInfo;
}

export interface PageInfo {
  page: number;
  per_page: number;
  total_items: number;
  total_pages: number;
  has_next: boolean;
  has_prev: boolean;
}

/**
 * Thrown to respond with an error status. The API document does not describe the body of an error response, so the
 * sandbox invents one.
 */
export class ErrorResponse extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly headers: Record<string, string> = {},
  ) {
    super(message);
    this.name = "ErrorResponse";
  }

  get body(): string {
    const { status, code, message } = this;
    return JSON.stringify({ success: false, error: { code, message, status } });
  }
}

/** Returns the values of a pattern's `{…}` segments, or null if the path does not match. */
export function matchPath(pattern: string, path: string): string[] | null {
  const expression = pattern.replaceAll(/\{[a-z_]+\}/g, "([^/]+)");
  return new RegExp(`^${expression}$`).exec(path)?.slice(1) ?? null;
}
