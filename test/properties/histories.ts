import { type Behaviour, documented } from "../support/fake/behaviour.js";
import fc from "../support/property.js";
import type { Beginning, Happening } from "./brand.js";
import type { Job, Part } from "./world.js";

/** After a 501 no run asks again. */
export type Fault = "404" | "500" | "501" | "429" | "reset" | "cut" | "html";
/** An answer that is not as the API is, with status 200; `staleBy`: as it was so many changes ago. */
export type Mistake = "empty" | "unpaged" | "short" | "ignores" | { staleBy: number };
export type Trouble = "crash" | "stop" | Fault | Mistake;

/** One run: its flags, and what happens while it reads. */
export interface Run {
  run: Job;
  with: {
    sinceDays?: number;
    untilDays?: number;
    full?: boolean;
    windowDays?: number;
    audit?: number;
    details?: "all" | "changed" | "none";
    /** Whether it may remove however much is missing; it may where nothing is said. */
    acceptRemovals?: boolean;
    during: { atRequest: number; what: Happening | Trouble }[];
  };
}

/** What is broken for some runs: all answers of one part, or the details of one record; `pick` chooses it. */
export interface Ailing {
  ails: Exclude<Part, "elsewhere"> | "one";
  how: Fault | Mistake;
  runs: number;
  pick: number;
}

export type Step = Happening | Run | Ailing | { passHours: number } | { aheadMinutes: number };

/** A brand, the manner of its API, and what happens. */
export interface History {
  beginning: Beginning;
  behaviour: Partial<Behaviour>;
  /** What each run reads before. */
  readBefore?: string | undefined;
  steps: Step[];
}

/** Mostly as documented; then one of the others. */
function usually<Name extends keyof Behaviour>(
  name: Name,
  weight: number,
  ...others: Behaviour[Name][]
): fc.Arbitrary<Behaviour[Name]> {
  return fc.oneof(
    { withCrossShrink: true },
    { weight, arbitrary: fc.constant(documented[name]) },
    { weight: 4, arbitrary: fc.constantFrom(...others) },
  );
}

const behaviour: fc.Arbitrary<Behaviour> = fc.record({
  mostPerPage: fc.integer({ min: 2, max: 12 }),
  ties: usually("ties", 12, "reversed", "reversed", "changing"),
  order: usually("order", 30, "attribution"),
  shows: usually("shows", 5, "milliseconds", "seconds", "minutes", "days", "mixed"),
  undated: usually("undated", 4, "everywhere"),
  undatedStand: usually("undatedStand", 4, "first"),
  endDay: usually("endDay", 4, "midnight"),
  figures: usually("figures", 5, "recent", "absent"),
  revenue: usually("revenue", 4, "net"),
  cancelled: usually("cancelled", 4, "out"),
  rates: usually("rates", 10, "drifting"),
  emptyDays: usually("emptyDays", 4, "zero"),
  lags: usually("lags", 24, "totals", "figures", "both"),
  refunded: usually("refunded", 6, "any"),
  statuses: usually("statuses", 6, "overlap", "gaps"),
  pastEnd: usually("pastEnd", 4, "refused"),
  pagesOfNone: usually("pagesOfNone", 4, 0),
  unshown: usually("unshown", 4, "whole"),
  delivery: usually("delivery", 4, "late"),
  mostCounted: usually("mostCounted", 40, 13, 25),
});

const beginning: fc.Arbitrary<Beginning> = fc.record({
  seed: fc.integer({ min: 1, max: 1_000 }),
  records: fc.integer({ min: 0, max: 60 }),
  crowd: fc.oneof({ weight: 3, arbitrary: fc.constant(1) }, fc.integer({ min: 2, max: 30 })),
  undated: fc.oneof({ weight: 12, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 5 })),
  finest: fc.constantFrom("milliseconds", "microseconds"),
});

/** Mostly where narrow ranges end: what moves there crosses them. */
function daysBack(most: number): fc.Arbitrary<number> {
  return fc.oneof(
    { withCrossShrink: true },
    fc.nat(Math.min(7, most)),
    fc.nat(Math.min(40, most)),
    fc.nat(most),
  );
}

function happeningOf(what: fc.Arbitrary<Happening["what"]>): fc.Arbitrary<Happening> {
  return fc.record({ what, pick: fc.nat(9_999), days: daysBack(700) });
}

const happening = happeningOf(
  fc.constantFrom(
    "withdraw",
    "return",
    "late",
    "refundPart",
    "refund",
    "cancel",
    "new",
    "redate",
    "renew",
    "host",
    "rate",
    "defaultRate",
    "crowd",
    "ahead",
    "exchange",
    "assign",
  ),
);
/** What moves no count, taken together: one leaves, and another comes or moves. */
const swap = fc.tuple(
  happeningOf(fc.constantFrom("withdraw", "exchange", "redate")),
  happeningOf(fc.constantFrom("return", "late", "redate", "renew", "new")),
);

const fault = fc.constantFrom<Fault>("404", "500", "501", "429", "reset", "cut", "html");
export const mistake: fc.Arbitrary<Mistake> = fc.oneof(
  { withCrossShrink: true },
  { weight: 4, arbitrary: fc.constantFrom<Mistake>("empty", "unpaged", "short", "ignores") },
  { weight: 1, arbitrary: fc.record({ staleBy: fc.integer({ min: 1, max: 4 }) }) },
);
const trouble: fc.Arbitrary<Trouble> = fc.oneof(
  { withCrossShrink: true },
  { weight: 1, arbitrary: fc.constantFrom<Trouble>("crash", "stop") },
  { weight: 2, arbitrary: fault as fc.Arbitrary<Trouble> },
  { weight: 3, arbitrary: mistake as fc.Arbitrary<Trouble> },
);

const atRequest = fc.integer({ min: 1, max: 30 });
const during = fc
  .array(
    fc.oneof(
      { withCrossShrink: true },
      {
        weight: 5,
        arbitrary: fc
          .record({ atRequest, what: fc.oneof({ weight: 3, arbitrary: happening }, trouble) })
          .map((one) => [one]),
      },
      {
        weight: 1,
        arbitrary: fc.tuple(atRequest, atRequest, swap).map(([first, second, [left, came]]) => [
          { atRequest: first, what: left },
          { atRequest: second, what: came },
        ]),
      },
    ),
    { maxLength: 4 },
  )
  .map((ones): Run["with"]["during"] => ones.flat());

const flags = {
  sinceDays: daysBack(400),
  untilDays: daysBack(60),
  full: fc.boolean(),
  windowDays: fc.nat(120),
  audit: fc.nat(6),
  details: fc.constantFrom("all" as const, "changed" as const, "none" as const),
  acceptRemovals: fc.boolean(),
};

const sync = fc.record({
  run: fc.constant<Job>("sync"),
  with: fc.record({ ...flags, during }, { requiredKeys: ["during"] }),
});
const verify = fc.record({
  run: fc.constantFrom<Job>("verify", "repair"),
  with: fc.record({ during, acceptRemovals: flags.acceptRemovals }, { requiredKeys: ["during"] }),
});

/** A run that may not come to its end. */
const unended = fc
  .tuple(sync, atRequest, fc.constantFrom<Trouble>("crash", "stop", "501"))
  .map(([run, atRequest, what]): Run => {
    const { during, ...rest } = run.with;
    return { ...run, with: { ...rest, during: [...during, { atRequest, what }] } };
  });

/** A first run with a floor: below it are years that nobody asked for. */
const narrowed = fc.record({
  run: fc.constant<Job>("sync"),
  with: fc.record(
    { sinceDays: daysBack(60), untilDays: flags.untilDays, audit: flags.audit, during },
    { requiredKeys: ["sinceDays", "during"] },
  ),
});

const ailing = fc.record({
  ails: fc.constantFrom<Ailing["ails"]>("list", "figures", "months", "details", "one", "one"),
  how: fc.oneof(fault as fc.Arbitrary<Fault | Mistake>, mistake),
  runs: fc.integer({ min: 1, max: 4 }),
  pick: fc.nat(9_999),
});

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: happening as fc.Arbitrary<Step> },
  { weight: 3, arbitrary: sync },
  { weight: 1, arbitrary: verify },
  { weight: 1, arbitrary: ailing },
  { weight: 1, arbitrary: fc.record({ passHours: fc.integer({ min: 1, max: 24 * 60 }) }) },
  // The program's clock is wrong from here on; at 0 it is right again.
  {
    weight: 1,
    arbitrary: fc.record({
      aheadMinutes: fc.oneof(fc.constant(0), fc.integer({ min: -3_000, max: 3_000 })),
    }),
  },
);

/** Who leaves or returns after a run that did not end, before the next one. */
const interrupted = fc
  .tuple(unended, swap, sync)
  .map(([before, moved, after]): Step[] => [before, ...moved, after]);

/** Something happens after a peaceful run, and the next one is told one thing wrongly. */
const misleading = fc
  .tuple(
    fc.array(happening, { maxLength: 3 }),
    fc.integer({ min: 1, max: 12 }),
    mistake,
    fc.record({ full: flags.full, acceptRemovals: flags.acceptRemovals, audit: flags.audit }),
  )
  .map(([events, atRequest, what, rest]): Step[] => [
    { run: "sync", with: { during: [] } },
    ...events,
    { run: "sync", with: { ...rest, during: [{ atRequest, what }] } },
  ]);

/** Random histories: runs with random flags between and during random events, faults, stops and crashes. */
export const histories: fc.Arbitrary<History> = fc.record({
  beginning,
  behaviour,
  // Where several are read, all go by the figures that the first was told.
  readBefore: fc.option(fc.constant("analytics-clicks"), { nil: undefined, freq: 3 }),
  steps: fc
    .tuple(
      fc.option(narrowed, { freq: 1 }),
      fc.array(
        fc.oneof(
          { withCrossShrink: true },
          { weight: 9, arbitrary: step.map((one) => [one]) },
          { weight: 1, arbitrary: swap },
          { weight: 1, arbitrary: interrupted },
          { weight: 1, arbitrary: misleading },
        ),
        { maxLength: 12 },
      ),
    )
    .map(([first, rest]) => [...(first ? [first] : []), ...rest.flat()]),
});
