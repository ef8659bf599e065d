import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clock, systemClock } from "../../src/deps.js";
import { Stopped } from "../../src/errors.js";
import { silentReporter } from "../../src/lib/reporter.js";
import { openMirror } from "../../src/query/open.js";
import { findResource } from "../../src/resources/index.js";
import type { Resource } from "../../src/resources/types.js";
import { openState } from "../../src/state/index.js";
import { figuresName } from "../../src/sync/moved.js";
import { type Access, defaultOptions, type SyncOptions } from "../../src/sync/run.js";
import { verifyResource } from "../../src/verify/engine.js";
import type { Verdict } from "../../src/verify/report.js";
import type { Behaviour } from "../support/fake/behaviour.js";
import type { WrongAnswer } from "../support/fake/wrong.js";
import {
  clientOf,
  type FakeApi,
  type FakeFault,
  type FakeRecords,
  type FakeRequest,
  fakeApi,
} from "../support/fake-api.js";
import { layEmptyMirror } from "../support/mirror.js";
import { syncOrThrow } from "../support/sync.js";
import { type Beginning, begin, type Watched } from "./brand.js";
import { createTruth, type Truth } from "./truth.js";

/** What happens while requests are answered: at the n-th request of a run, before its answer. */
export interface Disturbance {
  atRequest: number;
  happen(world: World): "crash" | "stop" | FakeFault | undefined;
}

/** What one run does: reads, or looks whether what was read is so. */
export type Job = "sync" | "verify" | "repair";

/** What a request asks for, as a run of the resource that is watched sees it. */
export type Part = "list" | "figures" | "months" | "details" | "elsewhere";

/** What is broken for some runs: what each request is answered then, if anything else than it should be. */
export interface Ailment {
  runs: number;
  answer(world: World, request: FakeRequest): FakeFault | undefined;
}

/** How one run ended. */
export interface RunEnd {
  job: Job;
  /** Whether it may remove however much is missing. */
  acceptsRemovals: boolean;
  /** The keys of what was present when it began. */
  before: ReadonlySet<string>;
  /** What was answered wrongly, with status 200. */
  wrong: { part: Part; path: string; how: WrongAnswer["wrong"]; isCount: boolean }[];
  /** Whether it did not go by the figures by day, or ended so that the next one does not. */
  isAside: boolean;
  /** What the run says of itself. */
  verified: boolean;
  error: string | null;
  verdict: Verdict | null;
  /** Thrown: a stop, or a crash (the mirror goes on as its file was at that instant). */
  thrown: unknown;
  startedAt: number;
  /** After what is read before it: earlier than its first answer, and later than what a clock set back makes of older ones. */
  begunAt: number;
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
  ailment: Ailment | null;
  now(): number;
  /** The API's records as they were so many changes ago: what a cache may answer with. */
  earlier(changes: number): FakeRecords;
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
  const past: FakeRecords[] = [{ ...api.records }];
  const world: World = {
    api,
    watched,
    beginning,
    resource,
    readBefore: null,
    path: join(folder, "0.sqlite"),
    truth: createTruth(api, watched),
    runs: [],
    ailment: null,
    now: () => now,
    earlier: (changes) => past.at(-1 - changes) ?? (past[0] as FakeRecords),
    pass(ms) {
      now += ms;
    },
    setAhead(ms) {
      ahead = ms;
    },
    observe() {
      world.truth.observe(now, answered);
      past.push({ ...api.records });
    },
    async run(job, options, disturbances = []) {
      const stop = new AbortController();
      let copy: string | undefined;
      let count = 0;
      let isBlind = false;
      const wrong: RunEnd["wrong"] = [];
      api.before = (request) => {
        const { path } = request;
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
        fault ??= world.ailment?.answer(world, request);
        if (fault === undefined && path === resource.path) answered += 1;
        // A fault that passes is followed by the same request once more.
        if (path === "/analytics/clicks") isBlind = fault !== undefined && !isWrong(fault);
        if (fault !== undefined && isWrong(fault))
          wrong.push({
            part: partOf(world, request),
            path,
            how: fault.wrong,
            isCount: request.query.per_page === "1",
          });
        return fault;
      };
      const startedAt = now;
      const end = await runOnce(world, job, options, { signal: stop.signal, now: () => now + ahead });
      api.before = undefined;
      if (copy !== undefined) world.path = copy;
      if (world.ailment && --world.ailment.runs <= 0) world.ailment = null;
      const acceptsRemovals = options.acceptRemovals === true;
      const endedAt = now;
      // What a crashed run said, nobody has heard.
      const verified = end.verified && copy === undefined;
      world.runs.push({
        ...end,
        verified,
        job,
        acceptsRemovals,
        startedAt,
        endedAt,
        ahead,
        answered,
        isBlind,
        wrong,
      });
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

function isWrong(fault: FakeFault): fault is WrongAnswer {
  return typeof fault === "object" && "wrong" in fault;
}

/** Which part of a run's questions this is. */
export function partOf({ resource }: World, { path, query }: FakeRequest): Part {
  if (path === "/analytics/clicks") return query.start_date === undefined ? "figures" : "months";
  if (path === resource.path) return "list";
  return path.startsWith(`${resource.path}/`) ? "details" : "elsewhere";
}

type Outcome = Pick<RunEnd, "before" | "begunAt" | "verified" | "error" | "verdict" | "thrown" | "isAside">;

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
  const present = "SELECT key FROM records WHERE resource = ? AND removed_at IS NULL";
  const before = new Set(mirror.db.prepare(present).pluck().all(resource.name) as string[]);
  const isAside = () => openState(mirror, resource.name).isSetAside(figuresName, now());
  const wasAside = isAside();
  const reporter = silentReporter;
  const access: Access = {
    mirror,
    api,
    clock,
    signal,
    killable: (work) => work(),
    reporter,
    options: { ...defaultOptions, ...options },
    points: new Map(),
  };
  let begunAt = world.now();
  const ended = (what: Pick<Outcome, "verified" | "error" | "verdict">): Outcome => ({
    ...what,
    before,
    begunAt,
    thrown: null,
    isAside: wasAside || isAside(),
  });
  try {
    if (job === "sync") {
      if (readBefore) await syncOrThrow(access, readBefore);
      begunAt = world.now();
      const { verified, error } = (await syncOrThrow(access, resource)).run;
      return ended({ verified, error, verdict: null });
    }
    const verdict = await verifyResource(access, resource, job === "repair");
    const verified = verdict.state === "proven" || verdict.state === "repaired";
    return ended({ verified, error: verdict.state, verdict });
  } catch (thrown) {
    return { before, begunAt, verified: false, error: null, verdict: null, thrown, isAside: wasAside };
  } finally {
    mirror.db.close();
    api.close();
  }
}
