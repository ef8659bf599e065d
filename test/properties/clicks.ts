import { openMirror } from "../../src/query/open.js";
import { presentRecords, valueAt } from "../../src/records/index.js";
import { findResource } from "../../src/resources/index.js";
import type { JsonObject } from "../../src/resources/types.js";
import { openState } from "../../src/state/index.js";
import { clicksOf } from "../support/fake/figures.js";
import type { History } from "./histories.js";
import { playStep } from "./play.js";
import { createWorld, type RunEnd, type World } from "./world.js";

/** The figures of each day that had an order, as JSON. */
type Days = Map<string, string>;

/** Plays a history of orders, whose figures by day are what is read. @returns the days that a verified run has wrong */
export async function playClicks({ beginning, behaviour, steps }: History): Promise<string[]> {
  const known = { ...behaviour, figures: "all", rates: "fixed", lags: "nothing" } as const;
  const world = createWorld("orders", beginning, known);
  const resource = findResource("analytics-clicks");
  if (!resource) throw new RangeError("No such resource.");
  // Half of them in a mirror that has the orders too.
  if (beginning.seed % 2 === 0) world.readBefore = world.resource;
  world.resource = resource;
  try {
    for (const [index, step] of steps.entries()) {
      if ("run" in step && step.run !== "sync") continue;
      const isPlain = !("run" in step) || (step.with.sinceDays ?? step.with.untilDays) === undefined;
      const before: Days = world.runs.length > 0 ? (await mirroredDays(world)).days : new Map();
      const told = await playStep(world, step, (_, end) => wrongDays(world, end, isPlain, before));
      if (told.length > 0) return told.map((one) => `step ${index}: ${one}`);
    }
    return [];
  } finally {
    world.close();
  }
}

async function wrongDays(world: World, end: RunEnd, isPlain: boolean, before: Days): Promise<string[]> {
  if (!end.verified) return [];
  const mine = await mirroredDays(world);
  if (mine.foreign.size > 0) return [`a month has the days of another one: ${[...mine.foreign.keys()]}`];
  // That days moved, of which it was told wrongly, only the next run knows: they are as they were.
  const isMisinformed = end.wrong.some(({ part }) => part === "figures");
  const isAsBefore = (day: string) => isMisinformed && before.get(day) === mine.days.get(day);
  const instants = [
    end.startedAt,
    ...world.truth.changes.filter((at) => at > end.startedAt && at <= end.endedAt),
  ];
  const theirs = instants.map((at) => daysAt(world, at));
  const today = new Date(end.startedAt).toISOString().slice(0, 10);
  const days = new Set([...mine.days.keys(), ...theirs.flatMap((one) => [...one.keys()])]);
  // What is dated before 1970 is a mistake; a run that was given dates warns of what it leaves.
  const isClaimed = (day: string) => isPlain && day >= "1970" && day.slice(0, 7) >= mine.since;
  return [...days]
    .filter((day) => (mine.months.has(day.slice(0, 7)) || isClaimed(day)) && day < today)
    .filter((day) => !isAsBefore(day))
    .filter((day) => !theirs.some((one) => one.get(day) === mine.days.get(day)))
    .map((day) => `${day}: ${mine.days.get(day)} in a verified mirror, ${theirs.map((one) => one.get(day))}`);
}

/** The mirrored months and days, and the month since which all are claimed. */
async function mirroredDays({ path, resource }: World) {
  const mirror = await openMirror(path);
  try {
    const records = [...presentRecords(mirror, resource.name, "/day/#0")];
    const pointsOf = ({ key, value }: (typeof records)[number]) =>
      (valueAt(value, ["timeseries"]) as JsonObject[]).map(
        (point): { point: JsonObject; isOwn: boolean } => ({
          point,
          isOwn: String(point.date).slice(0, 7) === key.slice(0, 7),
        }),
      );
    const all = records.flatMap(pointsOf);
    const days = (isOwn: boolean) =>
      busyDays(all.filter((one) => one.isOwn === isOwn).map(({ point }) => point));
    const floor = openState(mirror, resource.name).floor() ?? Number.NEGATIVE_INFINITY;
    const since = Number.isFinite(floor) ? new Date(floor).toISOString().slice(0, 7) : "";
    return {
      months: new Set(records.map(({ key }) => key.slice(0, 7))),
      days: days(true),
      foreign: days(false),
      since,
    };
  } finally {
    mirror.db.close();
  }
}

function daysAt({ api, truth, now }: World, instant: number): Days {
  const entries = [...truth.at(instant).values()].map(({ record, keptAt }) => ({
    record,
    value: record,
    at: keptAt,
  }));
  const { timeseries } = clicksOf(entries, {}, api.behaviour, now()) as { timeseries: JsonObject[] };
  return busyDays(timeseries);
}

function busyDays(points: readonly JsonObject[]): Days {
  return new Map(
    points.filter(({ orders }) => orders !== 0).map((point) => [String(point.date), JSON.stringify(point)]),
  );
}
