import { UnexpectedResponse, UnsafeResponse } from "../../src/errors.js";
import type { Brand } from "../../src/sandbox/brand.js";
import type { SyncOptions } from "../../src/sync/session.js";
import type { Fault } from "../support/faults.js";
import { errorText, findDamage, findDifferences, findFalseClaims } from "./checks.js";
import { applyEvent, type ModelEvent, recordsOf, type TestedList } from "./model.js";
import type { DuringRun, Failure, RunStep, Scenario, Step, WrongResponse } from "./scenarios.js";
import { type Interruption, type RunResult, World } from "./world.js";

const dayMs = 86_400_000;

/** Runs a scenario and returns the false claims. Each claim is prefixed with the step that led to it. */
export async function play(listName: TestedList, { steps, ...options }: Scenario): Promise<string[]> {
  const world = await World.create({ listName, ...options });
  try {
    for (const [index, step] of steps.entries()) {
      const result = await playStep(world, step);
      const claims = result ? [...findFalseClaims(world, result), ...checkRejections(result)] : [];
      if (result?.wasKilled) claims.push(...(await findDamage(world)));
      if (claims.length > 0) return claims.slice(0, 5).map((claim) => `step ${index}: ${claim}`);
    }
    return await finish(world);
  } finally {
    world.close();
  }
}

/** Plays one step of a scenario. Returns the result if the step is a run, or null if it is an event. */
export async function playStep(world: World, step: Step): Promise<RunResult | null> {
  if ("passHours" in step) world.pass(step.passHours * 3_600_000);
  else if ("what" in step) {
    applyEventIn(world, step);
    world.pass(1_000);
  } else {
    const { during, ...flags } = step.with;
    return await world.run(step.run, toSyncOptions(world, flags), during.map(toInterruption));
  }
  return null;
}

function applyEventIn(world: World, event: ModelEvent): void {
  applyEvent(world.brand, world.listName, event, world.now, world.versionHistory.removedRecords());
  world.observe();
}

function toSyncOptions({ now }: World, flags: Omit<RunStep["with"], "during">): Partial<SyncOptions> {
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

function toInterruption({ atRequest, what }: DuringRun): Interruption {
  return {
    atRequest,
    apply(world, path) {
      if (what === "kill" || what === "stop") return what;
      if (typeof what === "string") return toFault(what);
      if ("wrong" in what)
        return path === world.resource.path ? { from: wrongBrand(world, what) } : undefined;
      applyEventIn(world, what);
      return undefined;
    },
  };
}

function toFault(failure: Exclude<Failure, "kill" | "stop">): Fault {
  if (failure === "reset" || failure === "cut" || failure === "html") return failure;
  return { status: Number(failure) };
}

/** Returns the modified data from which the API builds an altered response. */
function wrongBrand(world: World, { pick, wrong }: WrongResponse): Brand {
  if (wrong === "cached") return world.earlier(1 + (pick % 4));
  const records = recordsOf(world.brand, world.listName);
  const returned = records.filter((_, n) => wrong === "lacks" && n !== pick % records.length);
  return { ...world.brand, [world.listName]: returned };
}

/** Checks that the program does not reject a documented response. */
function checkRejections({ error }: RunResult): string[] {
  const isRejected =
    error instanceof UnsafeResponse || (error instanceof Error && error.constructor === UnexpectedResponse);
  return isRejected ? [`a documented response was rejected: ${errorText(error)}`] : [];
}

/**
 * Syncs everything twice while the API's data does not change, because the first run might merely resume an interrupted
 * run. The mirror must then match the API.
 */
async function finish(world: World): Promise<string[]> {
  for (const number of [1, 2]) {
    const result = await world.run("sync", { full: true, acceptRemovals: true, details: "all" });
    const claims = findFalseClaims(world, result);
    if (result.error !== null) claims.push(`the run failed: ${errorText(result.error)}`);
    else if (number === 2 && !result.verified) claims.push("the run is not verified");
    if (claims.length > 0)
      return claims.slice(0, 5).map((claim) => `undisturbed --full run ${number}: ${claim}`);
  }
  return [...(await findDamage(world)), ...findDifferences(world)]
    .slice(0, 5)
    .map((difference) => `after two undisturbed --full runs: ${difference}`);
}
