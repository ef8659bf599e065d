import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clock, systemClock } from "../../src/deps.js";
import { Stopped } from "../../src/errors.js";
import { openMirror } from "../../src/query/open.js";
import { silentReporter } from "../../src/reporter.js";
import { findResource } from "../../src/resources/index.js";
import type { Resource } from "../../src/resources/types.js";
import { syncResource } from "../../src/sync/engine.js";
import { type Access, defaultOptions, type SyncOptions } from "../../src/sync/run.js";
import { verifyResource } from "../../src/verify/engine.js";
import type { Verdict } from "../../src/verify/report.js";
import type { Behaviour } from "../support/fake/behaviour.js";
import { clientOf, type FakeApi, type FakeFault, fakeApi } from "../support/fake-api.js";
import { layEmptyMirror } from "../support/mirror.js";
import { type Beginning, begin, type Watched } from "./brand.js";
import { createTruth, type Truth } from "./truth.js";

/** What happens while requests are answered: at the n-th request of a run, before its answer. */
export interface Disturbance {
  atRequest: number;
  happen(world: World): "crash" | "stop" | FakeFault | undefined;
}

/** What one run does: reads, or looks whether what was read is so. */
export type Job = "sync" | "verify" | "repair";

/** How one run ended. */
export interface RunEnd {
  job: Job;
  /** What the run says of itself. */
  verified: boolean;
  error: string | null;
  verdict: Verdict | null;
  /** Thrown: a stop, or a crash (the mirror goes on as its file was at that instant). */
  thrown: unknown;
  startedAt: number;
  endedAt: number;
  /** How far the program's clock was ahead of the API's, in milliseconds. */
  ahead: number;
  /** How many of the resource's lists had been answered by then, by all runs. */
  answered: number;
  /** Whether it was refused the figures by day: it has warned of what it then cannot see. */
  isBlind: boolean;
}

/** A brand, its API and a mirror of one resource; `truth` knows what the API had at each instant. */
export interface World {
  api: FakeApi;
  watched: Watched;
  beginning: Beginning;
  resource: Resource;
  /** What the same command reads before it, if anything: both go by the same figures. */
  readBefore: Resource | null;
  path: string;
  truth: Truth;
  runs: RunEnd[];
  now(): number;
  /** Lets time pass in which nothing happens. */
  pass(ms: number): void;
  /** Puts the program's clock ahead of the API's, or behind. */
  setAhead(ms: number): void;
  /** Has the truth look at what has just happened. */
  observe(): void;
  run(job: Job, options: Partial<SyncOptions>, disturbances?: readonly Disturbance[]): Promise<RunEnd>;
  close(): void;
}

const anchor = Date.UTC(2026, 10, 21, 9);

/** In memory where the system has such a place: thousands of mirrors are made here. */
const scratch = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

export function createWorld(watched: Watched, beginning: Beginning, behaviour: Partial<Behaviour>): World {
  let now = anchor;
  let answered = 0;
  let ahead = 0;
  let files = 0;
  const api = fakeApi({ [watched]: begin(watched, beginning, now) }, behaviour, () => now);
  const resource = findResource(watched);
  if (!resource) throw new RangeError(`No such resource: ${watched}.`);
  const folder = mkdtempSync(join(scratch, "brandapi-world-"));
  const world: World = {
    api,
    watched,
    beginning,
    resource,
    readBefore: null,
    path: join(folder, "0.sqlite"),
    truth: createTruth(api, watched),
    runs: [],
    now: () => now,
    pass(ms) {
      now += ms;
    },
    setAhead(ms) {
      ahead = ms;
    },
    observe: () => world.truth.observe(now, answered),
    async run(job, options, disturbances = []) {
      const stop = new AbortController();
      let copy: string | undefined;
      let count = 0;
      let isBlind = false;
      api.before = ({ path }) => {
        count += 1;
        let fault: FakeFault | undefined;
        // Each event has an instant of its own: after what was asked before it, before what is asked after it.
        now += 5;
        for (const one of disturbances.filter(({ atRequest }) => atRequest === count)) {
          const what = one.happen(world);
          world.observe();
          if (what === "crash") copy ??= copyMirror(world.path, join(folder, `${++files}.sqlite`));
          if (what === "crash" || what === "stop") stop.abort(new Stopped("SIGINT"));
          else fault ??= what;
        }
        now += 5;
        if (fault === undefined && path === resource.path) answered += 1;
        if (path === "/analytics/clicks") isBlind ||= typeof fault === "object" && fault.status === 501;
        return fault;
      };
      const startedAt = now;
      const end = await runOnce(world, job, options, { signal: stop.signal, now: () => now + ahead });
      api.before = undefined;
      if (copy !== undefined) world.path = copy;
      world.runs.push({ ...end, job, startedAt, endedAt: now, ahead, answered, isBlind });
      now += 1_000;
      return world.runs.at(-1) as RunEnd;
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
  return world;
}

/** The mirror as its file is at this instant. */
function copyMirror(path: string, copy: string): string {
  for (const end of ["", "-wal"]) if (existsSync(path + end)) copyFileSync(path + end, copy + end);
  return copy;
}

type Outcome = Pick<RunEnd, "verified" | "error" | "verdict" | "thrown">;

async function runOnce(
  world: World,
  job: Job,
  options: Partial<SyncOptions>,
  { now, signal }: { now(): number; signal: AbortSignal },
): Promise<Outcome> {
  let skipped = 0;
  const clock: Clock = {
    now,
    monotonic: () => systemClock.monotonic() + skipped,
    // Waiting is not what is tested: time jumps.
    async sleep(ms, by) {
      by?.throwIfAborted();
      skipped += ms;
      world.pass(Math.ceil(ms));
      await new Promise((resolve) => setImmediate(resolve));
      by?.throwIfAborted();
    },
  };
  const api = clientOf(world.api, { clock, signal });
  await layEmptyMirror(world.path);
  const mirror = await openMirror(world.path);
  const { readBefore, resource } = world;
  const reporter = silentReporter;
  const access: Access = {
    mirror,
    api,
    clock,
    signal,
    mortally: (work) => work(),
    reporter,
    options: { ...defaultOptions, ...options },
    points: new Map(),
  };
  try {
    if (job === "sync") {
      if (readBefore) await syncResource(access, readBefore);
      const { verified, error } = (await syncResource(access, resource)).run;
      return { verified, error, verdict: null, thrown: null };
    }
    const verdict = await verifyResource(access, resource, job === "repair");
    const verified = verdict.state === "proven" || verdict.state === "repaired";
    return { verified, error: verdict.state, verdict, thrown: null };
  } catch (thrown) {
    return { verified: false, error: null, verdict: null, thrown };
  } finally {
    mirror.db.close();
    api.close();
  }
}
