import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ApiClient } from "../../src/api/client.js";
import type { Clock, Fetch, FetchOptions, HttpResponse } from "../../src/deps.js";
import { BrandapiError, Stopped } from "../../src/errors.js";
import { findResource } from "../../src/resources/registry.js";
import type { Resource } from "../../src/resources/resource.js";
import { type Brand, emptyBrand } from "../../src/sandbox/brand.js";
import { createKey } from "../../src/sandbox/keys.js";
import type { Mirror } from "../../src/store/database.js";
import { openMirror } from "../../src/store/open.js";
import { defaultOptions, type SyncOptions, type SyncSession } from "../../src/sync/session.js";
import { syncResource } from "../../src/sync/sync-resources.js";
import { silentReporter } from "../../src/util/reporter.js";
import type { VerificationResult } from "../../src/verify/verification-result.js";
import { verifyResource } from "../../src/verify/verify-resource.js";
import {
  type ApiVariants,
  createVariantApi,
  documentedBehavior,
  type VariantApi,
} from "../sandbox/api-variants.js";
import { testBaseUrl } from "../support/brand.js";
import { type Fault, fetchWithFault } from "../support/faults.js";
import { copyMirrorFiles, createEmptyMirror } from "../support/mirror.js";
import { testDeps } from "../support/program.js";
import { noon } from "../support/records.js";
import { createRecords, type StartingRecords, type TestedList } from "./model.js";
import { createVersionHistory, type VersionHistory } from "./versions.js";

export type Job = "sync" | "verify" | "repair";

/** An event or a failure before the response to a request. Requests are numbered from 1. */
export interface Interruption {
  atRequest: number;
  apply(world: World, path: string): "kill" | "stop" | Fault | undefined;
}

export interface RunResult {
  job: Job;
  acceptsRemovals: boolean;
  /** The keys of the records that were present when the run started. */
  presentBefore: ReadonlySet<string>;
  /** True if the run was recorded as verified and was not killed. */
  verified: boolean;
  verdict: VerificationResult | null;
  /** The exit code that a command would return for this run alone. */
  code: number;
  error: unknown;
  startedAt: number;
  endedAt: number;
  wasKilled: boolean;
  /** True if the last request for daily totals failed. */
  hadNoDailyTotals: boolean;
}

export interface WorldOptions {
  listName: TestedList;
  /** The resource to sync, if the resource's name differs from the list's name. */
  resource?: string;
  start: StartingRecords;
  variants?: Partial<ApiVariants>;
  /** The totals that are out of date: the API returns their values from the time of the previous request. */
  lags?: "totals" | "dailyTotals" | undefined;
  /**
   * True if dated lists are read page by page, because the API violates assumption A1, A2 or A3 (src/sync/README.md).
   */
  isReadByPage?: boolean;
}

// Mirrors are created in memory if possible, because the tests create thousands of them.
const scratch = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
const machine = testDeps({ home: scratch });

/** A brand, the brand's API, a mirror of one resource, and the history of the API's data. */
export class World {
  readonly listName: TestedList;
  readonly variants: ApiVariants;
  readonly lags: WorldOptions["lags"];
  readonly isReadByPage: boolean;
  readonly brand: Brand;
  private readonly api: VariantApi;
  readonly runs: RunResult[] = [];
  readonly versionHistory: VersionHistory;
  /** Called after each change to the brand. */
  onChange: () => void = () => {};
  private time = noon;
  /** The number of list responses so far. */
  private listResponses = 0;
  private readonly pastBrands: Brand[] = [];
  private brandAtLastRequest: Brand;
  private readonly clock: Clock;

  static async create(options: WorldOptions): Promise<World> {
    const resource = findResource(options.resource ?? options.listName);
    if (!resource) throw new RangeError("No such resource.");
    const folder = mkdtempSync(join(scratch, "brandapi-world-"));
    const path = join(folder, "0.sqlite");
    await createEmptyMirror(path);
    return new World(options, resource, folder, path, await openMirror(path));
  }

  private constructor(
    { listName, start, variants, lags, isReadByPage = false }: WorldOptions,
    readonly resource: Resource,
    private readonly folder: string,
    private mirrorPath: string,
    private openedMirror: Mirror,
  ) {
    this.listName = listName;
    this.variants = { ...documentedBehavior, ...variants };
    this.lags = lags;
    this.isReadByPage = isReadByPage;
    this.brand = {
      ...emptyBrand([createKey(1, "all", noon)]),
      [listName]: createRecords(listName, start, noon),
    };
    this.api = createVariantApi({ brands: [this.brand], now: () => this.time, variants: this.variants });
    this.versionHistory = createVersionHistory(this.brand, listName, this.variants.datePrecision);
    this.brandAtLastRequest = { ...this.brand };
    this.pastBrands.push(this.brandAtLastRequest);
    this.clock = this.createClock(1 + (start.seed % 3));
  }

  /**
   * @param turns the number of event loop turns per sleep, which determines whether responses arrive before or after
   * timers
   */
  private createClock(turns: number): Clock {
    return {
      now: () => this.time,
      monotonic: () => this.time,
      sleep: async (ms, signal) => {
        signal?.throwIfAborted();
        this.time += Math.ceil(ms);
        for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
        signal?.throwIfAborted();
      },
    };
  }

  get mirror(): Mirror {
    return this.openedMirror;
  }

  get now(): number {
    return this.time;
  }

  pass(ms: number): void {
    this.time += ms;
  }

  /** Returns the brand's state as it was `events` events ago. */
  earlier(events: number): Brand {
    return this.pastBrands.at(-1 - events) ?? (this.pastBrands[0] as Brand);
  }

  /** Records the brand's current state. Must be called after every event. */
  observe(): void {
    this.versionHistory.observe(this.time, this.listResponses);
    this.pastBrands.push({ ...this.brand });
    this.onChange();
  }

  async run(
    job: Job,
    flags: Partial<SyncOptions>,
    interruptions: readonly Interruption[] = [],
  ): Promise<RunResult> {
    const stop = new AbortController();
    let copy: string | null = null;
    let requests = 0;
    let hadNoDailyTotals = false;

    const fetch: Fetch = async (url, options = {}) => {
      requests += 1;
      const path = new URL(url).pathname.slice(new URL(testBaseUrl).pathname.length);
      let fault: Fault | undefined;
      // Gives each event between two requests a distinct time.
      this.time += 5;
      for (const interruption of interruptions.filter(({ atRequest }) => atRequest === requests)) {
        const effect = interruption.apply(this, path);
        if (effect === "kill") copy ??= this.copyMirror();
        if (effect === "kill" || effect === "stop") stop.abort(new Stopped("SIGINT"));
        else fault ??= effect;
      }
      this.time += 5;
      options.signal?.throwIfAborted();
      if (path === "/analytics/clicks") hadNoDailyTotals = isNotRetried(fault);
      if (path === this.resource.path && fault === undefined) this.listResponses += 1;
      return await this.respond(fault, url, options);
    };

    const present = "SELECT key FROM records WHERE resource = ? AND removed_at IS NULL";
    const presentBefore = new Set(
      this.mirror.db.prepare(present).pluck().all(this.resource.name) as string[],
    );
    const startedAt = this.time;
    const settings = {
      baseUrl: testBaseUrl,
      key: this.brand.keys[0]?.secret ?? "",
      rejectedKeyHint: "create a new key",
      keyReplacement: "use the new key",
      userAgent: "test",
      statePath: this.folder,
    };
    const deps = { ...machine, fetch, clock: this.clock, signal: stop.signal };
    const client = new ApiClient({ ...settings, rateLimit: null, maxWaitMs: 300_000 }, deps);
    const outcome = await runJob(this.resource, job, {
      mirror: this.mirror,
      api: client,
      clock: this.clock,
      signal: deps.signal,
      apiKeys: deps.apiKeys,
      reporter: silentReporter,
      options: { ...defaultOptions, ...flags },
      cachedTotals: new Map(),
    });
    client.close();
    const select = "SELECT verified FROM sync_runs WHERE resource = ? ORDER BY run_id DESC";
    const verified = this.mirror.db.prepare(select).pluck().get(this.resource.name) === 1;
    const result = {
      ...outcome,
      job,
      presentBefore,
      acceptsRemovals: flags.acceptRemovals === true,
      verified: verified && outcome.error === null && copy === null,
      startedAt,
      endedAt: this.time,
      hadNoDailyTotals,
      wasKilled: copy !== null,
    };
    if (copy !== null) {
      this.mirror.db.close();
      this.mirrorPath = copy;
      this.openedMirror = await openMirror(copy);
    }
    this.runs.push(result);
    this.time += 1_000;
    return result;
  }

  private async respond(
    fault: Fault | undefined,
    url: string | URL,
    options: FetchOptions,
  ): Promise<HttpResponse> {
    const previous = this.brandAtLastRequest;
    this.brandAtLastRequest = { ...this.brand };
    if (this.lags === "totals") this.api.variants = { ...this.variants, totalsFrom: previous };
    if (this.lags === "dailyTotals") this.api.variants = { ...this.variants, dailyTotalsFrom: previous };
    return await fetchWithFault(fault, this.api, this.clock.now, url, options);
  }

  /** Copies the mirror's files in the state in which a killed process would leave them. */
  private copyMirror(): string {
    const copy = join(this.folder, `${this.runs.length + 1}.sqlite`);
    copyMirrorFiles(this.mirrorPath, copy);
    return copy;
  }

  close(): void {
    this.mirror.db.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Returns true if the client does not retry the request after this fault. */
function isNotRetried(fault: Fault | undefined): boolean {
  return typeof fault === "object" && "status" in fault && fault.status < 429;
}

async function runJob(
  resource: Resource,
  job: Job,
  session: SyncSession,
): Promise<Pick<RunResult, "code" | "error" | "verdict">> {
  try {
    if (job === "sync") {
      const { error } = await syncResource(session, resource, { isOptional: false });
      return { code: exitCodeOf(error), error, verdict: null };
    }
    const { result: verdict, error } = await verifyResource(session, resource, { repair: job === "repair" });
    if (error !== null) throw error;
    const isProven = verdict.state === "proven" || verdict.state === "repaired";
    return { code: isProven ? 0 : 8, error: null, verdict };
  } catch (error) {
    return { code: exitCodeOf(error), error, verdict: null };
  }
}

function exitCodeOf(error: unknown): number {
  if (error === null) return 0;
  return error instanceof BrandapiError ? error.exitCode : 1;
}
