import type { Deps } from "../deps.js";
import { AccessForbidden, BrandapiError } from "../errors.js";
import type { Query } from "../resources/types.js";
import { addressOf, baseOf } from "./address.js";
import { readBody } from "./body.js";
import { bounds, type Most, mostFor } from "./bounds.js";
import { type Answer, outlineEnvelope } from "./envelope.js";
import { type Fault, faultOf, withoutKey } from "./faults.js";
import { gaveUp, statusFault, statusWords } from "./giving-up.js";
import type { Permit } from "./governing.js";
import { openGovernor } from "./governor.js";
import { headersOf } from "./headers.js";
import { longestHoldMs, readServerLimit } from "./limits.js";
import { type Asked, forbidden, refusal, scopesIn } from "./refusals.js";
import {
  type ApiClient,
  type ApiEvents,
  type ApiSettings,
  type ApiStats,
  type RequestOptions,
  workLimit,
} from "./requesting.js";
import { mayPass, nextTry } from "./retry.js";
import { deadlineOf, graceMs, startSending, unlessAborted } from "./sending.js";
import { type Patient, Silence } from "./silence.js";
import { WaitMeter } from "./wait-meter.js";

export type { Answer, Pagination } from "./envelope.js";
export type { ApiClient, ApiEvents, ApiSettings, ApiStats, RequestOptions } from "./requesting.js";

export function openApi(settings: ApiSettings, deps: Deps, events: ApiEvents = {}): ApiClient {
  return new Client(settings, deps, events);
}

type Outcome = { answer: Answer } | { fault: Fault };

/** What somebody asks for, and waits for. */
interface Call {
  url: URL;
  path: string;
  options: RequestOptions;
  most: Most;
  patient: Patient;
  signal: AbortSignal;
}

class Client implements ApiClient {
  readonly #counts = { requests: 0, retries: 0, bytes: 0 };
  readonly #waits: WaitMeter;
  readonly #silence: Silence;
  readonly #base: URL;
  readonly #headers: Record<string, string>;
  readonly #governor;
  /** Calls under way: one listener on the program's signal serves them all. */
  readonly #calls = new Set<AbortController>();
  #scopes: Promise<readonly string[] | "forbidden" | null> | null = null;

  constructor(
    private readonly settings: ApiSettings,
    private readonly deps: Deps,
    private readonly events: ApiEvents,
  ) {
    this.#waits = new WaitMeter(deps.clock);
    this.#silence = new Silence(deps.clock, settings.maxWaitMs);
    this.#base = baseOf(settings.baseUrl);
    this.#headers = headersOf(settings);
    const { rateLimit, statePath, key, windowMs } = settings;
    const kept = (rateLimit ?? 0) - (workLimit(rateLimit) ?? 0);
    const account = { origin: this.#base.origin, key };
    this.#governor = openGovernor({ ...account, rateLimit, kept, statePath, windowMs }, deps, events);
    deps.signal.addEventListener("abort", this.#stop);
  }

  get stats(): ApiStats {
    return { ...this.#counts, waitedMs: this.#waits.totalMs };
  }

  async get(path: string, query: Query = {}, options: RequestOptions = {}): Promise<Answer> {
    const url = addressOf(this.#base, path, query);
    const patient = this.#silence.begin(path);
    const aborter = new AbortController();
    const stop = () => aborter.abort(options.signal?.reason);
    if (this.deps.signal.aborted) aborter.abort(this.deps.signal.reason);
    if (options.signal?.aborted) stop();
    options.signal?.addEventListener("abort", stop, { once: true });
    this.#calls.add(aborter);
    try {
      const { signal } = aborter;
      return await this.#persist({ url, path, options, most: mostFor(query), patient, signal });
    } finally {
      patient.end();
      this.#calls.delete(aborter);
      options.signal?.removeEventListener("abort", stop);
    }
  }

  close(): void {
    this.deps.signal.removeEventListener("abort", this.#stop);
    this.#governor.close();
  }

  readonly #stop = () => {
    for (const aborter of this.#calls) aborter.abort(this.deps.signal.reason);
  };

  /** Tries until there is an answer, a refusal, or no patience left. */
  async #persist(call: Call): Promise<Answer> {
    const { path, options, signal, patient } = call;
    let since: number | null = null;
    for (let attempt = 1; ; attempt += 1) {
      const patience = { serverMs: patient.leftMs() + graceMs, inAllMs: options.patienceMs };
      const permit = await this.#waits.during(() => this.#governor.take(signal, patience));
      since ??= this.deps.clock.monotonic();
      patient.asks();
      const outcome = await this.#try(call, permit, deadlineOf(patient.leftMs()));
      if ("answer" in outcome) return outcome.answer;
      const { fault } = outcome;
      if (mayPass(fault) || fault.kind === "permanent") patient.failed();
      else patient.heard();
      const next = nextTry(fault, {
        attempt,
        idleMs: this.settings.maxWaitMs - patient.leftMs(),
        maxWaitMs: this.settings.maxWaitMs,
        budgetFreeMs: this.#governor.fullForMs(),
        random: this.deps.random(),
      });
      // Given up or not: what the server asks for holds for all that is sent with this key.
      if (fault.kind === "status" && fault.status === 429)
        this.#governor.hold(next?.waitMs ?? Math.min(fault.retryAfterMs ?? 0, longestHoldMs));
      if (!next)
        throw await this.#failure(fault, call, {
          tries: attempt,
          triedMs: this.deps.clock.monotonic() - since,
        });
      this.#counts.retries += 1;
      this.events.onRetry?.({ path, reason: fault.reason, waitMs: next.waitMs, attempt });
      await this.#waits.during(() => this.deps.clock.sleep(next.waitMs, signal));
    }
  }

  /** One try: a request, and what its body says. */
  async #try(call: Call, permit: Permit, deadlineMs: number): Promise<Outcome> {
    const { path, most, options, patient, signal } = call;
    const { key } = this.settings;
    try {
      const sent = await this.#send(call, permit, deadlineMs);
      if ("fault" in sent) return sent;
      const outline = outlineEnvelope(sent.body, { path, askedAt: sent.at, most, key });
      patient.heard();
      if (options.arrived) await unlessAborted(options.arrived(outline.pagination), signal);
      signal.throwIfAborted();
      return { answer: outline.open(options.recognise) };
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof BrandapiError) throw error;
      const fault = faultOf(error, this.#base.host);
      if (!fault) throw error;
      return { fault: withoutKey(fault, key) };
    }
  }

  /** One request: the body of a 200, and when it was asked for. */
  async #send(
    { url, path, options, signal }: Call,
    permit: Permit,
    deadlineMs: number,
  ): Promise<{ body: Buffer; at: number } | { fault: Fault }> {
    const { clock, fetch } = this.deps;
    const sending = startSending(this.deps, signal, deadlineMs);
    const at = clock.now();
    const started = clock.monotonic();
    this.#counts.requests += 1;
    let status = 0;
    let bytes = 0;
    try {
      const asked = unlessAborted(fetch(url, this.#init(sending.signal)), sending.signal);
      const response = await this.#fetched(asked, permit);
      status = response.status;
      if (status !== 200) {
        response.body?.cancel().catch(() => {});
        return { fault: statusFault(response, clock.now()) };
      }
      const limits = { maxBytes: options.maxBytes ?? bounds.bytes, totalMs: deadlineMs };
      const body = await unlessAborted(readBody(response, path, limits, clock), sending.signal);
      bytes = body.bytes;
      this.#counts.bytes += bytes;
      return { body: body.content, at };
    } finally {
      sending.end();
      this.events.onRequest?.({ method: "GET", path, status, ms: clock.monotonic() - started, bytes });
    }
  }

  #init(signal: AbortSignal): RequestInit {
    return { method: "GET", headers: this.#headers, redirect: "manual", signal };
  }

  /** Gives the permit back a window after the answer's headers: by then the server has counted the request. */
  async #fetched(answer: Promise<Response>, permit: Permit): Promise<Response> {
    try {
      const response = await answer;
      permit.answered(readServerLimit(response.headers, this.deps.clock.now()));
      return response;
    } catch (error) {
      permit.answered(null);
      throw error;
    }
  }

  async #failure(
    fault: Fault,
    { path, options, signal }: Call,
    spent: { tries: number; triedMs: number },
  ): Promise<BrandapiError> {
    const asked: Asked = { path, baseUrl: this.#base.href.replace(/\/$/, ""), scope: options.scope };
    const passing = fault.kind !== "status" || fault.status in statusWords || fault.status >= 500;
    if (passing) {
      const isHeld = fault.kind === "status" && fault.status === 429;
      const file = isHeld ? this.#governor.file : null;
      const { isEverywhere: everywhere } = this.#silence;
      return gaveUp(fault, path, { ...spent, everywhere, now: this.deps.clock.now(), file });
    }
    if (fault.status !== 403) return refusal(fault.status, asked);
    if (path === "/me") return forbidden(asked, "forbidden");
    this.#scopes ??= this.#readScopes(signal);
    return forbidden(asked, await this.#scopes);
  }

  /** A 403 does not say whether scope or address; `/me` needs no scope, so it tells the two apart. */
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
