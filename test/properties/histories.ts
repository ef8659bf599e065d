import type { SyncOptions } from "../../src/sync/context.js";
import fc from "../support/property.js";
import { differences, lies } from "./check.js";
import { createWorld, type Disturbance, type Job, type Watched, type World } from "./world.js";

/** Something that happens at the brand: `pick` chooses the record, `days` a date. */
export interface Happening {
  what:
    | "new"
    | "late"
    | "refundPart"
    | "refund"
    | "cancel"
    | "withdraw"
    | "redate"
    | "host"
    | "rate"
    | "defaultRate";
  pick: number;
  days: number;
}

export type Trouble = "crash" | "stop" | "500" | "429" | "reset" | "cut" | "html";

/** One run: its flags, and what happens while it reads. */
export interface Run {
  run: Job;
  with: {
    sinceDays?: number;
    untilDays?: number;
    full?: boolean;
    windowDays?: number;
    audit?: number;
    pageSize: number;
    pagesPerPart: number;
    during: { atRequest: number; what: Happening | Trouble }[];
  };
}

export type Step = Happening | Run | { passHours: number };

export interface History {
  seed: number;
  records: number;
  steps: Step[];
}

const day = 86_400_000;

/** Lets one thing happen to the brand's records; what cannot happen does not. */
export function happen(world: World, watched: Watched, { what, pick, days }: Happening): void {
  const { sandbox, truth } = world;
  const { events } = sandbox;
  const keys = [...truth.current.keys()].sort();
  const key = keys[pick % Math.max(1, keys.length)];
  const old = sandbox.now() - days * day - (pick % 1_000) * 60_000;
  if (watched === "content") {
    if (what === "new") events.addContent();
    else if (what === "late") events.addContent({ createdAt: old });
    else if (what === "withdraw" && key) events.removeContent(...(key.split("/") as [string, string]));
  } else if (watched === "roster") {
    const id = keys.length > 1 ? hostOf(world, key) : undefined;
    if (what === "new" || what === "late") events.joinRoster();
    else if (id && what === "withdraw") events.leaveRoster(id);
    else if (id && what === "rate") events.setRate(id, days % 30);
    else if (id && what === "host") events.renameHost(id, { intro: `intro ${pick}` });
    else if (what === "defaultRate") events.setDefaultRate(days % 20);
  } else if (what === "new") events.newOrder();
  else if (what === "late") events.lateOrder(old);
  else if (what === "defaultRate") events.setDefaultRate(5 + (days % 20));
  else if (!key) return;
  else if (what === "refundPart") events.refund(key, 1 + (pick % 7));
  else if (what === "refund") events.refund(key);
  else if (what === "cancel") events.cancel(key);
  else if (what === "withdraw") events.withdraw(key);
  else if (what === "redate") events.redate(key, old);
  else if (what === "host") events.changeHost(key, null);
  else if (what === "rate") events.changeCommission(key, days % 30);
}

function hostOf({ truth }: World, key: string | undefined): string | undefined {
  const json = truth.current.get(key ?? "")?.json;
  return json === undefined ? undefined : (JSON.parse(json) as { host: { id: string } }).host.id;
}

/**
 * Plays a history against the real engine and checks every claim of every run.
 * @returns the lies, with the step that told them; none for a sound program
 */
export async function play(watched: Watched, history: History): Promise<string[]> {
  const world = await createWorld(watched, history.seed, history.records);
  try {
    for (const [index, step] of history.steps.entries()) {
      const told = await playStep(world, watched, step);
      if (told.length > 0) return told.slice(0, 5).map((lie) => `step ${index}: ${lie}`);
    }
    return await finish(world);
  } finally {
    await world.close();
  }
}

async function playStep(world: World, watched: Watched, step: Step): Promise<string[]> {
  if ("passHours" in step) {
    world.pass(step.passHours * 3_600_000);
    return [];
  }
  if ("what" in step) {
    happen(world, watched, step);
    world.truth.observe();
    world.pass(1_000);
    return [];
  }
  const { during, ...flags } = step.with;
  const before = new Set(world.truth.current.keys());
  const end = await world.run(
    step.run,
    optionsOf(world, flags),
    during.map((one) => disturbance(watched, one)),
  );
  for (const key of before) if (!world.truth.current.has(key)) before.delete(key);
  return await lies(world, end, before);
}

function optionsOf(world: World, flags: Omit<Run["with"], "during">): Partial<SyncOptions> {
  const now = world.sandbox.now();
  const { sinceDays, untilDays, windowDays, full, ...rest } = flags;
  return {
    ...rest,
    full: full === true,
    ...(sinceDays === undefined || full ? {} : { since: now - sinceDays * day }),
    ...(untilDays === undefined ? {} : { until: now - untilDays * day }),
    ...(windowDays === undefined ? {} : { windowMs: windowDays * day }),
    acceptRemovals: true,
  };
}

function disturbance(watched: Watched, { atRequest, what }: Run["with"]["during"][number]): Disturbance {
  return {
    atRequest,
    happen(world) {
      if (typeof what === "object") {
        happen(world, watched, what);
        return undefined;
      }
      if (what === "crash" || what === "stop") return what;
      return { fault: what === "500" ? 500 : what === "429" ? 429 : what };
    },
  };
}

/** Everything read twice in peace (the first may finish an old read): the mirror is then the API. */
async function finish(world: World): Promise<string[]> {
  for (let run = 0; run < 2; run += 1) {
    const { verified, error, thrown } = await world.run("sync", {
      full: true,
      acceptRemovals: true,
      details: "all",
    });
    if (thrown !== null) return [`a peaceful --full run failed: ${String(thrown)}`];
    if (run === 1 && !verified) return [`a peaceful --full run is not verified: ${error}`];
  }
  return (await differences(world)).slice(0, 5).map((one) => `after --full: ${one}`);
}

const happening: fc.Arbitrary<Happening> = fc.record({
  what: fc.constantFrom(
    "withdraw",
    "late",
    "refundPart",
    "refund",
    "cancel",
    "new",
    "redate",
    "host",
    "rate",
    "defaultRate",
  ),
  pick: fc.nat(9_999),
  days: fc.nat(700),
});

const trouble = fc.constantFrom<Trouble>("crash", "stop", "500", "429", "reset", "cut", "html");

const flags = {
  sinceDays: fc.nat(400),
  untilDays: fc.nat(60),
  full: fc.boolean(),
  windowDays: fc.nat(120),
  audit: fc.nat(6),
};
const manner = {
  pageSize: fc.integer({ min: 2, max: 12 }),
  pagesPerPart: fc.integer({ min: 1, max: 4 }),
  during: fc.array(
    fc.record({
      atRequest: fc.integer({ min: 1, max: 20 }),
      what: fc.oneof({ weight: 3, arbitrary: happening }, trouble),
    }),
    { maxLength: 4 },
  ),
};
const required = ["pageSize", "pagesPerPart", "during"] as const;

const sync = fc.record({
  run: fc.constant<Job>("sync"),
  with: fc.record({ ...flags, ...manner }, { requiredKeys: [...required] }),
});
const verify = fc.record({ run: fc.constantFrom<Job>("verify", "repair"), with: fc.record(manner) });

/** Random histories: runs with random flags between and during random events, faults, stops and crashes. */
export const histories: fc.Arbitrary<History> = fc.record({
  seed: fc.integer({ min: 1, max: 1_000 }),
  records: fc.integer({ min: 0, max: 60 }),
  steps: fc.array(
    fc.oneof(
      { weight: 3, arbitrary: happening as fc.Arbitrary<Step> },
      { weight: 3, arbitrary: sync },
      { weight: 1, arbitrary: verify },
      { weight: 1, arbitrary: fc.record({ passHours: fc.integer({ min: 1, max: 24 * 60 }) }) },
    ),
    { maxLength: 12 },
  ),
});
