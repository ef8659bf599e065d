import { expect, test } from "vitest";
import { openMirror } from "../../src/query/open.js";
import { findResource } from "../../src/resources/index.js";
import fc from "../support/property.js";
import { mistake } from "./histories.js";
import { faultOf } from "./play.js";
import { createWorld, type Disturbance, type RunEnd, type World } from "./world.js";

const runs = Number(process.env.PROPERTY_RUNS ?? 25);
const hourMs = 3_600_000;

/** More than are asked for at once: a run that is stopped has kept some. */
const surveys = [..."abcdefg"];

/** What a survey answers: in one of the shapes that a list without documentation may have; null: 404. */
const answer = fc.oneof(
  { weight: 4, arbitrary: fc.subarray(["r1", "r2", "r3"]).map((ids) => ids.map((id) => ({ id }))) },
  fc.array(fc.record({ score: fc.nat(2) }), { maxLength: 3 }),
  fc.record({ score: fc.nat(2) }),
  fc.constant(null),
);

/** A survey is there with another title and other results, or gone. */
const event = fc.record({
  survey: fc.constantFrom(...surveys),
  title: fc.option(fc.nat(3), { freq: 5 }),
  answer,
});
type Event = typeof event extends fc.Arbitrary<infer One> ? One : never;

const during = fc.array(
  fc.record({
    atRequest: fc.integer({ min: 1, max: 12 }),
    what: fc.oneof(
      { weight: 3, arbitrary: event },
      { weight: 1, arbitrary: fc.constantFrom("crash" as const, "stop" as const) },
      { weight: 2, arbitrary: fc.record({ mistake }) },
    ),
  }),
  { maxLength: 3 },
);
const night = fc.record({
  before: fc.array(event, { maxLength: 3 }),
  during,
  minutes: fc.constantFrom(5, 90),
  details: fc.constantFrom("changed" as const, "all" as const, "none" as const),
  acceptRemovals: fc.boolean(),
});
type Night = typeof night extends fc.Arbitrary<infer One> ? One : never;

/** Which surveys were listed from an instant on, and what each answered, listed or not. */
interface State {
  at: number;
  listed: readonly string[];
  answers: Readonly<Record<string, string>>;
}

test("surveys: whatever they answer, a verified run has the results that there were while it ran", async () => {
  const property = fc.asyncProperty(fc.array(night, { minLength: 1, maxLength: 5 }), async (nights) => {
    const beginning = { seed: 1, records: 0, crowd: 1, undated: 0, finest: "milliseconds" } as const;
    const world = createWorld("roster", beginning, {});
    const resource = findResource("surveys");
    if (!resource) throw new RangeError("No such resource.");
    world.resource = resource;
    const states = surveys.map((survey) =>
      happen(world, { survey, title: 0, answer: [{ id: "r1" }, { id: "r2" }] }),
    );
    try {
      for (const one of nights) expect(await play(world, states, one)).toEqual([]);
      const quiet = { before: [], during: [], minutes: 90, details: "all", acceptRemovals: true } as const;
      expect(await play(world, states, quiet)).toEqual([]);
      expect(isSilent(states) || world.runs.at(-1)?.verified).toBe(true);
    } finally {
      world.close();
    }
  });
  await fc.assert(property, { numRuns: runs, endOnFailure: process.env.PROPERTY_SHRINK === "no" });
}, 3_600_000);

/** Where no survey answers at all, nothing is believed of any. */
function isSilent(states: readonly State[]): boolean {
  const { answers = {}, listed = [] } = states.at(-1) ?? {};
  return listed.length > 0 && listed.every((id) => answers[id] === undefined);
}

type Played = Omit<Night, "before" | "during"> & {
  before: readonly Event[];
  during: readonly Night["during"][number][];
};

/** @returns what a verified run has wrong */
async function play(
  world: World,
  states: State[],
  { before, during, minutes, ...flags }: Played,
): Promise<string[]> {
  world.pass(minutes * 60_000);
  for (const one of before) states.push(happen(world, one));
  const disturbances = during.map(
    ({ atRequest, what }): Disturbance => ({
      atRequest,
      happen() {
        if (typeof what === "string") return what;
        if ("mistake" in what) return faultOf(world, what.mistake);
        world.observe();
        states.push(happen(world, what));
        return undefined;
      },
    }),
  );
  const earlier = await held(world);
  const end = await world.run("sync", flags, disturbances);
  const mine = await held(world);
  const lasted = (since: number) =>
    states.filter(({ at }, index) => at <= end.endedAt && (states[index + 1]?.at ?? Infinity) > since);
  const isEmpty =
    (survey: string) =>
    ({ listed, answers }: State) =>
      listed.includes(survey) && resultsOf(answers[survey]).length === 0;
  const emptied = surveys.filter((survey) => lasted(end.startedAt).every(isEmpty(survey)));
  const isLost = (survey: string) => earlier.get(survey)?.some((one) => !mine.get(survey)?.includes(one));
  const lost = emptied.filter(isLost);
  if (!flags.acceptRemovals && lost.length > 0) return [`${lost}: removed, and nobody accepted it`];
  const falsely = wronglyRemoved(end, earlier, mine, lasted(end.startedAt));
  if (falsely.length > 0 || !end.verified) return falsely;
  const begunAt = begunBy(world, end);
  const wrong = world.runs.flatMap((run) => (run.startedAt >= begunAt ? run.wrong : []));
  // What the list is told wrongly is of all of them.
  if (wrong.some(({ part }) => part === "list")) return [];
  const isTold = (survey: string) => wrong.some(({ path }) => path.startsWith(`/surveys/${survey}/`));
  const seen = lasted(begunAt);
  const told = [];
  for (const survey of surveys.filter((one) => !isTold(one))) {
    const results = mine.get(survey) ?? [];
    const theirs = seen.map(({ answers }) => resultsOf(answers[survey]));
    const isListed = seen.map(({ listed }) => listed.includes(survey));
    const isThere = (one: string) => isListed.includes(true) && theirs.some((those) => those.includes(one));
    const stale = results.filter((one) => !isThere(one));
    if (stale.length > 0) told.push(`${survey}: ${stale}, which was not there any more`);
    const isSteady = !isListed.includes(false) && new Set(theirs.map(String)).size === 1;
    if (isSteady && String(results) !== String(theirs[0]))
      told.push(`${survey}: ${results} where there was ${theirs[0]}`);
  }
  return told;
}

/** What is told wrongly once may be believed, but nothing is removed for it that was there all the while. */
function wronglyRemoved(
  { acceptsRemovals, wrong }: RunEnd,
  earlier: ReadonlyMap<string, string[]>,
  mine: ReadonlyMap<string, string[]>,
  states: readonly State[],
): string[] {
  if (acceptsRemovals || wrong.length > 1) return [];
  const isThere = (survey: string, one: string) =>
    states.every(
      ({ answers, listed }) => listed.includes(survey) && resultsOf(answers[survey]).includes(one),
    );
  return surveys.flatMap((survey) => {
    const gone = (earlier.get(survey) ?? []).filter((one) => !mine.get(survey)?.includes(one));
    const falsely = gone.filter((one) => isThere(survey, one));
    return falsely.length > 0 ? [`${survey}: ${falsely} falsely removed: ${JSON.stringify(wrong)}`] : [];
  });
}

/** When the first request was sent of those that a run stands for: it goes on with one that was stopped within the hour. */
function begunBy({ runs }: World, end: RunEnd): number {
  const finished = runs.findLastIndex((run) => run !== end && run.verified);
  return (
    runs.slice(finished + 1).find(({ startedAt }) => startedAt >= end.startedAt - hourMs)?.startedAt ?? 0
  );
}

function happen({ api, now }: World, { survey, title, answer }: Event): State {
  const others = api.records.surveys.filter((one) => typeof one === "string" || one.id !== survey);
  api.records.surveys = title === null ? others : [...others, { id: survey, title }];
  const { [survey]: _, ...rest } = api.records.results;
  api.records.results = answer === null ? rest : { ...rest, [survey]: JSON.stringify(answer) };
  const listed = api.records.surveys.map((one) => String(typeof one === "string" ? one : one.id));
  return { at: now(), listed, answers: api.records.results };
}

/** An answer's records as texts, sorted. */
function resultsOf(text = "null"): string[] {
  const data: unknown = JSON.parse(text);
  return (data === null ? [] : Array.isArray(data) ? data : [data]).map((one) => JSON.stringify(one)).sort();
}

async function held({ path }: World): Promise<Map<string, string[]>> {
  const mirror = await openMirror(path);
  try {
    const rows = mirror.db
      .prepare(
        "SELECT json_extract(context, '$.survey_id'), json FROM records WHERE resource = 'survey-results' AND removed_at IS NULL",
      )
      .raw()
      .all() as [string, string][];
    const found = new Map<string, string[]>();
    for (const [survey, json] of rows) found.set(survey, [...(found.get(survey) ?? []), json].sort());
    return found;
  } finally {
    mirror.db.close();
  }
}
