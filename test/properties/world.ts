import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openApi } from "../../src/api/client.js";
import type { Clock } from "../../src/deps.js";
import { BrandapiError, Stopped } from "../../src/errors.js";
import { findResource } from "../../src/resources/registry.js";
import type { Resource } from "../../src/resources/resource.js";
import { type Brand, emptyBrand } from "../../src/sandbox/brand.js";
import { createKey } from "../../src/sandbox/keys.js";
import type { Mirror } from "../../src/store/database.js";
import { openMirror } from "../../src/store/open.js";
import { syncResource } from "../../src/sync/run.js";
import { defaultOptions, type SyncOptions, type SyncSession } from "../../src/sync/session.js";
import { silentReporter } from "../../src/util/reporter.js";
import type { Verdict } from "../../src/verify/finding.js";
import { verifyResource } from "../../src/verify/verify-resource.js";
import {
  type ApiVariants,
  createVariantApi,
  documentedBehaviour,
  type VariantApi,
} from "../support/api-variants.js";
import { type Fault, injectFault } from "../support/faults.js";
import { fetchOf, testBaseUrl } from "../support/fetch-of.js";
import { createEmptyMirror } from "../support/mirror.js";
import { testDeps } from "../support/program.js";
import { noon } from "../support/records.js";
import { type Beginning, begin, type Watched } from "./brand.js";
import { createTruth, type Truth } from "./truth.js";

/** The one thing that happens at the n-th request of a run, before its answer. */
export interface Disturbance {
  atRequest: number;
  happen(world: World, path: string): "kill" | "stop" | Fault | undefined;
}

/** A run reads, or compares what was read with the API. */
export type Job = "sync" | "verify" | "repair";

/** How one run ended. */
export interface RunEnd {
  job: Job;
  acceptsRemovals: boolean;
  /** The keys of the present records when it began. */
  before: ReadonlySet<string>;
  /** True if the run says so, and was not killed. */
  verified: boolean;
  verdict: Verdict | null;
  /** The exit code of a command that does only this: 0, or the error's. */
  code: number;
  /** Why it ended so; thrown by a defect, too. */
  error: unknown;
  startedAt: number;
  endedAt: number;
  isKilled: boolean;
  /** True if the last request for figures by day got none. */
  isBlind: boolean;
}

export interface WorldOptions {
  watched: Watched;
  /** The resource to read, if it is not the list of that name. */
  resource?: string;
  beginning: Beginning;
  variants?: Partial<ApiVariants>;
  /** What the API shows as it was before the last request. */
  lags?: "totals" | "figures" | undefined;
  /** True if lists with dates are read by page number, too. */
  isReadByPage?: boolean;
}

/** A brand, its API, and a mirror of one resource; `truth` knows what the API had at each instant. */
export interface World {
  watched: Watched;
  resource: Resource;
  brand: Brand;
  api: VariantApi;
  variants: ApiVariants;
  lags: WorldOptions["lags"];
  isReadByPage: boolean;
  truth: Truth;
  runs: RunEnd[];
  mirror(): Mirror;
  now(): number;
  pass(ms: number): void;
  /** The brand as it was so many happenings ago. */
  earlier(happenings: number): Brand;
  /** Has the truth look at what has just happened. */
  observe(): void;
  run(job: Job, options: Partial<SyncOptions>, during?: readonly Disturbance[]): Promise<RunEnd>;
  close(): void;
}

/** In memory if the system has such a place, because thousands of mirrors are made here. */
const scratch = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
const machine = testDeps({ home: scratch });

export async function createWorld(options: WorldOptions): Promise<World> {
  const { watched, beginning, lags, isReadByPage = false } = options;
  const variants = { ...documentedBehaviour, ...options.variants };
  let now = noon;
  let answered = 0;
  const brand: Brand = {
    ...emptyBrand([createKey(1, "all", now)]),
    [watched]: begin(watched, beginning, now),
  };
  const api = createVariantApi({ brands: [brand], now: () => now, variants });
  const fetchAnswer = fetchOf(api);
  const resource = findResource(options.resource ?? watched);
  if (!resource) throw new RangeError("No such resource.");
  const folder = mkdtempSync(join(scratch, "brandapi-world-"));
  let path = join(folder, "0.sqlite");
  await createEmptyMirror(path);
  let mirror = await openMirror(path);
  const past: Brand[] = [{ ...brand }];
  let atLastRequest = past[0] as Brand;
  /** How many turns of the event loop a sleep takes: answers then come sooner or later than what waits for them. */
  const turns = 1 + (beginning.seed % 3);

  const clock: Clock = {
    now: () => now,
    monotonic: () => now,
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      now += Math.ceil(ms);
      for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      signal?.throwIfAborted();
    },
  };

  const world: World = {
    watched,
    resource,
    brand,
    api,
    variants,
    lags,
    isReadByPage,
    truth: createTruth(brand, watched, variants.datePrecision),
    runs: [],
    mirror: () => mirror,
    now: () => now,
    pass(ms) {
      now += ms;
    },
    earlier: (happenings) => past.at(-1 - happenings) ?? (past[0] as Brand),
    observe() {
      world.truth.observe(now, answered);
      past.push({ ...brand });
    },
    async run(job, flags, during = []) {
      const stop = new AbortController();
      let copy: string | null = null;
      let count = 0;
      let isBlind = false;
      async function fetch(url: string | URL, init: RequestInit = {}): Promise<Response> {
        count += 1;
        const asked = new URL(url).pathname.slice(new URL(testBaseUrl).pathname.length);
        let fault: Fault | undefined;
        // Each happening has an instant of its own: after what was asked before it, before what is asked after it.
        now += 5;
        for (const one of during.filter(({ atRequest }) => atRequest === count)) {
          const what = one.happen(world, asked);
          if (what === "kill") copy ??= copyMirror(path, join(folder, `${world.runs.length + 1}.sqlite`));
          if (what === "kill" || what === "stop") stop.abort(new Stopped("SIGINT"));
          else fault ??= what;
        }
        now += 5;
        init.signal?.throwIfAborted();
        if (asked === "/analytics/clicks") isBlind = isRefusal(fault);
        if (asked === resource?.path && fault === undefined) answered += 1;
        const late = atLastRequest;
        atLastRequest = { ...brand };
        if (lags)
          api.variants = { ...variants, [lags === "totals" ? "totalsFrom" : "dailyTotalsFrom"]: late };
        if (typeof fault === "object" && "from" in fault)
          return await fetchOf(createVariantApi({ brands: [fault.from], now: clock.now, variants }))(
            url,
            init,
          );
        if (fault === undefined) return await fetchAnswer(url, init);
        return await injectFault(fault, () => fetchAnswer(url, init), clock.sleep, init.signal);
      }
      const present = "SELECT key FROM records WHERE resource = ? AND removed_at IS NULL";
      const before = new Set(mirror.db.prepare(present).pluck().all(resource.name) as string[]);
      const startedAt = now;
      const settings = {
        baseUrl: testBaseUrl,
        key: brand.keys[0]?.secret ?? "",
        userAgent: "test",
        statePath: folder,
      };
      const deps = { ...machine, fetch, clock, signal: stop.signal };
      const client = openApi({ ...settings, rateLimit: null, maxWaitMs: 300_000 }, deps);
      const ended = await runOnce(resource, job, {
        mirror,
        api: client,
        clock,
        keys: deps.keys,
        reporter: silentReporter,
        options: { ...defaultOptions, ...flags },
        dailyPoints: new Map(),
      });
      client.close();
      const select = "SELECT verified FROM sync_runs WHERE resource = ? ORDER BY run_id DESC";
      const verified = mirror.db.prepare(select).pluck().get(resource.name) === 1;
      const end = {
        ...ended,
        job,
        before,
        acceptsRemovals: flags.acceptRemovals === true,
        // Nobody has heard what a killed run says.
        verified: verified && ended.error === null && copy === null,
        startedAt,
        endedAt: now,
        isBlind,
        isKilled: copy !== null,
      };
      if (copy !== null) {
        mirror.db.close();
        path = copy;
        mirror = await openMirror(path);
      }
      world.runs.push(end);
      now += 1_000;
      return end;
    },
    close() {
      mirror.db.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return world;
}

/** Copies the mirror as its files are at this instant. */
function copyMirror(path: string, copy: string): string {
  for (const end of ["", "-wal"]) if (existsSync(path + end)) copyFileSync(path + end, copy + end);
  return copy;
}

/** True for a fault after which a request is not sent again. */
function isRefusal(fault: Fault | undefined): boolean {
  return typeof fault === "object" && "status" in fault && fault.status < 429;
}

type Ended = Pick<RunEnd, "code" | "error" | "verdict">;

async function runOnce(resource: Resource, job: Job, session: SyncSession): Promise<Ended> {
  try {
    if (job === "sync") {
      const { error } = await syncResource(session, resource, false);
      return { code: codeOf(error), error, verdict: null };
    }
    const { verdict, error } = await verifyResource(session, resource, job === "repair");
    if (error !== null) throw error;
    const isProven = verdict.state === "proven" || verdict.state === "repaired";
    return { code: isProven ? 0 : 8, error: null, verdict };
  } catch (error) {
    return { code: codeOf(error), error, verdict: null };
  }
}

function codeOf(error: unknown): number {
  if (error === null) return 0;
  return error instanceof BrandapiError ? error.exitCode : 1;
}
