import { copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type Clock, systemClock } from "../../src/deps.js";
import { Stopped } from "../../src/errors.js";
import { type ApiKey, type Brand, emptyBrand, type Lists } from "../../src/sandbox/brand.js";
import { createBrand } from "../../src/sandbox/data/brand-data.js";
import { type BrandEvents, createBrandEvents } from "../../src/sandbox/events.js";
import { createKey } from "../../src/sandbox/keys.js";
import { serveSandbox } from "../../src/sandbox/server.js";
import { type ApiVariants, createVariantApi, type VariantApi } from "./api-variants.js";
import { type Fault, injectFault } from "./faults.js";
import { fetchOf, testBaseUrl } from "./fetch-of.js";
import { makeHome } from "./home.js";
import { brandapi, type ProgramOptions, type ProgramResult } from "./program.js";
import { noon } from "./records.js";
import { Sqlite } from "./sqlite.js";

/** A request as the API sees it. */
export interface SentRequest {
  /** Below the versioned root; of the file host, the whole path. */
  path: string;
  query: Readonly<Record<string, string>>;
  method: string;
  headers: Readonly<Record<string, string>>;
  /** 1 for the first of this brand's life. */
  number: number;
  /** What was answered; 0 before, and where nothing was. */
  status: number;
}

export interface TestBrandOptions extends Partial<Lists>, Pick<Partial<Brand>, "results"> {
  /** A believable brand with so many orders, instead of an empty one. */
  history?: number;
  seed?: number;
  variants?: Partial<ApiVariants>;
  /** What is still told as it was when the request before was answered. */
  lags?: "totals" | "figures" | "both";
  /** Milliseconds since 1970 at the beginning. */
  now?: number;
  rateLimit?: number;
  home?: string;
  /** Shares that brand's API, clock and home: another profile of the same person. */
  beside?: TestBrand;
}

/** What one command did. */
export interface RunResult extends ProgramResult {
  /** The requests that it made. */
  asked: SentRequest[];
  /** How it ended whoever stopped it: null where nothing did. */
  stopped: boolean;
}

/** A brand, its API and a person's home folder, in this process and without sockets; and all that can happen to it. */
export interface TestBrand extends BrandEvents {
  /** Its records as the API serves them. */
  data: Brand;
  variants: Partial<ApiVariants>;
  api: VariantApi;
  home: string;
  /** The mirror's path. */
  db: string;
  key: string;
  env: Record<string, string>;
  clock: Clock & { pass(ms: number): void };
  fetch: ReturnType<typeof fetchOf>;
  now(): number;
  /** Lets time pass in which nothing happens. */
  pass(ms: number): void;
  asked: SentRequest[];
  /** Called before each answer, which is of the instant after it; what it returns is answered instead. */
  before: ((request: SentRequest) => Fault | undefined) | undefined;
  /** Does something before the first request that is the one, and answers it with what that returns. */
  once(isIt: (request: SentRequest) => boolean, happen: () => Fault | undefined | unknown): void;
  setKey(change: Partial<ApiKey>): void;
  /** The brand as it is now; what happens later does not change it. */
  snapshot(): Brand;
  run(command: string | readonly string[], options?: ProgramOptions): Promise<RunResult>;
  /** Runs a command that a signal ends before the first request that is the one is answered. */
  stopped(command: string, isIt: (request: SentRequest) => boolean): Promise<RunResult>;
  /** The same, killed: the mirror goes on as its files were at that instant. */
  killed(command: string, isIt: (request: SentRequest) => boolean): Promise<void>;
  /** Reads the mirror. */
  sql<Row = Record<string, unknown>>(query: string, ...parameters: unknown[]): Row[];
  /** The keys of the records that the mirror holds as present, sorted. */
  mirrored(resource?: string): string[];
  /** The last row of `sync_runs`. */
  lastRun(resource?: string): Record<string, unknown>;
  /** Serves the same API on loopback by the system's clock, for a process of its own: its environment. */
  served(options?: { latency?: number }): Promise<Record<string, string>>;
  /** How many requests have been served so. */
  servedCount(): number;
  /** Waits until something is so, at most 20 seconds. */
  until(isSo: () => boolean): Promise<void>;
}

export function makeBrand(options: TestBrandOptions = {}): TestBrand {
  const { history, seed = 1, variants = {}, lags, rateLimit, beside, now: begun = noon, ...lists } = options;
  const home = options.home ?? beside?.home ?? makeHome();
  const clock = beside?.clock ?? fakeClock(begun);
  const key = createKey(seed, "all", begun);
  const data =
    history === undefined
      ? { ...emptyBrand([key], seed), ...records(lists) }
      : { ...createBrand({ seed, orders: history, now: begun }), ...records(lists) };
  const brands = beside ? (beside.api.brands as Brand[]) : [];
  brands.push(data);
  const api =
    beside?.api ??
    createVariantApi({
      brands,
      now: clock.now,
      monotonic: clock.monotonic,
      rateLimit: rateLimit ?? null,
      variants,
    });
  const db = join(home, `brand-${brands.length}.sqlite`);
  const secret = data.keys[0]?.secret ?? "";
  let last = { ...data };
  let count = 0;

  const brand: TestBrand = {
    ...createBrandEvents(data, clock.now),
    data,
    get variants() {
      return api.variants;
    },
    set variants(value) {
      api.variants = value;
    },
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
    asked: [],
    before: undefined,
    async fetch(url, init = {}) {
      if (beside) return await beside.fetch(url, init);
      const { pathname, searchParams } = new URL(url);
      const request = {
        path: pathname.replace(/^\/api\/brand\/v1/, ""),
        query: Object.fromEntries(searchParams),
        method: init.method ?? "GET",
        headers: Object.fromEntries(new Headers(init.headers)),
        number: brand.asked.length + 1,
        status: 0,
      };
      brand.asked.push(request);
      // Each answer has an instant of its own.
      clock.pass(10);
      const fault = brand.before?.(request);
      init.signal?.throwIfAborted();
      if (lags === "totals" || lags === "both") api.variants = { ...api.variants, totalsFrom: last };
      if (lags === "figures" || lags === "both") api.variants = { ...api.variants, dailyTotalsFrom: last };
      last = { ...data };
      const response = await answered(fault, url, init);
      request.status = response.status;
      return response;
    },
    once(isIt, happen) {
      const root = beside ?? brand;
      root.before = (request) => {
        if (!isIt(request)) return undefined;
        root.before = undefined;
        return asFault(happen());
      };
    },
    setKey(change) {
      data.keys = data.keys.map((one, place) => (place === 0 ? { ...one, ...change } : one));
    },
    snapshot: () => ({ ...data }),
    async run(command, { env, ...rest } = {}) {
      const root = beside ?? brand;
      const before = root.asked.length;
      const stop = rest.signal;
      const result = await brandapi(command, {
        home,
        clock,
        fetch: root.fetch,
        ...rest,
        env: { ...brand.env, ...env },
      });
      return { ...result, asked: root.asked.slice(before), stopped: stop?.aborted ?? false };
    },
    async stopped(command, isIt) {
      const stop = new AbortController();
      brand.once(isIt, () => stop.abort(new Stopped("SIGINT")));
      return await brand.run(command, { signal: stop.signal });
    },
    async killed(command, isIt) {
      const stop = new AbortController();
      const copy = join(home, `killed-${brand.asked.length}.sqlite`);
      brand.once(isIt, () => {
        copyMirror(brand.db, copy);
        stop.abort(new Stopped("SIGINT"));
      });
      await brand.run(command, { signal: stop.signal });
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
    async until(isSo) {
      for (let n = 0; n < 2_000 && !isSo(); n += 1) await systemClock.sleep(10);
      if (!isSo()) throw new Error("It did not become so within 20 seconds.");
    },
  };

  async function answered(fault: Fault | undefined, url: string | URL, init: RequestInit): Promise<Response> {
    const from = typeof fault === "object" && "from" in fault ? fault.from : undefined;
    const answer = () =>
      fetchOf(from ? createVariantApi({ brands: [from], now: clock.now, variants: api.variants }) : api)(
        url,
        init,
      );
    if (fault === undefined || (typeof fault === "object" && "from" in fault)) return await answer();
    return await injectFault(fault, answer, (ms) => clock.sleep(ms, init.signal ?? undefined), init.signal);
  }

  return brand;
}

function records({ home: _home, ...lists }: Partial<Lists> & { home?: string }): Partial<Lists> {
  return lists;
}

function asFault(returned: unknown): Fault | undefined {
  const isFault = typeof returned === "string" || (typeof returned === "object" && !Array.isArray(returned));
  return isFault && returned !== null ? (returned as Fault) : undefined;
}

/** A clock whose sleep lets time pass at once. */
export function fakeClock(begun = noon): Clock & { pass(ms: number): void } {
  let now = begun;
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

function copyMirror(path: string, copy: string): void {
  for (const end of ["", "-wal"]) if (existsSync(path + end)) copyFileSync(path + end, copy + end);
}

/** True for a request that reads orders; one for a single record counts them. */
export function readsOrders({ path, query }: SentRequest): boolean {
  return path === "/orders" && query.per_page !== "1";
}

/** True for a request that counts. */
export function counts({ query }: SentRequest): boolean {
  return query.per_page === "1";
}
