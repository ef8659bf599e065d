import type { Clock, Deps } from "../deps.js";
import { BrandapiError, Forbidden, Unauthorized, UnexpectedResponse } from "../errors.js";
import type { QueryParameters } from "../util/urls.js";
import { readServerLimit, requestHeaders } from "./headers.js";
import { type ApiRequest, sendRequest } from "./http.js";
import { RateLimiter } from "./rate-limit.js";
import {
  forbiddenError,
  type KeyScopes,
  type Outage,
  type RefusedRequest,
  readScopes,
  statusError,
  unavailableError,
} from "./request-errors.js";
import { type ApiResponse, maxItemsFor } from "./response.js";

export interface ApiSettings {
  baseUrl: string;
  key: string;
  /** The hint for a rejected key (401). It depends on the source of the key. */
  rejectedKeyHint: string;
  rateLimit: number | null;
  /** The maximum duration of an outage before the run gives up; 0 disables retries. */
  maxWaitMs: number;
  userAgent: string;
  statePath: string;
}

export interface ApiEvents {
  onRetry?(event: { path: string; reason: string; waitMs: number; attempt: number }): void;
  /** Called when a request has to wait for the rate limit or the server, but at most once per request. */
  onWait?(event: { ms: number; reason: "rate-limit" | "server" }): void;
  /** Called before each request. */
  onSend?(event: { host: string }): void;
  /** The status is 0 if no response arrived. */
  onRequest?(event: { path: string; status: number; ms: number }): void;
  onNotice?(event: { message: string }): void;
}

/** Tolerates imprecise timers, so that a `Retry-After` equal to `--max-wait` is honored. */
const timerToleranceMs = 50;

/**
 * Sends the requests of one run. Each request waits for a permit (`rate-limit.ts`) and is then sent (`http.ts`).
 * A failure is retried or thrown as an error with a hint (`request-errors.ts`).
 */
export class ApiClient {
  readonly stats = { requests: 0, retries: 0 };
  readonly #baseUrl: URL;
  readonly #headers: Record<string, string>;
  readonly #limiter: RateLimiter;
  readonly #outage: OutageTimer;
  #keyScopes: Promise<KeyScopes> | null = null;

  constructor(
    private readonly settings: ApiSettings,
    private readonly deps: Deps,
    private readonly events: ApiEvents = {},
  ) {
    // `new URL` would drop the last path segment of a base URL without a trailing slash.
    this.#baseUrl = new URL(settings.baseUrl.replace(/\/*$/, "/"));
    this.#headers = requestHeaders(settings);
    this.#limiter = new RateLimiter(settings, deps.clock, events);
    this.#outage = new OutageTimer(deps.clock, settings.maxWaitMs);
  }

  /** @throws BrandapiError with a hint, or the signal's abort reason */
  async get(path: string, query: QueryParameters = {}, scope?: string): Promise<ApiResponse> {
    const { clock, random, signal } = this.deps;
    const request: ApiRequest = {
      path,
      url: buildUrl(this.#baseUrl, path, query),
      headers: this.#headers,
      maxItems: maxItemsFor(query),
      key: this.settings.key,
    };
    let firstSentAt: number | null = null;
    const remainingMs = () => this.#outage.remainingMs(firstSentAt ?? clock.monotonic());
    for (let attempt = 1; ; attempt += 1) {
      const permit = await this.#limiter.acquire(signal, remainingMs() + timerToleranceMs);
      const sentAt = clock.monotonic();
      firstSentAt ??= sentAt;
      this.stats.requests += 1;
      this.events.onSend?.({ host: this.#baseUrl.host });
      const result = await sendRequest(request, remainingMs(), this.deps, {
        onHeaders: (headers) =>
          this.#limiter.recordResponse(permit, headers && readServerLimit(headers, clock.now())),
        onRequest: this.events.onRequest,
      });
      if ("data" in result) {
        this.#outage.recordResponse();
        return result;
      }
      const { failure } = result;
      if (failure.kind === "refused") {
        this.#outage.recordResponse();
        throw await this.#refusalError(failure, path, scope);
      }

      this.#outage.recordFailure(path, sentAt);
      const waitMs = retryDelay(failure, { attempt, remainingMs: remainingMs(), random: random() });
      // A 429 delays all other requests in the run, even if this request is not retried.
      if (failure.kind === "unavailable" && failure.status === 429)
        this.#limiter.pause(waitMs ?? failure.retryAfterMs ?? 0);
      if (waitMs === null)
        throw unavailableError(failure, path, clock.now(), {
          attempts: attempt,
          elapsedMs: clock.monotonic() - firstSentAt,
          affectsOtherEndpoints: this.#outage.affectsSeveralEndpoints,
        });
      this.stats.retries += 1;
      this.events.onRetry?.({ path, reason: failure.reason, waitMs, attempt });
      await clock.sleep(waitMs, signal);
    }
  }

  close(): void {
    this.#limiter.close();
  }

  async #refusalError(
    { status, isWebPage, location }: RefusedRequest,
    path: string,
    scope: string | undefined,
  ): Promise<BrandapiError> {
    const { rejectedKeyHint } = this.settings;
    const baseUrl = this.#baseUrl.href.replace(/\/$/, "");
    const request = { path, baseUrl, rejectedKeyHint, scope, isWebPage, location };
    if (status !== 403) return statusError(status, request);
    if (path === "/me") return forbiddenError(request, "forbidden");
    this.#keyScopes ??= this.#requestKeyScopes();
    return forbiddenError(request, await this.#keyScopes);
  }

  /** `/me` needs no scope, so its response shows whether a missing scope or the IP address caused a 403. */
  async #requestKeyScopes(): Promise<KeyScopes> {
    try {
      const { data } = await this.get("/me");
      return readScopes(data);
    } catch (error) {
      this.#keyScopes = null;
      if (error instanceof Forbidden) return "forbidden";
      if (error instanceof BrandapiError && !(error instanceof Unauthorized)) return null;
      throw error;
    }
  }
}

/**
 * @throws UnexpectedResponse if the URL is outside the base URL; otherwise, a malicious ID could cause the key to be
 * sent to another server
 */
function buildUrl(base: URL, path: string, query: QueryParameters): URL {
  const url = new URL(`.${path.startsWith("/") ? "" : "/"}${path}`, base);
  if (!url.href.startsWith(base.href) || url.search || url.hash)
    throw new UnexpectedResponse("A path leads outside the base URL, so it was not requested.");
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) url.searchParams.set(name, String(value));
  return url;
}

/**
 * Measures the current outage. All requests in a run share one `--max-wait`, so the run waits out an outage only once.
 * After that time is up, each further request is retried for a tenth of `--max-wait`, because the outage may affect only
 * one endpoint.
 */
export class OutageTimer {
  #lastResponseAt = Number.NEGATIVE_INFINITY;
  #startedAt: number | null = null;
  readonly #failedEndpoints = new Set<string>();

  constructor(
    private readonly clock: Pick<Clock, "monotonic">,
    private readonly maxWaitMs: number,
  ) {}

  get affectsSeveralEndpoints(): boolean {
    return this.#failedEndpoints.size > 1;
  }

  /** Ends the outage. An error response, such as a 403, counts as a response. */
  recordResponse(): void {
    this.#lastResponseAt = this.clock.monotonic();
    this.#startedAt = null;
    this.#failedEndpoints.clear();
  }

  /** Records a failed attempt. `/orders` and `/orders/ID` count as the same endpoint. */
  recordFailure(path: string, sentAt: number): void {
    this.#startedAt ??= Math.max(sentAt, this.#lastResponseAt);
    this.#failedEndpoints.add(path.split("/", 2).join("/"));
  }

  remainingMs(firstSentAt: number): number {
    const now = this.clock.monotonic();
    const sharedMs = this.maxWaitMs - (this.#startedAt === null ? 0 : now - this.#startedAt);
    return Math.max(sharedMs, this.maxWaitMs / 10 - (now - firstSentAt));
  }
}

const [minBackoffMs, maxBackoffMs] = [500, 30_000];
const maxInvalidBodyRetries = 4;
/** The minimum time that must remain for another attempt to be made. Timers are not precise enough for shorter waits. */
const timerPrecisionMs = 5;

/**
 * Returns the delay before the next attempt, or null to give up. Uses exponential backoff with full jitter, and makes
 * the last attempt when `remainingMs` expires. Honors `Retry-After` unless it exceeds `remainingMs`.
 * @param attempt the number of failed attempts
 * @param random a number in [0, 1)
 */
export function retryDelay(
  outage: Outage,
  { attempt, remainingMs, random }: { attempt: number; remainingMs: number; random: number },
): number | null {
  if (outage.kind === "permanent" || remainingMs <= timerPrecisionMs) return null;
  if (outage.kind === "invalid-body" && attempt > maxInvalidBodyRetries) return null;
  const retryAfterMs = outage.kind === "unavailable" ? outage.retryAfterMs : null;
  if (retryAfterMs !== null && retryAfterMs > remainingMs) return null;
  const backoffMs = random * Math.min(maxBackoffMs, minBackoffMs * 2 ** Math.min(attempt - 1, 10));
  // Jitter keeps processes that received the same `Retry-After` from retrying simultaneously.
  return Math.min(remainingMs, retryAfterMs === null ? backoffMs : retryAfterMs + random * 250);
}
