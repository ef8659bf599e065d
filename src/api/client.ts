import type { Deps } from "../deps.js";
import { AccessForbidden, BrandapiError, KeyRejected, UnexpectedResponse } from "../errors.js";
import type { QueryParameters } from "../util/json-value.js";
import { forbiddenError, readScopes, statusError, unavailableError } from "./api-errors.js";
import { readServerLimit, requestHeaders } from "./headers.js";
import { type ApiRequest, sendRequest } from "./http.js";
import { RateLimiter } from "./rate-limit.js";
import type { RequestFailure } from "./request-failure.js";
import { type ApiResponse, maxItemsFor } from "./response.js";
import { isRetryable, OutageTimer, planRetry } from "./retry.js";

/** Servers take addresses of some thousand letters. */
const longestPart = 4_000;

/**
 * Returns an id as one part of an address; null if no address can hold it: `.` and `..` would lead elsewhere, half of a
 * surrogate pair cannot be encoded, and servers refuse what is too long.
 */
export function encodePathSegment(id: string): string | null {
  if (/^\.{0,2}$/.test(id) || !id.isWellFormed()) return null;
  const part = encodeURIComponent(id);
  return part.length > longestPart ? null : part;
}

/**
 * Returns the address of a path below the base URL. An id from the API can be part of the path.
 * @throws UnexpectedResponse if it leads anywhere else, because the key must not go there
 */
export function buildUrl(base: URL, path: string, query: QueryParameters): URL {
  const url = new URL(`.${path.startsWith("/") ? "" : "/"}${path}`, base);
  if (!url.href.startsWith(base.href) || url.search || url.hash) {
    throw new UnexpectedResponse("A path leads outside the base URL: not requested.");
  }
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  return url;
}

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
  get(path: string, query?: QueryParameters, scope?: string): Promise<ApiResponse>;
  readonly stats: { readonly requests: number; readonly retries: number };
  close(): void;
}

export function openApi(settings: ApiSettings, deps: Deps, events: ApiEvents = {}): ApiClient {
  return new Client(settings, deps, events);
}

/** Timers are not exact: a wait that is as long as the patience is waited for. */
const graceMs = 50;

class Client implements ApiClient {
  readonly stats = { requests: 0, retries: 0 };
  readonly #base: URL;
  readonly #budget: RateLimiter;
  readonly #headers: Record<string, string>;
  readonly #silence: OutageTimer;
  #scopes: Promise<readonly string[] | "forbidden" | null> | null = null;

  constructor(
    private readonly settings: ApiSettings,
    private readonly deps: Deps,
    private readonly events: ApiEvents,
  ) {
    // Without the slash at its end, `new URL` drops the last segment.
    this.#base = new URL(settings.baseUrl.replace(/\/*$/, "/"));
    this.#headers = requestHeaders(settings);
    this.#silence = new OutageTimer(deps.clock, settings.maxWaitMs);
    this.#budget = new RateLimiter(settings, deps.clock, events);
  }

  async get(path: string, query: QueryParameters = {}, scope?: string): Promise<ApiResponse> {
    const url = buildUrl(this.#base, path, query);
    const expected = { path, mostItems: maxItemsFor(query), key: this.settings.key };
    return await this.#persist({ url, headers: this.#headers, expected }, scope);
  }

  close(): void {
    this.#budget.close();
  }

  /** Tries until there is an answer, a refusal, or no patience left. */
  async #persist(call: ApiRequest, scope: string | undefined): Promise<ApiResponse> {
    const { path } = call.expected;
    const { clock, random, signal } = this.deps;
    let begunAt: number | null = null;
    for (let attempt = 1; ; attempt += 1) {
      const patienceMs = this.#silence.leftMs(begunAt ?? clock.monotonic()) + graceMs;
      const permit = await this.#budget.acquire(signal, patienceMs);
      const sentAt = clock.monotonic();
      begunAt ??= sentAt;
      this.stats.requests += 1;
      const leftMs = this.#silence.leftMs(begunAt);
      const onHeaders: Parameters<typeof sendRequest>[2] = (headers) =>
        this.#budget.release(permit, headers && readServerLimit(headers, clock.now()));
      const answer = await sendRequest(call, leftMs, onHeaders, this.deps, this.events);
      if ("data" in answer) {
        this.#silence.answered();
        return answer;
      }
      const { fault } = answer;
      if (isRetryable(fault) || fault.kind === "permanent") this.#silence.failed(path, sentAt);
      else this.#silence.answered();
      const next = planRetry(fault, { attempt, leftMs: this.#silence.leftMs(begunAt), random: random() });
      // The wait that a 429 asks for applies to every request of this run, even if this request is given up.
      if (fault.kind === "status" && fault.status === 429)
        this.#budget.pause(next?.waitMs ?? fault.retryAfterMs ?? 0);
      if (!next) throw await this.#failure(fault, call, scope, { tries: attempt, begunAt });
      this.stats.retries += 1;
      this.events.onRetry?.({ path, reason: fault.reason, waitMs: next.waitMs, attempt });
      await clock.sleep(next.waitMs, signal);
    }
  }

  async #failure(
    fault: RequestFailure,
    { expected: { path } }: ApiRequest,
    scope: string | undefined,
    { tries, begunAt }: { tries: number; begunAt: number },
  ): Promise<BrandapiError> {
    const { clock } = this.deps;
    if (fault.kind !== "status" || isRetryable(fault)) {
      const spent = { tries, triedMs: clock.monotonic() - begunAt, everywhere: this.#silence.isEverywhere };
      return unavailableError(fault, path, spent, clock.now());
    }
    const asked = { path, baseUrl: this.#base.href.replace(/\/$/, ""), scope };
    if (fault.status !== 403) return statusError(fault.status, asked);
    if (path === "/me") return forbiddenError(asked, "forbidden");
    this.#scopes ??= this.#readScopes();
    return forbiddenError(asked, await this.#scopes);
  }

  /** A 403 does not say if the scope or the address is refused; `/me` needs no scope, so it tells them apart. */
  async #readScopes(): Promise<readonly string[] | "forbidden" | null> {
    try {
      const { data } = await this.get("/me");
      return readScopes(data);
    } catch (error) {
      this.#scopes = null;
      if (error instanceof AccessForbidden) return "forbidden";
      if (error instanceof BrandapiError && !(error instanceof KeyRejected)) return null;
      throw error;
    }
  }
}
