import { expect, test } from "vitest";
import { describeTable, layAsOf, openMirrorReadOnly, withSnapshot } from "../../src/query/index.js";
import fc from "../support/property.js";
import { type History, histories } from "./histories.js";
import { playStep } from "./play.js";
import { createWorld } from "./world.js";

const runs = Number(process.env.PROPERTY_RUNS ?? 25);

/** What is told of the orders: the definitions of each stand on one another, so these see the rest. */
const told = ["sales_by_day", "sales_by_month", "restatements", "restated_orders", "late_refunds"] as const;

type Answers = Record<(typeof told)[number], unknown[]>;

/** @param at as of then; undefined: as the mirror is */
async function answersOf(path: string, at?: number): Promise<Answers> {
  const mirror = await openMirrorReadOnly(path);
  try {
    return await withSnapshot(mirror, async () => {
      const tables = told.map((name) => describeTable(mirror, name));
      if (at !== undefined) layAsOf(mirror, tables, undefined, at);
      const rows = (name: string) => mirror.db.prepare(`SELECT * FROM ${name}`).all();
      return Object.fromEntries(told.map((name) => [name, rows(name)])) as Answers;
    });
  } finally {
    mirror.db.close();
  }
}

/** @returns what is otherwise as of the end of a run than it was then; nothing, for a sound program */
async function play({ beginning, behaviour, steps }: History): Promise<unknown[]> {
  const world = createWorld("orders", beginning, behaviour);
  const then: { step: number; at: number; answers: Answers }[] = [];
  try {
    for (const [step, one] of steps.entries()) {
      // A clock that is set back has no one time that was first.
      if ("aheadMinutes" in one) continue;
      await playStep(world, one, async () => []);
      if (!("run" in one)) continue;
      then.push({ step, at: world.now() - 1, answers: await answersOf(world.path) });
    }
    const otherwise: unknown[] = [];
    for (const { step, at, answers } of then) {
      const now = await answersOf(world.path, at);
      for (const name of told)
        if (JSON.stringify(now[name]) !== JSON.stringify(answers[name]))
          otherwise.push({ step, name, was: answers[name], is: now[name] });
    }
    return otherwise;
  } finally {
    world.close();
  }
}

test("whatever happens, what was told of the orders at the end of a run is told `--as-of` then", async () => {
  const property = fc.asyncProperty(histories, async (history) => {
    expect(await play(history)).toEqual([]);
  });
  await fc.assert(property, { numRuns: runs, endOnFailure: process.env.PROPERTY_SHRINK === "no" });
}, 3_600_000);
