import { copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type Clock, systemClock } from "../../src/deps.js";
import { Stopped } from "../../src/errors.js";
import { type BrandEvents, createBrandEvents } from "../../src/sandbox/activity.js";
import type { SandboxApi, SandboxRequest } from "../../src/sandbox/api.js";
import { type Brand, createBrand, emptyBrand, type Lists } from "../../src/sandbox/brand.js";
import { type ApiKey, createKey } from "../../src/sandbox/keys.js";
import { serveSandbox } from "../../src/sandbox/server.js";
import { type ApiVariants, createVariantApi, type VariantApi } from "../sandbox/api-variants.js";
import { type Fault, injectFault } from "./faults.js";
import { makeHome } from "./home.js";
import { createEmptyMirror } from "./mirror.js";
import { brandapi, type ProgramOptions, type ProgramResult } from "./program.js";
import { noon } from "./records.js";
import { Sqlite } from "./sqlite.js";

export const testBaseUrl = "https://brand.test/api/brand/v1";

export interface SentRequest {
  /** The request path, without the prefix `/api/brand/v1`. */
  path: string;
  query: Readonly<Record<string, string>>;
  method: string;
  headers: Readonly<Record<string, string>>;
  /** The status of the response; 0 until the API has responded. */
  status: number;
}

export interface TestBrandOptions extends Partial<Lists>, Pick<Partial<Brand>, "name" | "results"> {
  /** The number of orders to generate, along with records for all other lists. By default, the brand is empty. */
  history?: number;
  /** The maximum length of each generated list except orders and surveys. */
  listLimit?: number;
  seed?: number;
  variants?: Partial<ApiVariants>;
  /** The start time in milliseconds since the Unix epoch. */
  now?: number;
  rateLimit?: number;
  /** True to let the first sync create the mirror. By default, the first sync opens a copy of an empty mirror. */
  createsMirror?: boolean;
  /** A brand on the same API, whose clock and home folder are shared, as with a second profile of the same user. */
  sameApiAs?: TestBrand;
  /** An existing test brand to copy, including its records, its current time and its mirror. */
  copyOf?: TestBrand;
}

export interface RunResult extends ProgramResult {
  requests: SentRequest[];
}

/** A brand, its API and a user's home folder. The API runs in the test's process, without sockets. */
export interface TestBrand extends BrandEvents {
  /** The data that the API serves. */
  data: Brand;
  api: VariantApi;
  home: string;
  db: string;
  key: string;
  env: Record<string, string>;
  clock: Clock & { pass(ms: number): void };
  fetch: ReturnType<typeof fetchOf>;
  now(): number;
  /** Advances the clock. */
  pass(ms: number): void;
  requests: SentRequest[];
  /** Called before each response. If it returns a fault, the API responds with the fault instead. */
  before: ((request: SentRequest) => Fault | undefined) | undefined;
  /** Like `before`, but calls `action` only for the first matching request. */
  once(matches: (request: SentRequest) => boolean, action: () => Fault | undefined | unknown): void;
  setKey(change: Partial<ApiKey>): void;
  /** @param name the name of a generated key, such as `expired` */
  secretOf(name: string): string;
  run(command: string | readonly string[], options?: ProgramOptions): Promise<RunResult>;
  /** Runs a command and sends it SIGINT before the response to the first matching request. */
  stopped(
    command: string,
    matches: (request: SentRequest) => boolean,
    beforeStop?: () => void,
  ): Promise<RunResult>;
  /**
   * Simulates a kill at the first matching request. The mirror is then a copy of its files as they were at that moment.
   */
  killed(command: string, matches: (request: SentRequest) => boolean): Promise<void>;
  sql<Row = Record<string, unknown>>(query: string, ...parameters: unknown[]): Row[];
  /** Returns the sorted keys of the current records in the mirror. */
  mirrored(resource?: string): string[];
  /** Returns the last row for the resource in `sync_runs`. */
  lastRun(resource?: string): Record<string, unknown>;
  /**
   * Serves the API on localhost until the test ends, using the system clock. Returns the environment variables for a
   * process that uses the API.
   */
  served(options?: { latency?: number }): Promise<Record<string, string>>;
  /** Returns the number of requests that the local server has received. */
  servedCount(): number;
  /** Waits for up to 20 seconds until the condition is true. */
  until(condition: () => boolean): Promise<void>;
}

export function makeBrand(options: TestBrandOptions = {}): TestBrand {
  const {
    history,
    listLimit = Number.POSITIVE_INFINITY,
    seed = 1,
    variants = {},
    rateLimit,
    createsMirror = false,
    sameApiAs,
    copyOf,
    now = (sameApiAs ?? copyOf)?.now() ?? noon,
    ...lists
  } = options;
  const home = sameApiAs?.home ?? makeHome();
  const clock = sameApiAs?.clock ?? createFakeClock(now);
  const key = createKey(seed, "all", now);
  const generated =
    history === undefined
      ? emptyBrand([key], seed)
      : shortenLists(createBrand({ seed, orders: history, now }), listLimit);
  const data = { ...(copyOf?.data ?? generated), ...lists };
  const brands = sameApiAs ? (sameApiAs.api.brands as Brand[]) : [];
  brands.push(data);
  const api =
    sameApiAs?.api ??
    createVariantApi({
      brands,
      now: clock.now,
      monotonic: clock.monotonic,
      rateLimit: rateLimit ?? null,
      variants,
    });
  const db = join(home, `brand-${brands.length}.sqlite`);
  if (copyOf) copyMirrorFiles(copyOf.db, db);
  const secret = data.keys[0]?.secret ?? "";
  let count = 0;

  const brand: TestBrand = {
    ...createBrandEvents(data, clock.now),
    data,
    api,
    home,
    db,
    key: secret,
    env: {
      BRANDAPI_BASE_URL: testBaseUrl,
      BRANDAPI_KEY: secret,
      BRANDAPI_RATE_LIMIT: "none",
      BRANDAPI_DB: db,
    },
    clock,
    now: clock.now,
    pass: clock.pass,
    requests: [],
    before: undefined,
    async fetch(url, init = {}) {
      if (sameApiAs) return await sameApiAs.fetch(url, init);
      const { pathname, searchParams } = new URL(url);
      const request = {
        path: pathname.replace(/^\/api\/brand\/v1/, ""),
        query: Object.fromEntries(searchParams),
        method: init.method ?? "GET",
        headers: Object.fromEntries(new Headers(init.headers)),
        status: 0,
      };
      brand.requests.push(request);
      // Gives each response a different time.
      clock.pass(10);
      const fault = brand.before?.(request);
      init.signal?.throwIfAborted();
      const response = await respond(fault, url, init);
      request.status = response.status;
      return response;
    },
    once(matches, action) {
      const root = sameApiAs ?? brand;
      root.before = (request) => {
        if (!matches(request)) return undefined;
        root.before = undefined;
        return asFault(action());
      };
    },
    setKey(change) {
      data.keys = data.keys.map((each, index) => (index === 0 ? { ...each, ...change } : each));
    },
    secretOf(name) {
      const found = data.keys.find((each) => each.name === name);
      if (!found) throw new RangeError(`Unknown key: ${name}`);
      return found.secret;
    },
    async run(command, { env, ...rest } = {}) {
      const root = sameApiAs ?? brand;
      const before = root.requests.length;
      if (!createsMirror && String(command).startsWith("sync")) await createEmptyMirror(brand.db);
      const result = await brandapi(command, {
        home,
        clock,
        fetch: root.fetch,
        ...rest,
        env: { ...brand.env, ...env },
      });
      return { ...result, requests: root.requests.slice(before) };
    },
    async stopped(command, matches, beforeStop = () => {}) {
      const stop = new AbortController();
      brand.once(matches, () => {
        beforeStop();
        stop.abort(new Stopped("SIGINT"));
      });
      return await brand.run(command, { signal: stop.signal });
    },
    async killed(command, matches) {
      const copy = join(home, `killed-${brand.requests.length}.sqlite`);
      await brand.stopped(command, matches, () => copyMirrorFiles(brand.db, copy));
      brand.db = copy;
      brand.env.BRANDAPI_DB = copy;
    },
    sql<Row>(query: string, ...parameters: unknown[]) {
      const mirror = new Sqlite(brand.db, { readonly: true });
      try {
        return mirror.prepare(query).all(...parameters) as Row[];
      } finally {
        mirror.close();
      }
    },
    mirrored: (resource = "orders") =>
      brand
        .sql<{ key: string }>("SELECT key FROM records WHERE resource = ? AND removed_at IS NULL", resource)
        .map((row) => row.key)
        .sort(),
    lastRun: (resource = "orders") =>
      brand.sql("SELECT * FROM sync_runs WHERE resource = ? ORDER BY run_id DESC LIMIT 1", resource)[0] ?? {},
    async served({ latency = 0 } = {}) {
      const real = createVariantApi({
        brands,
        now: Date.now,
        rateLimit: rateLimit ?? null,
        variants: api.variants,
      });
      const server = await serveSandbox(real, 0, async () => {
        count += 1;
        if (latency > 0) await systemClock.sleep(latency);
      });
      onTestFinished(() => server.close());
      return { ...brand.env, BRANDAPI_BASE_URL: server.baseUrl };
    },
    servedCount: () => count,
    async until(condition) {
      for (let n = 0; n < 2_000 && !condition(); n += 1) await systemClock.sleep(10);
      if (!condition()) throw new Error("brand.until: the condition is still false after 20 seconds");
    },
  };

  async function respond(fault: Fault | undefined, url: string | URL, init: RequestInit): Promise<Response> {
    if (typeof fault === "object" && "from" in fault) {
      const other = createVariantApi({ brands: [fault.from], now: clock.now, variants: api.variants });
      return await fetchOf(other)(url, init);
    }
    const respondNormally = () => fetchOf(api)(url, init);
    return fault === undefined ? await respondNormally() : await injectFault(fault, respondNormally);
  }

  return brand;
}

function shortenLists(brand: Brand, limit: number): Brand {
  const { people, roster, recommendations, opportunities, content, gifts, codes } = brand;
  return {
    ...brand,
    people: people.slice(0, limit),
    roster: roster.slice(0, limit),
    recommendations: recommendations.slice(0, limit),
    opportunities: opportunities.slice(0, limit),
    content: content.slice(0, limit),
    gifts: gifts.slice(0, limit),
    codes: codes.slice(0, limit),
  };
}

function asFault(returned: unknown): Fault | undefined {
  const isFault = typeof returned === "string" || (typeof returned === "object" && !Array.isArray(returned));
  return isFault && returned !== null ? (returned as Fault) : undefined;
}

/** Creates a clock that does not sleep: `sleep` advances the time immediately. */
function createFakeClock(start: number): Clock & { pass(ms: number): void } {
  let now = start;
  let monotonic = systemClock.monotonic();
  function pass(ms: number): void {
    now += ms;
    monotonic += Math.max(0, ms);
  }
  return {
    now: () => now,
    monotonic: () => monotonic,
    pass,
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      pass(ms);
      await new Promise((resolve) => setImmediate(resolve));
      signal?.throwIfAborted();
    },
  };
}

function copyMirrorFiles(path: string, copy: string): void {
  for (const end of ["", "-wal"]) if (existsSync(path + end)) copyFileSync(path + end, copy + end);
}

/** Returns a `fetch` that calls the API directly, without a network. */
export function fetchOf(api: SandboxApi) {
  return async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    init.signal?.throwIfAborted();
    const { origin, pathname, search } = new URL(url);
    const request: SandboxRequest = {
      method: init.method ?? "GET",
      url: pathname + search,
      headers: Object.fromEntries(new Headers(init.headers)),
      address: "127.0.0.1",
    };
    const { status, headers, body } = origin === api.filesUrl ? api.handleFile(request) : api.handle(request);
    const bytes = typeof body === "string" ? body : new Uint8Array(body);
    return new Response(request.method === "HEAD" ? null : bytes, { status, headers });
  };
}

/** Returns true if the request reads orders rather than counting them. */
export function readsOrders({ path, query }: SentRequest): boolean {
  return path === "/orders" && query.per_page !== "1";
}

/** Returns true if the request reads a page of one record, which sync does only to get the total. */
export function counts({ query }: SentRequest): boolean {
  return query.per_page === "1";
}
