import type { ApiVariants } from "../support/api-variants.js";
import fc from "../support/property.js";
import type { Beginning, Happening } from "./brand.js";
import type { Job, WorldOptions } from "./world.js";

/** What ends a run, and answers other than the API's: those that pass, and one that does not. */
export type Trouble = "kill" | "stop" | "500" | "429" | "reset" | "cut" | "html" | "403";
/** An answer with status 200 that is not as the API is: outside the model. `pick` says which record it lacks. */
export interface Wrong {
  wrong: "empty" | "lacks" | "cached";
  pick: number;
}

/** One run: its flags, and what happens while it asks. */
export interface Run {
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
    during: { atRequest: number; what: Happening | Trouble | Wrong }[];
  };
}

export type Step = Happening | Run | { passHours: number };

/** A brand, the manner of its API, and what happens. */
export interface History {
  beginning: Beginning;
  variants: Partial<ApiVariants>;
  lags?: WorldOptions["lags"];
  steps: Step[];
}

/** What is random about histories, and what is the same in all of them. */
export interface Setting {
  variants?: Partial<ApiVariants>;
  lags?: WorldOptions["lags"];
  /** What may happen beside everything that may inside the model: as often as all of that together. */
  more?: readonly Happening["what"][];
  wrong?: Wrong["wrong"];
  undated?: boolean;
}

/** Mostly as documented; then one of the others. */
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

/** How an API may be, inside the model. */
const manner: fc.Arbitrary<Partial<ApiVariants>> = fc.record({
  // A page of fewer repeats as soon as so many records come between two requests: of 100, that never happens.
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

const beginning: fc.Arbitrary<Beginning> = fc.record({
  seed: fc.integer({ min: 1, max: 1_000 }),
  records: fc.oneof({ weight: 40, arbitrary: fc.nat(60) }, fc.integer({ min: 200, max: 400 })),
  crowd: fc.oneof({ weight: 3, arbitrary: fc.constant(1) }, fc.integer({ min: 2, max: 30 })),
});

/** Mostly where narrow ranges end, because changes there cross them. */
function daysBack(most: number): fc.Arbitrary<number> {
  return fc.oneof(
    { withCrossShrink: true },
    fc.nat(Math.min(7, most)),
    fc.nat(Math.min(40, most)),
    fc.nat(most),
  );
}

const inside: readonly Happening["what"][] = [
  ...(["withdraw", "return", "late", "new", "crowd", "exchange"] as const),
  ...(["refundPart", "refund", "cancel", "host", "defaultRate", "assign"] as const),
];

function happeningOf(whats: readonly Happening["what"][]): fc.Arbitrary<Happening> {
  return fc.record({ what: fc.constantFrom(...whats), pick: fc.nat(9_999), days: daysBack(700) });
}

const atRequest = fc.integer({ min: 1, max: 30 });
const trouble = fc.constantFrom<Trouble>("kill", "stop", "500", "429", "reset", "cut", "html", "403");

function stepsOf({ more, wrong }: Setting): fc.Arbitrary<Step[]> {
  const happening = fc.oneof(
    { withCrossShrink: true },
    happeningOf(inside),
    ...(more ? [happeningOf(more)] : []),
  );
  const atOnce = fc.record({
    atRequest,
    what: fc.oneof({ weight: 3, arbitrary: happening as fc.Arbitrary<Happening | Trouble | Wrong> }, trouble),
  });
  // No count moves: one record leaves, another comes.
  const left = happeningOf(["withdraw", "exchange"]);
  const came = happeningOf(["return", "late", "new"]);
  const swap = fc.tuple(atRequest, atRequest, left, came).map(([first, second, one, other]) => [
    { atRequest: first, what: one },
    { atRequest: second, what: other },
  ]);
  const told = fc.record({
    atRequest: fc.integer({ min: 1, max: 12 }),
    what: fc.record({ wrong: fc.constant(wrong ?? "empty"), pick: fc.nat(9_999) }),
  });
  const during: fc.Arbitrary<Run["with"]["during"]> = fc
    .array(
      fc.oneof(
        { withCrossShrink: true },
        { weight: 5, arbitrary: atOnce.map((one) => [one]) },
        { weight: 1, arbitrary: swap },
      ),
      { maxLength: 3 },
    )
    .chain((ones) =>
      wrong
        ? fc.array(told, { minLength: 1, maxLength: 2 }).map((more) => [...ones.flat(), ...more])
        : fc.constant(ones.flat()),
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
  }) as fc.Arbitrary<Run>;
  const { acceptRemovals } = flags;
  const verify = fc.record({
    run: fc.constantFrom<Job>("verify", "repair"),
    with: fc.record({ acceptRemovals, during }, { requiredKeys: ["during"] }),
  }) as fc.Arbitrary<Run>;
  // A run that may not come to its end; records leave and come before the next one.
  const stopped = fc
    .tuple(sync, atRequest, fc.constantFrom<Trouble>("kill", "stop", "403"), left, came, sync)
    .map(([run, at, what, one, other, next]): Step[] => [
      { ...run, with: { ...run.with, during: [...run.with.during, { atRequest: at, what }] } },
      one,
      other,
      next,
    ]);
  const step: fc.Arbitrary<Step[]> = fc.oneof(
    { withCrossShrink: true },
    { weight: 4, arbitrary: happening.map((one) => [one]) },
    { weight: 4, arbitrary: sync.map((one) => [one]) },
    { weight: 1, arbitrary: verify.map((one) => [one]) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 24 * 60 }).map((passHours) => [{ passHours }]) },
    { weight: 1, arbitrary: stopped },
    { weight: 1, arbitrary: fc.tuple(left, came) },
  );
  return fc.array(step, { minLength: 1, maxLength: 10 }).map((steps) => steps.flat());
}

/** Random histories: runs with random flags between and during random happenings, faults, stops and kills. */
export function historiesOf(setting: Setting = {}): fc.Arbitrary<History> {
  const { variants, lags, undated } = setting;
  return fc.tuple(beginning, manner, stepsOf(setting)).map(([begun, how, steps]) => {
    // Many records are read in large pages.
    const maxPerPage = (how.maxPerPage ?? 1) * (begun.records <= 60 ? 1 : 8);
    return {
      beginning: { ...begun, undated: undated ? 3 : 0 },
      variants: { ...how, maxPerPage, ...variants },
      lags,
      steps,
    };
  });
}
