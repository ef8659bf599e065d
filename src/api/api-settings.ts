export interface ApiSettings {
  /** The API's versioned root, whose path ends in /api/brand/v1. */
  baseUrl: string;
  key: string;
  /** Maximum number of requests per minute with this key; `null` disables the rate limit. */
  rateLimit: number | null;
  /** Milliseconds to keep retrying while the API does not respond; 0 disables retries. */
  maxWaitMs: number;
  userAgent: string;
  /** The folder of the file in which all processes count their requests. */
  statePath: string;
}

export interface ApiEvents {
  /** Called before the wait for the next attempt. */
  onRetry?(event: { path: string; reason: string; waitMs: number; attempt: number }): void;
  /** Called when a request has to wait: for our own rate limit, or because the server asked for it. */
  onWait?(event: { ms: number; reason: "rate-limit" | "server" }): void;
  /** Called after every request. `status` is 0 if no response arrived. */
  onRequest?(event: { path: string; status: number; ms: number }): void;
  onNotice?(event: { message: string }): void;
}
