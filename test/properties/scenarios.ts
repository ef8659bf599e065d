import type { ApiVariants } from "../sandbox/api-variants.js";
import fc from "../support/property.js";
import type { EventType, ModelEvent, StartingRecords } from "./model.js";
import type { Job, WorldOptions } from "./world.js";

export type Step = ModelEvent | RunStep | { passHours: number };

export interface RunStep {
  run: Job;
  with: {
    sinceDays?: number;
    untilDays?: number;
    full?: boolean;
    windowDays?: number;
    audit?: number;
    budget?: number;
    details?: "all" | "changed" | "none";
    acceptRemovals?: boolean;
    during: DuringRun[];
  };
}

/** An event or a failure before the response to a request. Requests are numbered from 1. */
export interface DuringRun {
  atRequest: number;
  what: ModelEvent | Failure | WrongResponse;
}

/** The run is killed or stopped, or the request fails. The client retries a failed request unless its status is 403. */
export type Failure = "kill" | "stop" | "500" | "429" | "reset" | "cut" | "html" | "403";

/** A response with status 200 that is empty, lacks a record, or is outdated. */
export interface WrongResponse {
  wrong: "empty" | "lacks" | "cached";
  pick: number;
}

export interface Scenario {
  start: StartingRecords;
  variants: Partial<ApiVariants>;
  lags?: WorldOptions["lags"];
  steps: Step[];
}

export interface ScenarioOptions {
  variants?: Partial<ApiVariants>;
  lags?: WorldOptions["lags"];
  /** Additional event types. Together, they occur as often as all the other types combined. */
  more?: readonly EventType[];
  wrong?: WrongResponse["wrong"];
  undated?: boolean;
}

/** Generates scenarios: events between runs, runs with random flags, and events and failures during those runs. */
export function scenariosOf(options: ScenarioOptions = {}): fc.Arbitrary<Scenario> {
  const { variants, lags, undated } = options;
  return fc
    .tuple(startingRecords, variantsInModel, stepsOf(options))
    .map(([start, randomVariants, steps]) => {
      // Use larger pages for long lists, to limit the number of requests per run.
      const maxPerPage = (randomVariants.maxPerPage ?? 1) * (start.records <= 60 ? 1 : 8);
      return {
        start: { ...start, undated: undated ? 3 : 0 },
        variants: { ...randomVariants, maxPerPage, ...variants },
        lags,
        steps,
      };
    });
}

/**
 * Generates the documented value in three out of four scenarios on average, and one of the other values in the rest.
 */
function usually<Name extends keyof ApiVariants>(
  documented: ApiVariants[Name],
  ...others: ApiVariants[Name][]
) {
  return fc.oneof(
    { withCrossShrink: true },
    { weight: 3, arbitrary: fc.constant(documented) },
    fc.constantFrom(...others),
  );
}

/** API variants for which all of the program's claims must be true. */
const variantsInModel: fc.Arbitrary<Partial<ApiVariants>> = fc.record({
  // With smaller pages, a few events between two requests could fill an entire page, which is unrealistic.
  maxPerPage: fc.integer({ min: 4, max: 12 }),
  ties: usually<"ties">("stable", "reversed"),
  datePrecision: usually<"datePrecision">("exact", "milliseconds", "seconds"),
  dailyTotals: usually<"dailyTotals">("all", "recent", "absent"),
  revenue: usually<"revenue">("net", "gross"),
  cancelled: usually<"cancelled">("out", "in"),
  emptyDays: usually<"emptyDays">("zero", "missing"),
  pastEnd: usually<"pastEnd">("empty", "refused"),
  pagesWhenEmpty: usually<"pagesWhenEmpty">(0, 1),
  undocumentedLists: usually<"undocumentedLists">("paged", "complete"),
});

const startingRecords: fc.Arbitrary<StartingRecords> = fc.record({
  seed: fc.integer({ min: 1, max: 1_000 }),
  records: fc.oneof({ weight: 40, arbitrary: fc.nat(60) }, fc.integer({ min: 200, max: 400 })),
  perSecond: fc.oneof({ weight: 3, arbitrary: fc.constant(1) }, fc.integer({ min: 2, max: 30 })),
});

/** Generates an age in days. Most ages are small, so that events often occur near the ends of short ranges. */
function daysBack(most: number): fc.Arbitrary<number> {
  return fc.oneof(
    { withCrossShrink: true },
    fc.nat(Math.min(7, most)),
    fc.nat(Math.min(40, most)),
    fc.nat(most),
  );
}

const modelEvents: readonly EventType[] = [
  ...(["withdraw", "return", "late", "new", "sameSecond", "swap"] as const),
  ...(["partialRefund", "refund", "cancel", "hostChange", "defaultRate", "assign"] as const),
];

function eventOf(types: readonly EventType[]): fc.Arbitrary<ModelEvent> {
  return fc.record({ what: fc.constantFrom(...types), pick: fc.nat(9_999), days: daysBack(700) });
}

const atRequest = fc.integer({ min: 1, max: 30 });
const failure = fc.constantFrom<Failure>("kill", "stop", "500", "429", "reset", "cut", "html", "403");

function stepsOf({ more, wrong }: ScenarioOptions): fc.Arbitrary<Step[]> {
  const event = fc.oneof({ withCrossShrink: true }, eventOf(modelEvents), ...(more ? [eventOf(more)] : []));
  const eventOrFailure = fc.record({
    atRequest,
    what: fc.oneof(
      { weight: 3, arbitrary: event as fc.Arbitrary<ModelEvent | Failure | WrongResponse> },
      failure,
    ),
  });
  // A removal and an addition during the same run leave the counts unchanged.
  const leaving = eventOf(["withdraw", "swap"]);
  const arriving = eventOf(["return", "late", "new"]);
  const swap = fc.tuple(atRequest, atRequest, leaving, arriving).map(([first, second, leave, arrive]) => [
    { atRequest: first, what: leave },
    { atRequest: second, what: arrive },
  ]);
  const wrongResponse = fc.record({
    atRequest: fc.integer({ min: 1, max: 12 }),
    what: fc.record({ wrong: fc.constant(wrong ?? "empty"), pick: fc.nat(9_999) }),
  });
  const during: fc.Arbitrary<DuringRun[]> = fc
    .array(
      fc.oneof(
        { withCrossShrink: true },
        { weight: 5, arbitrary: eventOrFailure.map((single) => [single]) },
        { weight: 1, arbitrary: swap },
      ),
      { maxLength: 3 },
    )
    .chain((groups) =>
      wrong
        ? fc.array(wrongResponse, { minLength: 1, maxLength: 2 }).map((more) => [...groups.flat(), ...more])
        : fc.constant(groups.flat()),
    );
  const flags = {
    sinceDays: daysBack(400),
    untilDays: daysBack(60),
    full: fc.boolean(),
    windowDays: fc.nat(120),
    audit: fc.nat(6),
    budget: fc.nat(30),
    details: fc.constantFrom("all" as const, "changed" as const, "none" as const),
    acceptRemovals: fc.boolean(),
  };
  const sync = fc.record({
    run: fc.constant<Job>("sync"),
    with: fc.oneof(
      { withCrossShrink: true },
      fc.record({ audit: flags.audit, during }, { requiredKeys: ["during"] }),
      fc.record({ ...flags, during }, { requiredKeys: ["during"] }),
    ),
  }) as fc.Arbitrary<RunStep>;
  const { acceptRemovals } = flags;
  const verify = fc.record({
    run: fc.constantFrom<Job>("verify", "repair"),
    with: fc.record({ acceptRemovals, during }, { requiredKeys: ["during"] }),
  }) as fc.Arbitrary<RunStep>;
  // A run that may be interrupted, followed by a removal and an addition before the next run.
  const stopped = fc
    .tuple(sync, atRequest, fc.constantFrom<Failure>("kill", "stop", "403"), leaving, arriving, sync)
    .map(([run, at, what, leave, arrive, next]): Step[] => [
      { ...run, with: { ...run.with, during: [...run.with.during, { atRequest: at, what }] } },
      leave,
      arrive,
      next,
    ]);
  const step: fc.Arbitrary<Step[]> = fc.oneof(
    { withCrossShrink: true },
    { weight: 4, arbitrary: event.map((single) => [single]) },
    { weight: 4, arbitrary: sync.map((single) => [single]) },
    { weight: 1, arbitrary: verify.map((single) => [single]) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 24 * 60 }).map((passHours) => [{ passHours }]) },
    { weight: 1, arbitrary: stopped },
    { weight: 1, arbitrary: fc.tuple(leaving, arriving) },
  );
  return fc.array(step, { minLength: 1, maxLength: 10 }).map((steps) => steps.flat());
}
