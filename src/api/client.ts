import type { Deps } from "../deps.js";
import { AccessForbidden, BrandapiError } from "../errors.js";
import type { Query } from "../resources/types.js";
import { addressOf, baseOf } from "./address.js";
import { bounds, mostItems } from "./bounds.js";
import { Budget } from "./budget.js";
import type { Answer, Expected } from "./envelope.js";
import type { Fault } from "./faults.js";
import { gaveUp } from "./giving-up.js";
import { headersOf } from "./headers.js";
import { forbidden, refusal, scopesIn } from "./refusals.js";
import { type Request, sendRequest } from "./request.js";
import {
  type ApiClient,
  type ApiEvents,
  type ApiSettings,
  type RequestOptions,
  workLimit,
} from "./requesting.js";
import { mayPass, nextTry } from "./retry.js";
import { deadlineOf, follow } from "./sending.js";
import { longestHoldMs, readServerLimit } from "./server-limit.js";
import { Silence } from "./silence.js";

export type { ApiClient, ApiEvents, ApiSettings } from "./requesting.js";

export function openApi(settings: ApiSettings, deps: Deps, events: ApiEvents = {}): ApiClient {
  return new Client(settings, deps, events);
}

/** A request with all of its tries. */
interface Call {
  url: URL;
  expected: Expected;
  options: RequestOptions;
  signal: AbortSignal;
}

/** Timers are not exact: a wait that is as long as the patience is waited for. */
const graceMs = 50;

class Client implements ApiClient {
  readonly stats = { requests: 0, retries: 0 };
  readonly #base: URL;
  readonly #budget: Budget;
  readonly #headers: Record<string, string>;
  readonly #silence: Silence;
  #scopes: Promise<readonly string[] | "forbidden" | null> | null = null;

  constructor(
    private readonly settings: ApiSettings,
    private readonly deps: Deps,
    private readonly events: ApiEvents,
  ) {
    const { baseUrl, key, maxWaitMs, rateLimit, statePath, windowMs = 60_000 } = settings;
    this.#base = baseOf(baseUrl);
    this.#headers = headersOf(settings);
    this.#silence = new Silence(deps.clock, maxWaitMs);
    const kept = (rateLimit ?? 0) - (workLimit(rateLimit) ?? 0);
    const account = { origin: this.#base.origin, key };
    const limits = { limit: rateLimit, kept, windowMs };
    this.#budget = new Budget({ ...account, ...limits, folder: statePath }, deps.clock, events);
  }

  async get(path: string, query: Query = {}, options: RequestOptions = {}): Promise<Answer> {
    const url = addressOf(this.#base, path, query);
    const expected = { path, mostItems: mostItems(query), key: this.settings.key };
    const { end, signal } = follow(this.deps.signal, options.signal);
    try {
      return await this.#persist({ url, expected, options, signal });
    } finally {
      end();
    }
  }

  close(): void {
    this.#budget.close();
  }

  /** Tries until there is an answer, a refusal, or no patience left. */
  async #persist(call: Call): Promise<Answer> {
    const { expected, options, signal } = call;
    const { clock, random } = this.deps;
    const { path } = expected;
    let begunAt: number | null = null;
    for (let attempt = 1; ; attempt += 1) {
      const serverMs = this.#silence.leftMs(begunAt ?? clock.monotonic()) + graceMs;
      const permit = await this.#budget.take(signal, { serverMs, inAllMs: options.patienceMs });
      const sentAt = clock.monotonic();
      begunAt ??= sentAt;
      this.stats.requests += 1;
      const answer = await sendRequest(this.#request(call, permit, begunAt), this.deps, this.events);
      const fault = "fault" in answer ? answer.fault : null;
      if (fault && (mayPass(fault) || fault.kind === "permanent")) this.#silence.failed(path, sentAt);
      else this.#silence.answered();
      if ("data" in answer) return answer;
      const next = nextTry(answer.fault, {
        attempt,
        leftMs: this.#silence.leftMs(begunAt),
        random: random(),
      });
      this.#obey(answer.fault, next?.waitMs);
      if (!next) throw await this.#failure(answer.fault, call, { tries: attempt, begunAt });
      this.stats.retries += 1;
      this.events.onRetry?.({ path, reason: answer.fault.reason, waitMs: next.waitMs, attempt });
      await clock.sleep(next.waitMs, signal);
    }
  }

  #request({ url, expected, options, signal }: Call, permit: number, begunAt: number): Request {
    return {
      url,
      headers: this.#headers,
      expected,
      maxBytes: options.maxBytes ?? bounds.bytes,
      deadlineMs: deadlineOf(this.#silence.leftMs(begunAt)),
      signal,
      onHeaders: (headers) => {
        const limit = headers && readServerLimit(headers, this.deps.clock.now());
        this.#budget.answered(permit, limit);
      },
    };
  }

  /** The wait that a 429 asks for holds for all that is sent with this key, if this request is given up, too. */
  #obey(fault: Fault, waitMs: number | undefined): void {
    if (fault.kind !== "status" || fault.status !== 429) return;
    this.#budget.hold(waitMs ?? Math.min(fault.retryAfterMs ?? 0, longestHoldMs));
  }

  async #failure(
    fault: Fault,
    { expected: { path }, options, signal }: Call,
    { tries, begunAt }: { tries: number; begunAt: number },
  ): Promise<BrandapiError> {
    const { clock } = this.deps;
    const isRefusal = fault.kind === "status" && !mayPass(fault) && fault.status < 500;
    if (!isRefusal) {
      const file = fault.kind === "status" && fault.status === 429 ? this.#budget.file : null;
      const triedMs = clock.monotonic() - begunAt;
      const { isEverywhere: everywhere } = this.#silence;
      return gaveUp(fault, path, { tries, triedMs, everywhere, now: clock.now(), file });
    }
    const asked = { path, baseUrl: this.#base.href.replace(/\/$/, ""), scope: options.scope };
    if (fault.status !== 403) return refusal(fault.status, asked);
    if (path === "/me") return forbidden(asked, "forbidden");
    this.#scopes ??= this.#readScopes(signal);
    return forbidden(asked, await this.#scopes);
  }

  /** A 403 does not say if the scope or the address is refused; `/me` needs no scope, so it tells them apart. */
  async #readScopes(signal: AbortSignal): Promise<readonly string[] | "forbidden" | null> {
    try {
      const { data } = await this.get("/me", {}, { signal, maxBytes: bounds.smallBytes });
      return scopesIn(data);
    } catch (error) {
      this.#scopes = null;
      if (error instanceof AccessForbidden) return "forbidden";
      if (error instanceof BrandapiError && error.exitCode !== 4 && !signal.aborted) return null;
      throw error;
    }
  }
}
