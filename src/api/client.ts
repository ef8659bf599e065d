import type { Deps } from "../deps.js";
import { BrandapiError, Forbidden, Unauthorized } from "../errors.js";
import type { QueryParameters } from "../util/urls.js";
import { forbiddenError, type KeyScopes, readScopes, statusError, unavailableError } from "./api-errors.js";
import { readServerLimit, requestHeaders } from "./headers.js";
import { type ApiRequest, sendRequest } from "./http.js";
import { RateLimiter } from "./rate-limit.js";
import type { RequestFailure } from "./request-failure.js";
import { buildUrl } from "./request-url.js";
import { type ApiResponse, maxItemsFor } from "./response.js";
import { isRetryable, OutageTimer, retryDelay } from "./retry.js";

export interface ApiSettings {
  /** The API's root URL, which ends in /api/brand/v1. */
  baseUrl: string;
  key: string;
  /** The maximum number of requests per minute with this key, or null if there is no limit. */
  rateLimit: number | null;
  /**
   * The maximum time in milliseconds to keep retrying while the API does not respond. A value of 0 disables retries.
   */
  maxWaitMs: number;
  userAgent: string;
  /** The folder that contains `rate.sqlite`, the file in which all processes count their requests. */
  statePath: string;
}

export interface ApiEvents {
  /** Called before waiting for the next attempt. */
  onRetry?(event: { path: string; reason: string; waitMs: number; attempt: number }): void;
  /** Called when a request must wait, either because of the rate limit or because the server requested a wait. */
  onWait?(event: { ms: number; reason: "rate-limit" | "server" }): void;
  /** Called after every request. `status` is 0 if no response arrived. */
  onRequest?(event: { path: string; status: number; ms: number }): void;
  onNotice?(event: { message: string }): void;
}

export interface ApiClient {
  /**
   * Requests a path relative to the base URL, with retries.
   * @param scope the scope that the endpoint requires, used in the error message for a 403
   * @throws BrandapiError with a hint, or the abort reason of the program's signal
   */
  get(path: string, query?: QueryParameters, scope?: string): Promise<ApiResponse>;
  readonly stats: { readonly requests: number; readonly retries: number };
  close(): void;
}

/**
 * Creates a client for one run, without sending a request.
 * @throws ConfigurationError if the key contains invalid characters
 */
export function openApi(settings: ApiSettings, deps: Deps, events: ApiEvents = {}): ApiClient {
  return new Client(settings, deps, events);
}

/** The tolerance for imprecise timers, so that a `Retry-After` equal to `--max-wait` is honored. */
const timerToleranceMs = 50;

/**
 * Each request waits for a permit (`rate-limit.ts`) and is then sent (`http.ts`). A failure (`request-failure.ts`) is
 * retried (`retry.ts`) or thrown as an error with a hint (`api-errors.ts`).
 */
class Client implements ApiClient {
  readonly stats = { requests: 0, retries: 0 };
  readonly #baseUrl: URL;
  readonly #headers: Record<string, string>;
  readonly #limiter: RateLimiter;
  readonly #outage: OutageTimer;
  #keyScopes: Promise<KeyScopes> | null = null;

  constructor(
    private readonly settings: ApiSettings,
    private readonly deps: Deps,
    private readonly events: ApiEvents,
  ) {
    // `new URL` would drop the last path segment of a base URL without a trailing slash.
    this.#baseUrl = new URL(settings.baseUrl.replace(/\/*$/, "/"));
    this.#headers = requestHeaders(settings);
    this.#limiter = new RateLimiter(settings, deps.clock, events);
    this.#outage = new OutageTimer(deps.clock, settings.maxWaitMs);
  }

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
    for (let attempt = 1; ; attempt += 1) {
      const remainingMs = this.#outage.remainingMs(firstSentAt ?? clock.monotonic());
      const permit = await this.#limiter.acquire(signal, remainingMs + timerToleranceMs);
      const sentAt = clock.monotonic();
      firstSentAt ??= sentAt;
      this.stats.requests += 1;
      const result = await sendRequest(request, this.#outage.remainingMs(firstSentAt), this.deps, {
        onHeaders: (headers) =>
          this.#limiter.release(permit, headers && readServerLimit(headers, clock.now())),
        onRequest: this.events.onRequest,
      });
      if ("data" in result) {
        this.#outage.recordResponse();
        return result;
      }

      const { failure } = result;
      if (failure.kind === "status" && !isRetryable(failure)) this.#outage.recordResponse();
      else this.#outage.recordFailure(path, sentAt);
      const waitMs = retryDelay(failure, {
        attempt,
        remainingMs: this.#outage.remainingMs(firstSentAt),
        random: random(),
      });
      // A 429 delays every request in the run, even if this request is not retried.
      if (failure.kind === "status" && failure.status === 429)
        this.#limiter.pause(waitMs ?? failure.retryAfterMs ?? 0);
      if (waitMs === null) throw await this.#errorFor(failure, path, scope, { attempt, firstSentAt });
      this.stats.retries += 1;
      this.events.onRetry?.({ path, reason: failure.reason, waitMs, attempt });
      await clock.sleep(waitMs, signal);
    }
  }

  close(): void {
    this.#limiter.close();
  }

  async #errorFor(
    failure: RequestFailure,
    path: string,
    scope: string | undefined,
    { attempt, firstSentAt }: { attempt: number; firstSentAt: number },
  ): Promise<BrandapiError> {
    const { clock } = this.deps;
    if (failure.kind !== "status" || isRetryable(failure))
      return unavailableError(failure, path, clock.now(), {
        attempts: attempt,
        elapsedMs: clock.monotonic() - firstSentAt,
        affectsOtherEndpoints: this.#outage.affectsSeveralEndpoints,
      });
    const request = { path, baseUrl: this.#baseUrl.href.replace(/\/$/, ""), scope };
    if (failure.status !== 403) return statusError(failure.status, request);
    if (path === "/me") return forbiddenError(request, "forbidden");
    this.#keyScopes ??= this.#requestKeyScopes();
    return forbiddenError(request, await this.#keyScopes);
  }

  /** Requests `/me`, which needs no scope, to find out whether a missing scope or the IP address caused a 403. */
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
