import type { ApiKey, Brand } from "./brand.js";

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

export interface Endpoint {
  path: string;
  scope: string | null;
  needsAnalyticsPlan?: boolean;
  /** @throws ErrorResponse if the query is invalid or an ID is unknown */
  handle(context: EndpointContext): ResponseData;
}

export interface EndpointContext {
  brand: Brand;
  key: ApiKey;
  query: URLSearchParams;
  /** The values for the `{…}` segments of the path. */
  params: readonly string[];
  filesUrl: string;
  now: number;
}

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
 * Thrown to respond with an error. The body is invented, because the API documentation does not describe error bodies.
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

/** Returns the values for the `{…}` segments of a pattern, or null if the path does not match. */
export function matchPath(pattern: string, path: string): string[] | null {
  const expression = pattern.replaceAll(/\{[a-z_]+\}/g, "([^/]+)");
  return new RegExp(`^${expression}$`).exec(path)?.slice(1) ?? null;
}
