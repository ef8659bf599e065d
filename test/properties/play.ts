import { BrandapiError } from "../../src/errors.js";
import { findResource } from "../../src/resources/index.js";
import type { SyncOptions } from "../../src/sync/run.js";
import type { FakeFault, FakeRequest } from "../support/fake-api.js";
import { type Happening, happen, keyOf, type Watched } from "./brand.js";
import { differences, lies } from "./check.js";
import { isCapped, resolutionMs } from "./evidence.js";
import type { Ailing, Fault, History, Mistake, Run, Step } from "./histories.js";
import { createWorld, type Disturbance, partOf, type World } from "./world.js";

const dayMs = 86_400_000;

/**
 * Plays a history against the real engine and checks every claim of every run.
 * @returns the lies, with the step that told them; none for a sound program
 */
export async function play(
  watched: Watched,
  { beginning, behaviour, readBefore, steps }: History,
): Promise<string[]> {
  const world = createWorld(watched, beginning, behaviour);
  if (readBefore !== undefined) world.readBefore = findResource(readBefore) ?? null;
  try {
    for (const [index, step] of steps.entries()) {
      const told = await playStep(world, step);
      if (told.length > 0) return told.slice(0, 5).map((lie) => `step ${index}: ${lie}`);
    }
    return await finish(world);
  } finally {
    world.close();
  }
}

/** @param check finds what a run claims falsely */
export async function playStep(world: World, step: Step, check: typeof lies = lies): Promise<string[]> {
  if ("passHours" in step) {
    world.pass(step.passHours * 3_600_000);
    return [];
  }
  if ("aheadMinutes" in step) {
    world.setAhead(step.aheadMinutes * 60_000);
    return [];
  }
  if ("ails" in step) {
    world.ailment = { runs: step.runs, answer: (_, request) => ailingAnswer(world, step, request) };
    return [];
  }
  if ("what" in step) {
    happenIn(world, step);
    world.observe();
    world.pass(1_000);
    return [];
  }
  const { during, ...flags } = step.with;
  const end = await world.run(step.run, optionsOf(world, flags), during.map(disturbance));
  const isOwn = end.thrown === null || end.thrown instanceof BrandapiError;
  return isOwn ? await check(world, end) : [`it broke: ${textOf(end.thrown)}`];
}

function happenIn({ api, watched, beginning, now, truth }: World, what: Happening): void {
  happen(api, watched, beginning, what, now(), truth.gone());
}

function optionsOf(world: World, flags: Omit<Run["with"], "during">): Partial<SyncOptions> {
  const now = world.now();
  const { sinceDays, untilDays, windowDays, full, acceptRemovals = true, ...rest } = flags;
  const until = untilDays === undefined ? now : now - untilDays * dayMs;
  return {
    ...rest,
    full: full === true,
    ...(sinceDays === undefined || full ? {} : { since: Math.min(until, now - sinceDays * dayMs) }),
    ...(untilDays === undefined ? {} : { until }),
    ...(windowDays === undefined ? {} : { windowMs: windowDays * dayMs }),
    acceptRemovals,
  };
}

/** One record's details are those of another one where that is gone. */
function ailingAnswer(
  world: World,
  { ails, how, pick }: Ailing,
  request: FakeRequest,
): FakeFault | undefined {
  const { api, resource, watched } = world;
  const keys = api.records[watched].flatMap((one) => (typeof one === "string" ? [] : keyOf(watched, one)));
  const path = `${resource.path}/${keys.sort()[pick % Math.max(1, keys.length)]}`;
  const isIts = ails === "one" ? request.path === path : partOf(world, request) === ails;
  return isIts ? faultOf(world, how) : undefined;
}

function disturbance({ atRequest, what }: Run["with"]["during"][number]): Disturbance {
  return {
    atRequest,
    happen(world) {
      if (typeof what === "object" && "what" in what) happenIn(world, what);
      else return what === "crash" || what === "stop" ? what : faultOf(world, what);
      return undefined;
    },
  };
}

export function faultOf(world: World, how: Fault | Mistake): FakeFault {
  if (typeof how === "object") return { wrong: "stale", records: world.earlier(how.staleBy) };
  if (how === "empty" || how === "unpaged" || how === "short" || how === "ignores") return { wrong: how };
  return how === "reset" || how === "cut" || how === "html" ? how : { status: Number(how) };
}

/**
 * Everything read twice in peace (the first may finish an old read): the mirror is then the API. Where dates are shown
 * coarsely, nothing that is withdrawn within the newest one shows before it is over.
 */
async function finish(world: World): Promise<string[]> {
  // Where equal dates stand in another order at each request, no number of pages is sure to show them all.
  const maySettle = world.api.behaviour.ties !== "changing" && !isCapped(world.api.behaviour);
  world.ailment = null;
  for (const run of [1, 2]) {
    world.pass(resolutionMs(world.api.behaviour));
    const end = await world.run("sync", { full: true, acceptRemovals: true, details: "all" });
    const told = await lies(world, end);
    if (told.length > 0) return told.slice(0, 5).map((lie) => `--full ${run}: ${lie}`);
    if (end.thrown !== null) return [`a peaceful --full run failed: ${textOf(end.thrown)}`];
    if (run === 2 && !end.verified)
      return maySettle ? [`a peaceful --full run is not verified: ${end.error}`] : [];
  }
  return (await differences(world)).slice(0, 5).map((one) => `after --full: ${one}`);
}

function textOf(thrown: unknown): string {
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
}
