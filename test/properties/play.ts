import { ResponseRejected, UnexpectedResponse } from "../../src/errors.js";
import type { Brand } from "../../src/sandbox/brand.js";
import type { SyncOptions } from "../../src/sync/session.js";
import type { Fault } from "../support/faults.js";
import { type Happening, happen, recordsOf, type Watched } from "./brand.js";
import { damage, differences, falseClaims, textOf } from "./check.js";
import type { History, Run, Step, Trouble, Wrong } from "./histories.js";
import { createWorld, type Disturbance, type RunEnd, type World } from "./world.js";

const dayMs = 86_400_000;

/**
 * Plays a history inside the model against the real engines, and checks every claim of every run.
 * @returns the false claims, with the step that made them; none for a sound program
 */
export async function play(watched: Watched, { steps, ...history }: History): Promise<string[]> {
  const world = await createWorld({ watched, ...history });
  try {
    for (const [index, step] of steps.entries()) {
      const end = await playStep(world, step);
      const found = end ? [...falseClaims(world, end), ...falselyRefused(end)] : [];
      if (end?.isKilled) found.push(...damage(world));
      if (found.length > 0) return found.slice(0, 5).map((one) => `step ${index}: ${one}`);
    }
    return await finish(world);
  } finally {
    world.close();
  }
}

/** Returns how a run ended, if the step is one. */
export async function playStep(world: World, step: Step): Promise<RunEnd | null> {
  if ("passHours" in step) world.pass(step.passHours * 3_600_000);
  else if ("what" in step) {
    happenIn(world, step);
    world.pass(1_000);
  } else {
    const { during, ...flags } = step.with;
    return await world.run(step.run, optionsOf(world, flags), during.map(disturbance));
  }
  return null;
}

function happenIn(world: World, what: Happening): void {
  happen(world.brand, world.watched, what, world.now(), world.truth.gone());
  world.observe();
}

function optionsOf(world: World, flags: Omit<Run["with"], "during">): Partial<SyncOptions> {
  const now = world.now();
  const { sinceDays, untilDays, windowDays, full = false, ...rest } = flags;
  const until = untilDays === undefined ? now : now - untilDays * dayMs;
  return {
    ...rest,
    full,
    ...(sinceDays === undefined || full ? {} : { since: Math.min(until, now - sinceDays * dayMs) }),
    ...(untilDays === undefined ? {} : { until }),
    ...(windowDays === undefined ? {} : { windowMs: windowDays * dayMs }),
  };
}

function disturbance({ atRequest, what }: Run["with"]["during"][number]): Disturbance {
  return {
    atRequest,
    happen(world, path) {
      if (typeof what === "string") return what === "kill" || what === "stop" ? what : faultOf(what);
      if ("wrong" in what)
        return path === world.resource.path ? { from: wrongBrand(world, what) } : undefined;
      happenIn(world, what);
      return undefined;
    },
  };
}

function faultOf(trouble: Exclude<Trouble, "kill" | "stop">): Fault {
  return trouble === "reset" || trouble === "cut" || trouble === "html"
    ? trouble
    : { status: Number(trouble) };
}

/** The brand as a wrong answer shows it. */
function wrongBrand({ brand, earlier, watched }: World, { pick, wrong }: Wrong): Brand {
  if (wrong === "cached") return earlier(1 + (pick % 4));
  const records = recordsOf(brand, watched);
  const lacking = records.filter((_, n) => wrong === "lacks" && n !== pick % records.length);
  return { ...brand, [watched]: lacking };
}

/** Inside the model no answer is refused. */
function falselyRefused({ error }: RunEnd): string[] {
  const isRefused =
    error instanceof ResponseRejected || (error instanceof Error && error.constructor === UnexpectedResponse);
  return isRefused ? [`an answer as documented was refused: ${textOf(error)}`] : [];
}

/** Everything read twice in peace (the first may finish a stopped run): the mirror is then the API. */
async function finish(world: World): Promise<string[]> {
  for (const run of [1, 2]) {
    const end = await world.run("sync", { full: true, acceptRemovals: true, details: "all" });
    const found = falseClaims(world, end);
    if (end.error !== null) found.push(`it failed: ${textOf(end.error)}`);
    else if (run === 2 && !end.verified) found.push("it is not verified");
    if (found.length > 0) return found.slice(0, 5).map((one) => `peaceful --full run ${run}: ${one}`);
  }
  return [...damage(world), ...differences(world)]
    .slice(0, 5)
    .map((one) => `after two peaceful --full runs: ${one}`);
}
