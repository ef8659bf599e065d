import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type Clock, type Fetch, systemClock } from "../../src/deps.js";
import { Stopped } from "../../src/errors.js";
import { type BrandEvents, createBrandEvents } from "../../src/sandbox/activity.js";
import { type Brand, createBrand, emptyBrand, type Lists } from "../../src/sandbox/brand.js";
import { type ApiKey, createKey } from "../../src/sandbox/keys.js";
import { serveSandbox } from "../../src/sandbox/server.js";
import { type ApiVariants, createVariantApi, type VariantApi } from "../sandbox/api-variants.js";
import { type Fault, fetchWithFault } from "./faults.js";
import { makeHome } from "./home.js";
import { copyMirrorFiles, createEmptyMirror } from "./mirror.js";
import { brandapi, type ProgramOptions } from "./program.js";
import { listNames, noon } from "./records.js";
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
  /**
   * The number of orders to generate. Records for all other lists are generated as well. By default, the brand is
   * empty.
   */
  history?: number;
  /** The maximum number of hosts, and of records in each generated list except orders. */
  listLimit?: number;
  seed?: number;
  variants?: Partial<ApiVariants>;
  /** The start time in milliseconds since the Unix epoch. */
  now?: number;
  rateLimit?: number;
  /** True to let the first sync create the mirror. By default, the first sync opens a copy of an empty mirror. */
  createsMirror?: boolean;
  /**
   * Another brand on the same API. The two brands share a clock and a home folder, like two profiles of the same user.
   */
  sameApiAs?: TestBrand;
}

export type RunResult = Awaited<ReturnType<typeof brandapi>> & { requests: SentRequest[] };

export type TestBrand = BrandWithApi & BrandEvents;

export function makeBrand(options: TestBrandOptions = {}): TestBrand {
  const brand = new BrandWithApi(options);
  return Object.assign(brand, createBrandEvents(brand.data, brand.now));
}

/** A brand, the brand's API and a user's home folder. The API runs in the test process, without sockets. */
class BrandWithApi {
  /** The data that the API serves. */
  readonly data: Brand;
  readonly api: VariantApi;
  readonly home: string;
  db: string;
  readonly key: string;
  env: Record<string, string>;
  readonly clock: Clock & { pass(ms: number): void };
  readonly requests: SentRequest[] = [];
  /** Called before each response. If it returns a fault, the API responds with that fault. */
  before: ((request: SentRequest) => Fault | undefined) | undefined;
  /** The brand that records the requests: `sameApiAs` if set, or this brand. */
  readonly #root: BrandWithApi;
  readonly #options: TestBrandOptions;
  #servedCount = 0;

  constructor(options: TestBrandOptions) {
    const {
      history,
      listLimit = Number.POSITIVE_INFINITY,
      seed = 1,
      variants,
      rateLimit,
      createsMirror,
      sameApiAs,
      now = noon,
      ...lists
    } = options;
    this.#options = options;
    this.#root = sameApiAs ?? this;
    this.home = sameApiAs?.home ?? makeHome();
    this.clock = sameApiAs?.clock ?? createFakeClock(now);
    const start = this.clock.now();
    const generated =
      history === undefined
        ? emptyBrand([createKey(seed, "all", start)], seed)
        : shortenLists(createBrand({ seed, orders: history, now: start }), listLimit);
    this.data = { ...generated, ...lists };
    const { now: clockNow, monotonic } = this.clock;
    this.api =
      sameApiAs?.api ??
      createVariantApi({ brands: [], now: clockNow, monotonic, rateLimit: rateLimit ?? null, variants });
    const brands = this.api.brands as Brand[];
    brands.push(this.data);
    this.db = join(this.home, `brand-${brands.length}.sqlite`);
    this.key = this.data.keys[0]?.secret ?? "";
    this.env = {
      BRANDAPI_BASE_URL: testBaseUrl,
      BRANDAPI_KEY: this.key,
      BRANDAPI_RATE_LIMIT: "none",
      BRANDAPI_DB: this.db,
    };
  }

  readonly now = () => this.clock.now();

  pass(ms: number): void {
    this.clock.pass(ms);
  }

  /** Like `before`, but calls `action` only for the first matching request. */
  once(matches: (request: SentRequest) => boolean, action: () => Fault | undefined): void {
    this.#root.before = (request) => {
      if (!matches(request)) return undefined;
      this.#root.before = undefined;
      return action();
    };
  }

  setKey(change: Partial<ApiKey>): void {
    this.data.keys = this.data.keys.map((each, index) => (index === 0 ? { ...each, ...change } : each));
  }

  /** @param name the name of a generated key, such as `expired` */
  secretOf(name: string): string {
    const found = this.data.keys.find((each) => each.name === name);
    if (!found) throw new RangeError(`Unknown key: ${name}`);
    return found.secret;
  }

  async run(command: string | readonly string[], { env, ...rest }: ProgramOptions = {}): Promise<RunResult> {
    const { home, clock } = this;
    const { fetch, requests } = this.#root;
    const before = requests.length;
    if (!this.#options.createsMirror && String(command).startsWith("sync")) await createEmptyMirror(this.db);
    const result = await brandapi(command, { home, clock, fetch, ...rest, env: { ...this.env, ...env } });
    return { ...result, requests: requests.slice(before) };
  }

  /** Runs a command and sends it SIGINT before the response to the first matching request. */
  async stopped(
    command: string,
    matches: (request: SentRequest) => boolean,
    beforeStop = () => {},
  ): Promise<RunResult> {
    const stop = new AbortController();
    this.once(matches, () => {
      beforeStop();
      stop.abort(new Stopped("SIGINT"));
    });
    return await this.run(command, { signal: stop.signal });
  }

  /** Simulates a kill at the first matching request. The mirror is then a copy of the files at that moment. */
  async killed(command: string, matches: (request: SentRequest) => boolean): Promise<void> {
    const copy = join(this.home, `killed-${this.requests.length}.sqlite`);
    await this.stopped(command, matches, () => copyMirrorFiles(this.db, copy));
    this.db = copy;
    this.env.BRANDAPI_DB = copy;
  }

  sql<Row = Record<string, unknown>>(query: string, ...parameters: unknown[]): Row[] {
    const mirror = new Sqlite(this.db, { readonly: true });
    try {
      return mirror.prepare(query).all(...parameters) as Row[];
    } finally {
      mirror.close();
    }
  }

  /** Returns the sorted keys of the current records in the mirror. */
  mirrored(resource = "orders"): string[] {
    const select = "SELECT key FROM records WHERE resource = ? AND removed_at IS NULL";
    const rows = this.sql<{ key: string }>(select, resource);
    return rows.map(({ key }) => key).sort();
  }

  /** Returns the last row for the resource in `sync_runs`. */
  lastRun(resource = "orders"): Record<string, unknown> {
    return (
      this.sql("SELECT * FROM sync_runs WHERE resource = ? ORDER BY run_id DESC LIMIT 1", resource)[0] ?? {}
    );
  }

  /**
   * Serves the API on localhost until the test ends, using the system clock. Returns the environment variables for a
   * process that uses the API.
   * @param delay called before each response with the number of requests so far; the response waits for the promise
   * that `delay` returns
   */
  async served(delay: (requests: number) => unknown = () => {}): Promise<Record<string, string>> {
    const { brands, variants } = this.api;
    const api = createVariantApi({
      brands,
      now: Date.now,
      rateLimit: this.#options.rateLimit ?? null,
      variants,
    });
    const server = await serveSandbox(api, 0, async () => {
      this.#servedCount += 1;
      await delay(this.#servedCount);
    });
    onTestFinished(() => server.close());
    return { ...this.env, BRANDAPI_BASE_URL: server.baseUrl };
  }

  /** Returns the number of requests received by the local server. */
  servedCount(): number {
    return this.#servedCount;
  }

  readonly fetch: Fetch = async (url, options = {}) => {
    if (this.#root !== this) return await this.#root.fetch(url, options);
    const { pathname, searchParams } = new URL(url);
    const request = {
      path: pathname.replace(/^\/api\/brand\/v1/, ""),
      query: Object.fromEntries(searchParams),
      method: options.method ?? "GET",
      headers: options.headers ?? {},
      status: 0,
    };
    this.requests.push(request);
    // Ensures that each response has a different time.
    this.pass(10);
    const fault = this.before?.(request);
    options.signal?.throwIfAborted();
    const response = await fetchWithFault(fault, this.api, this.now, url, options);
    request.status = response.status;
    return response;
  };
}

function shortenLists(brand: Brand, limit: number): Brand {
  const names = ["people", ...listNames.filter((name) => name !== "orders")] as const;
  return { ...brand, ...Object.fromEntries(names.map((name) => [name, brand[name].slice(0, limit)])) };
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

/** Returns true if the request reads orders rather than counting them. */
export function readsOrders({ path, query }: SentRequest): boolean {
  return path === "/orders" && query.per_page !== "1";
}

/** Returns true if the request is for a page of one record, which sync requests only to get the total. */
export function counts({ query }: SentRequest): boolean {
  return query.per_page === "1";
}
