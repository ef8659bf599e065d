import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openApi } from "../../src/api/client.js";
import { systemClock } from "../../src/deps.js";
import { Stopped } from "../../src/errors.js";
import { openMirror } from "../../src/query/open.js";
import { silentReporter } from "../../src/reporter.js";
import { findResource } from "../../src/resources/index.js";
import type { Resource } from "../../src/resources/types.js";
import { type RecordSet, type Sandbox, startSandbox } from "../../src/sandbox/index.js";
import { type Access, defaultOptions, type SyncOptions } from "../../src/sync/context.js";
import { syncResource } from "../../src/sync/engine.js";
import { verifyResource } from "../../src/verify/engine.js";
import { testDeps } from "../support/program.js";

/** The resources whose reading is checked against every history. */
export type Watched = "orders" | "content" | "roster";

/** What happens while requests are answered: at the n-th request of a run, before its answer. */
export interface Disturbance {
  atRequest: number;
  happen(world: World): "crash" | "stop" | { fault: 500 | 429 | "reset" | "cut" | "html" } | undefined;
}

/** What one run does: reads, or looks whether what was read is so. */
export type Job = "sync" | "verify" | "repair";

/** How one run ended, and what the mirror file was then. */
export interface RunEnd {
  /** What the run says of itself. */
  verified: boolean;
  error: string | null;
  /** Thrown: a stop, or a crash (the mirror goes on as its file was at that instant). */
  thrown: unknown;
  crashed: boolean;
  startedAt: number;
}

/** A brand, its API and a mirror of one resource; `truth` knows when each record last changed. */
export interface World {
  sandbox: Sandbox;
  resource: Resource;
  path: string;
  truth: Truth;
  run(job: Job, options: Partial<SyncOptions>, disturbances?: readonly Disturbance[]): Promise<RunEnd>;
  /** Moves the sandbox's clock without letting anything happen by itself. */
  pass(ms: number): void;
  close(): Promise<void>;
}

/** What the API says now, and when each record last came, changed or went: milliseconds of the sandbox's time. */
export interface Truth {
  /** By key; the record as the API sends it, and the date it is listed under. */
  current: Map<string, { json: string; dated: number | null }>;
  touchedAt: Map<string, number>;
  /** Looks at the API's records and dates what is new, different or gone. Call it after every event. */
  observe(): void;
}

const anchor = Date.UTC(2026, 10, 21, 9);

/** In memory where the system has such a place: thousands of mirrors are made here. */
const scratch = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

export async function createWorld(watched: Watched, seed: number, orders: number): Promise<World> {
  const sandbox = await startSandbox(
    { seed, orders, rateLimit: null, now: anchor, pace: 0 },
    { clock: systemClock },
  );
  const resource = findResource(watched);
  if (!resource) throw new RangeError(`No such resource: ${watched}.`);
  const folder = mkdtempSync(join(scratch, "brandapi-world-"));
  const truth = createTruth(sandbox, resource, watched);
  let files = 0;
  const world: World = {
    sandbox,
    resource,
    truth,
    path: join(folder, "0.sqlite"),
    pass: (ms) => sandbox.advance(ms),
    async run(job, options, disturbances = []) {
      const stop = new AbortController();
      let copy: string | undefined;
      let count = 0;
      sandbox.intercept = () => {
        count += 1;
        for (const one of disturbances.filter(({ atRequest }) => atRequest === count)) {
          const what = one.happen(world);
          truth.observe();
          if (what === "crash" && copy === undefined) {
            copy = join(folder, `${++files}.sqlite`);
            for (const end of ["", "-wal"])
              if (existsSync(world.path + end)) copyFileSync(world.path + end, copy + end);
          }
          if (what === "crash" || what === "stop") stop.abort(new Stopped("SIGINT"));
          if (typeof what !== "object") continue;
          if (what.fault === "reset") return { kind: "reset", when: "before" };
          if (what.fault === "cut") return { kind: "truncated" };
          if (what.fault === "html") return { kind: "html" };
          return { kind: "status", status: what.fault };
        }
        return undefined;
      };
      const end = await runOnce(world, job, options, stop.signal);
      sandbox.intercept = undefined;
      if (copy !== undefined) world.path = copy;
      // Nothing happens in the millisecond in which something was read.
      sandbox.advance(1_000);
      return { ...end, crashed: copy !== undefined };
    },
    async close() {
      await sandbox.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return world;
}

async function runOnce(
  { sandbox, resource, path }: World,
  job: Job,
  options: Partial<SyncOptions>,
  signal: AbortSignal,
): Promise<Omit<RunEnd, "crashed">> {
  let skipped = 0;
  const clock = {
    now: () => sandbox.now(),
    monotonic: () => systemClock.monotonic() + skipped,
    // Waiting is not what is tested: time jumps.
    async sleep(ms: number, by?: AbortSignal) {
      by?.throwIfAborted();
      skipped += ms;
      await new Promise((resolve) => setImmediate(resolve));
      by?.throwIfAborted();
    },
  };
  const deps = { ...testDeps({ home: tmpdir(), signal }), clock };
  const { baseUrl, key } = sandbox;
  const api = openApi(
    { baseUrl, key, rateLimit: null, maxWaitMs: 20_000, userAgent: "brandapi/test", statePath: tmpdir() },
    deps,
  );
  const mirror = await openMirror(path);
  const startedAt = sandbox.now();
  try {
    const access = {
      mirror,
      api,
      clock,
      signal,
      reporter: silentReporter,
      options: { ...defaultOptions, ...options },
    };
    return { ...(await doJob(job, access, resource)), thrown: null, startedAt };
  } catch (thrown) {
    return { verified: false, error: null, thrown, startedAt };
  } finally {
    mirror.db.close();
    api.close();
  }
}

async function doJob(
  job: Job,
  access: Access,
  resource: Resource,
): Promise<Pick<RunEnd, "verified" | "error">> {
  if (job === "sync") return (await syncResource(access, resource)).run;
  const { state } = await verifyResource(access, resource, job === "repair");
  return { verified: state === "proven" || state === "repaired", error: state };
}

function createTruth(sandbox: Sandbox, resource: Resource, watched: Watched): Truth {
  const truth: Truth = { current: new Map(), touchedAt: new Map(), observe };
  const { strategy } = resource;
  const date = strategy.kind === "window" || strategy.kind === "increment" ? strategy.date : null;
  function observe(): void {
    const now = sandbox.now();
    const next: Truth["current"] = new Map();
    for (const record of sandbox.records(watched satisfies RecordSet)) {
      const value = record as Record<string, unknown>;
      const key = resource.key.map((path) => String(at(value, path))).join("/");
      next.set(key, {
        json: JSON.stringify(record),
        dated: date === null ? null : Date.parse(String(value[date])),
      });
    }
    for (const key of new Set([...next.keys(), ...truth.current.keys()]))
      if (next.get(key)?.json !== truth.current.get(key)?.json) truth.touchedAt.set(key, now);
    truth.current = next;
  }
  observe();
  for (const key of truth.current.keys()) truth.touchedAt.set(key, Number.NEGATIVE_INFINITY);
  return truth;
}

function at(value: unknown, path: string): unknown {
  return path.split(".").reduce<unknown>((inner, name) => (inner as Record<string, unknown>)?.[name], value);
}
