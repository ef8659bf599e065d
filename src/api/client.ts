import { inspect } from "node:util";
import type { Deps, HttpResponse } from "../deps.js";
import {
  BrandapiError,
  type FailureScope,
  Forbidden,
  Unauthorized,
  UnexpectedResponse,
  UnsafeResponse,
} from "../errors.js";
import { rejectOnAbort } from "../util/reject-on-abort.js";
import { formatDuration } from "../util/timestamps.js";
import type { QueryParameters } from "../util/urls.js";
import { parseDateHeader, parseServerLimit, type ServerLimit } from "./headers.js";
import { RateLimiter } from "./rate-limit.js";
import {
  classifyError,
  classifyStatus,
  createFailureError,
  createRejectionError,
  type KeyScopes,
  parseScopes,
  type RejectedRequest,
  type RequestFailure,
  RequestTimeout,
} from "./request-errors.js";
import { type ApiResponse, chooseMaxItems, parseEnvelope, responseLimits } from "./response.js";
import { OutageTimer, retryDelay, timerPrecisionMs } from "./retry.js";

export interface ApiSettings {
  baseUrl: string;
  key: string;
  /** The hint for a rejected key (401), which depends on the key's source. */
  rejectedKeyHint: string;
  /** The instruction for replacing the key, such as "run `brandapi login`". It depends on the source of the key. */
  keyReplacement: string;
  rateLimit: number | null;
  /** The maximum duration of an outage before the run gives up; 0 disables retries. */
  maxWaitMs: number;
  userAgent: string;
  statePath: string;
}

export interface ApiEvents {
  onRetry?(event: { path: string; reason: string; waitMs: number; attempt: number }): void;
  /** Called when a request starts waiting for the rate limit or for a delay that the server requested. */
  onWait?(event: { ms: number; reason: "rate-limit" | "server" }): void;
  onSend?(event: { host: string }): void;
  /** Called after each attempt. The status is 0 if no response arrived. */
  onAttemptEnd?(event: { path: string; status: number; ms: number }): void;
  onNotice?(event: { message: string }): void;
}

/** The minimum timeout of a request, even if `--max-wait` is shorter. */
const minTimeoutMs = 5_000;

interface ApiRequest {
  path: string;
  url: URL;
  maxItems: number;
}

/**
 * Sends the requests of one run. Each request first waits for the rate limit. If it fails because the API is
 * unavailable, it is retried for up to `--max-wait`. All other failures are thrown immediately.
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
    const { baseUrl, key, maxWaitMs, userAgent } = settings;
    // Without the trailing slash, relative URLs would replace the last path segment.
    this.#baseUrl = new URL(`${baseUrl}/`);
    this.#headers = {
      authorization: `Bearer ${key}`,
      accept: "application/json",
      "user-agent": userAgent,
    };
    this.#limiter = new RateLimiter(settings, deps.clock, events);
    this.#outage = new OutageTimer(deps.clock, maxWaitMs);
  }

  /**
   * Requests a path, and retries the request if the API is unavailable.
   * @param scope the scope that the path requires, for the error message
   * @throws BrandapiError with a hint, or the signal's abort reason
   */
  async get(path: string, query: QueryParameters = {}, scope?: string): Promise<ApiResponse> {
    const { clock, random, signal } = this.deps;
    const request = createRequest(this.#baseUrl, path, query);
    let firstSentAt: number | null = null;
    const remainingMs = () => this.#outage.remainingMs(firstSentAt);
    for (let attempt = 1; ; attempt += 1) {
      // Timers can fire early, so a few milliseconds of a server-requested delay may remain when a retry starts.
      const maxServerWaitMs = remainingMs() + timerPrecisionMs;
      const permit = await this.#limiter.acquire(signal, maxServerWaitMs);
      const sentAt = clock.monotonic();
      firstSentAt ??= sentAt;
      const result = await this.#send(request, permit, remainingMs());
      if ("data" in result) {
        this.#outage.recordResponse();
        return result;
      }
      const { failure } = result;
      if (failure.kind === "rejected") {
        this.#outage.recordResponse();
        const keyScopes = failure.status === 403 ? await this.#requestKeyScopes(path) : null;
        const { baseUrl, rejectedKeyHint, keyReplacement } = this.settings;
        const hints = { rejectedKeyHint, keyReplacement };
        throw createRejectionError(failure, { path, baseUrl, scope, keyScopes, ...hints });
      }

      this.#outage.recordFailure(path, sentAt);
      const waitMs = retryDelay(failure, { attempt, remainingMs: remainingMs(), random: random() });
      // A 429 delays all other requests in the run, even if this request is not retried.
      if (failure.kind === "unavailable" && failure.status === 429)
        this.#limiter.pause(waitMs ?? failure.retryAfterMs ?? 0);
      if (waitMs === null)
        throw createFailureError(failure, path, clock.now(), {
          attempts: attempt,
          elapsedMs: clock.monotonic() - firstSentAt,
          failureScope: await this.#findFailureScope(),
        });
      this.stats.retries += 1;
      this.events.onRetry?.({ path, reason: failure.reason, waitMs, attempt });
      await clock.sleep(waitMs, signal);
    }
  }

  close(): void {
    this.#limiter.close();
  }

  /**
   * Sends a request once and reads the response.
   * @param permit the permit from the rate limiter
   * @throws UnexpectedResponse if the response has an undocumented shape
   * @throws UnsafeResponse if the response exceeds a limit or contains the key
   * @throws the signal's abort reason
   */
  async #send(
    { path, url, maxItems }: ApiRequest,
    permit: number,
    timeoutMs: number,
  ): Promise<ApiResponse | { failure: RejectedRequest | RequestFailure }> {
    const { clock, fetch, signal } = this.deps;
    const { key } = this.settings;
    const requestedAt = clock.now();
    const startedAt = clock.monotonic();
    let status = 0;
    let serverLimit: ServerLimit | null = null;
    this.stats.requests += 1;
    this.events.onSend?.({ host: this.#baseUrl.host });
    try {
      return await withTimeout(Math.max(minTimeoutMs, timeoutMs), url.host, this.deps, async (deadline) => {
        const response = await rejectOnAbort(
          fetch(url, { headers: this.#headers, signal: deadline }),
          deadline,
        );
        status = response.status;
        serverLimit = parseServerLimit(response.headers, clock.now());
        if (status !== 200) return { failure: classifyStatus(response, clock.now()) };
        const text = await rejectOnAbort(readBody(response, path), deadline);
        const envelope = parseEnvelope(text, { path, maxItems, key });
        return { ...envelope, requestedAt, serverTime: parseDateHeader(response.headers) };
      });
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      const failure = error instanceof BrandapiError ? null : classifyError(error, url.host);
      if (!failure) throw error;
      // Drop a cause that quotes the key, because `--verbose` prints causes. Errors from libraries can quote request
      // headers.
      return { failure: inspect(error).includes(key) ? { ...failure, cause: undefined } : failure };
    } finally {
      this.#limiter.endRequest(permit, serverLimit);
      this.events.onAttemptEnd?.({ path, status, ms: clock.monotonic() - startedAt });
    }
  }

  /**
   * Returns `outage` if several endpoints and then `/me`, which needs no scope or plan, have failed, because the other
   * endpoints would probably fail as well. Also returns `outage` if the server does not allow a request now. Otherwise,
   * returns `resource`.
   */
  async #findFailureScope(): Promise<FailureScope> {
    if (!this.#outage.hasSeveralEndpoints) return "resource";
    try {
      const permit = await this.#limiter.acquire(this.deps.signal, 0);
      const result = await this.#send(createRequest(this.#baseUrl, "/me"), permit, minTimeoutMs);
      return "data" in result || result.failure.kind === "rejected" ? "resource" : "outage";
    } catch (error) {
      const isUseful = this.deps.signal.aborted || error instanceof UnsafeResponse;
      // The error from the first request is more useful than that from `/me`.
      if (error instanceof BrandapiError && !isUseful) return "outage";
      throw error;
    }
  }

  /**
   * Returns the key's scopes, which help to explain a 403. `/me` needs no scope, so a 403 for `/me` means that the IP
   * address is not allowed.
   */
  async #requestKeyScopes(deniedPath: string): Promise<KeyScopes> {
    if (deniedPath === "/me") return "forbidden";
    this.#keyScopes ??= this.get("/me").then(
      ({ data }) => parseScopes(data),
      (error: unknown) => {
        this.#keyScopes = null;
        if (error instanceof Forbidden) return "forbidden";
        if (error instanceof BrandapiError && !(error instanceof Unauthorized)) return null;
        throw error;
      },
    );
    return await this.#keyScopes;
  }
}

function createRequest(baseUrl: URL, path: string, query: QueryParameters = {}): ApiRequest {
  return { path, url: buildUrl(baseUrl, path, query), maxItems: chooseMaxItems(query) };
}

/**
 * @throws UnexpectedResponse if the URL is outside the base URL; otherwise, a malicious ID could cause the key to be
 * sent to another server
 */
function buildUrl(base: URL, path: string, query: QueryParameters): URL {
  const url = new URL(`.${path.startsWith("/") ? "" : "/"}${path}`, base);
  if (!url.href.startsWith(base.href) || url.search || url.hash)
    throw new UnexpectedResponse("The request was not sent, because its path leads outside the base URL.");
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) url.searchParams.set(name, String(value));
  return url;
}

async function withTimeout<T>(
  ms: number,
  host: string,
  { setTimer, signal }: Pick<Deps, "setTimer" | "signal">,
  work: (deadline: AbortSignal) => Promise<T>,
): Promise<T> {
  const timeout = new AbortController();
  const cancel = setTimer?.(ms, () =>
    timeout.abort(new RequestTimeout(`no complete response from ${host} within ${formatDuration(ms)}`)),
  );
  try {
    return await work(AbortSignal.any([signal, timeout.signal]));
  } finally {
    cancel?.();
    // Aborting discards an unread body, which releases the connection.
    timeout.abort();
  }
}

async function readBody({ body }: HttpResponse, path: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > responseLimits.bytes)
      throw new UnsafeResponse(
        `The API's response to ${path} was rejected: it is larger than ${responseLimits.bytes / 2 ** 20} MiB.`,
        { hint: "check that the base URL points to the brand API" },
      );
    chunks.push(chunk);
  }
  return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
}
