import type { Query } from "../resources/types.js";
import type { Answer } from "./envelope.js";

export interface ApiSettings {
  /** The versioned root; its path ends in /api/brand/v1. */
  baseUrl: string;
  key: string;
  /** Requests per key per minute; the machine has twice as many. `null` for no limit. */
  rateLimit: number | null;
  /** Milliseconds without progress after which a request is given up; 0 for no retries. */
  maxWaitMs: number;
  userAgent: string;
  /** The folder of the file in which all processes count their requests. */
  statePath: string;
  /** Milliseconds of the rate limit's window: a minute. Tests shorten it. */
  windowMs?: number;
}

export interface ApiEvents {
  onRetry?(event: { path: string; reason: string; waitMs: number; attempt: number }): void;
  onWait?(event: { ms: number; reason: "budget" | "server" }): void;
  /** `status` is 0 if no answer came. */
  onRequest?(event: { path: string; status: number; ms: number }): void;
  onNotice?(event: { message: string }): void;
}

export interface ApiClient {
  /**
   * Asks for a path below the base URL until there is an answer, a refusal, or no patience left.
   * @param scope the scope that the endpoint needs, for the message of a 403
   * @throws a BrandapiError that says what the person can do, or the reason of the program's signal
   */
  get(path: string, query?: Query, scope?: string): Promise<Answer>;
  readonly stats: { readonly requests: number; readonly retries: number };
  close(): void;
}
