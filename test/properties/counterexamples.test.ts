import { expect, test } from "vitest";
import type { Behaviour } from "../support/fake/behaviour.js";
import type { Beginning, Happening, Watched } from "./brand.js";
import type { History, Run, Trouble } from "./histories.js";
import { play } from "./play.js";

/** A brand of so many records; no more than `perPage` come in one answer. */
function given(
  seed: number,
  records: number,
  perPage: number,
  rest: Partial<Behaviour> = {},
): Pick<History, "beginning" | "behaviour"> {
  const beginning: Beginning = { seed, records, crowd: 1, undated: 0, finest: "milliseconds" };
  return { beginning, behaviour: { mostPerPage: perPage, ...rest } };
}

type What = Happening["what"];

function event(what: What, pick = 0, days = 0): Happening {
  return { what, pick, days };
}

/** What happens before a request of a run is answered, by the request's number. */
type During = Record<number, Happening | Trouble>;

function run(job: Run["run"], flags: Omit<Run["with"], "during"> = {}, during: During = {}): Run {
  const events = Object.entries(during).map(([atRequest, what]) => ({ atRequest: Number(atRequest), what }));
  return { run: job, with: { ...flags, during: events } };
}

/** An order is dated `movedTo` days back and another withdrawn, both outside what the second run reads. */
function movedAndWithdrawn(days: { movedTo: number; untilDays: number; firstUntil?: number }): History {
  const { movedTo, untilDays, firstUntil } = days;
  return {
    ...given(3, 7, 2),
    steps: [
      event("withdraw"),
      run("sync", firstUntil === undefined ? {} : { untilDays: firstUntil }),
      event("redate", 7300, movedTo),
      run("sync", { sinceDays: 276, untilDays }, { 1: event("withdraw") }),
    ],
  };
}

/** Something changes, and while a repair reads that again, a record is withdrawn. */
function goneWhileRepaired(records: number, change: Happening, atRequest: number): History {
  return {
    ...given(1, records, 2),
    steps: [run("sync"), change, run("repair", {}, { [atRequest]: event("withdraw") })],
  };
}

/** Histories that once made a run claim what it had not read, shrunk to what mattered. */
const found: [name: string, watched: Watched, history: History][] = [
  [
    "answers that ignore their dates show records without one in a range: a list by pages that shows none takes it back",
    "orders",
    {
      beginning: { seed: 976, records: 29, crowd: 1, undated: 5, finest: "milliseconds" },
      behaviour: {
        mostPerPage: 6,
        order: "attribution",
        shows: "days",
        undated: "apart",
        undatedStand: "first",
      },
      steps: [{ ails: "list", how: "ignores", runs: 1, pick: 3168 }, run("sync", { sinceDays: 182 })],
    },
  ],
  [
    "someone leaves the roster from a page already read: the count agrees, and one slipped past",
    "roster",
    { ...given(1, 30, 5), steps: [run("sync", {}, { 5: event("withdraw", 7320) })] },
  ],
  [
    "two hosts join a full page, one after the other, while the total lags: whoever is pushed off has not left",
    "roster",
    {
      ...given(685, 7, 8, { ties: "reversed", lags: "totals" }),
      steps: [run("sync"), event("new", 1), run("sync"), event("new", 2), run("sync")],
    },
  ],
  [
    "one order is withdrawn and one is placed, and two runs with --until see neither",
    "orders",
    {
      ...given(1, 1, 2),
      steps: [
        run("sync"),
        event("withdraw"),
        event("new"),
        run("sync", { untilDays: 1, full: true }),
        run("sync", { untilDays: 0 }),
      ],
    },
  ],
  [
    "an order is cancelled where a run with --until does not read",
    "orders",
    {
      ...given(382, 13, 2, { figures: "absent" }),
      steps: [run("sync"), event("cancel", 3), run("sync", { untilDays: 40 })],
    },
  ],
  [
    "an order moves out of all that was ever read",
    "orders",
    {
      ...given(226, 2, 2),
      steps: [run("sync", { sinceDays: 36 }), event("redate"), run("sync", { sinceDays: 36, untilDays: 1 })],
    },
  ],
  [
    "an order moves to this morning, another is withdrawn, and a run with --until sees neither",
    "orders",
    movedAndWithdrawn({ movedTo: 0, untilDays: 1 }),
  ],
  [
    "an order moves to an old day, another is withdrawn, and a run with --until sees neither",
    "orders",
    movedAndWithdrawn({ movedTo: 300, untilDays: 1 }),
  ],
  [
    "an order moves to an old day, another is withdrawn, and no run ever asked for the figures by day",
    "orders",
    movedAndWithdrawn({ movedTo: 277, untilDays: 0, firstUntil: 0 }),
  ],
  [
    "an order moves behind the reader of a first run with --until, and another is withdrawn there",
    "orders",
    {
      ...given(15, 43, 4),
      steps: [run("sync", { untilDays: 0 }, { 9: event("redate", 0, 282), 12: event("withdraw", 2693) })],
    },
  ],
  [
    "a stopped read goes on after rows above it have gone",
    "orders",
    {
      ...given(3, 30, 5),
      steps: [
        run("sync", {}, { 5: "stop" }),
        event("withdraw", 1),
        event("withdraw", 2),
        event("late", 3, 600),
        event("late", 4, 600),
        run("sync"),
      ],
    },
  ],
  [
    "a crash between two pages, and the next run with another window",
    "orders",
    {
      ...given(4, 40, 4),
      steps: [
        run("sync"),
        event("redate", 11, 400),
        run("sync", { full: true }, { 7: "crash" }),
        event("withdraw", 5),
        run("sync", { sinceDays: 20 }),
      ],
    },
  ],
  [
    "a month of which only the beginning was read is not proven",
    "orders",
    { ...given(382, 13, 2), steps: [run("sync", { untilDays: 16 }), run("verify")] },
  ],
  [
    "a repair reads a day a second time, and finds that an order has just gone",
    "orders",
    goneWhileRepaired(9, event("refund"), 16),
  ],
  [
    "an order missing from an answer in another order than that of the dates, where the count could be of the oldest shown",
    "orders",
    {
      beginning: { seed: 1, records: 3, crowd: 1, undated: 0, finest: "microseconds" },
      behaviour: { mostPerPage: 2, order: "attribution" },
      steps: [run("sync", { untilDays: 10 }), { passHours: 1_313 }, event("host", 3142)],
    },
  ],
  [
    "a crowd whose last record alone, on its second page, shows its date as a day",
    "orders",
    {
      ...given(0, 1, 3, { shows: "mixed" }),
      steps: [event("crowd", 0, 0), event("crowd", 0, 1), event("crowd", 0, 2)],
    },
  ],
  ...[690, 30].map((days): (typeof found)[number] => [
    `an order that came after the figures were asked for is dated ${days} days back, where nobody knew the figures`,
    "orders",
    {
      ...given(0, 2, 3),
      steps: [
        run("sync", { full: true }, { 2: event("late", 0, 100) }),
        event("redate", 2, days),
        run("verify"),
      ],
    },
  ]),
  [
    "the oldest order goes, and with it the zeros of the days after it; another one is refunded in part",
    "orders",
    {
      ...given(415, 2, 3, { figures: "all", revenue: "net", emptyDays: "zero" }),
      steps: [
        run("sync", { sinceDays: 348, untilDays: 12 }, { 2: event("withdraw", 6888) }),
        event("refundPart", 12),
        run("repair"),
      ],
    },
  ],
  [
    "orders without dates in an order that changes, of which no reading is whole",
    "orders",
    {
      beginning: { seed: 7, records: 4, crowd: 1, undated: 4, finest: "milliseconds" },
      behaviour: { mostPerPage: 3, ties: "changing", undated: "apart", undatedStand: "last" },
      steps: [],
    },
  ],
  [
    "between two pages of what is read as a list, one goes and another comes",
    "content",
    {
      beginning: { seed: 8, records: 20, crowd: 13, undated: 0, finest: "microseconds" },
      behaviour: { mostPerPage: 2 },
      steps: [
        run("sync"),
        {
          run: "sync",
          with: {
            sinceDays: 314,
            during: [
              { atRequest: 1, what: event("ahead", 6587, 265) },
              { atRequest: 17, what: event("late", 910, 128) },
              { atRequest: 17, what: event("withdraw", 9087, 550) },
            ],
          },
        },
      ],
    },
  ],
  [
    "content comes and other content goes while a repair reads",
    "content",
    goneWhileRepaired(20, event("late", 0, 1), 3),
  ],
  [
    "a campaign comes while another one's details are asked for, which has left: it has details too",
    "opportunities",
    { ...given(1, 1, 2), steps: [run("sync", {}, { 2: event("exchange") })] },
  ],
  [
    "what a failed run left below what was claimed is as much as a total that is capped",
    "content",
    {
      ...given(22, 40, 11, { ties: "reversed", mostCounted: 13 }),
      steps: [
        run("sync", { sinceDays: 28, untilDays: 8, windowDays: 27 }),
        { passHours: 886 },
        run("sync", { sinceDays: 365, untilDays: 52, windowDays: 92, audit: 1 }),
        run("verify"),
      ],
    },
  ],
  [
    "one of equal dates is hidden in each of several readings while another order is exchanged",
    "orders",
    {
      beginning: { seed: 417, records: 51, crowd: 5, undated: 0, finest: "microseconds" },
      behaviour: {
        mostPerPage: 7,
        ties: "changing",
        undated: "everywhere",
        undatedStand: "first",
        figures: "absent",
      },
      steps: [
        event("crowd", 9994, 307),
        event("crowd", 549, 458),
        run("sync", { untilDays: 15, full: true, audit: 1 }, { 24: event("exchange", 8974, 399) }),
      ],
    },
  ],
  [
    "the audit has no request left to ask again with, after answers that contradict each other",
    "orders",
    {
      ...given(512, 33, 2, { order: "attribution", figures: "absent", cancelled: "out", refunded: "fully" }),
      steps: [
        run(
          "sync",
          { windowDays: 47, audit: 4 },
          {
            17: event("withdraw", 6946, 433),
            20: event("withdraw", 4910, 392),
            27: event("crowd", 573, 369),
          },
        ),
        { passHours: 1252 },
        run("repair", {}, { 9: "crash" }),
      ],
    },
  ],
  [
    "a lagging total calls a full answer all there is, which hides one that was dated there before",
    "content",
    {
      beginning: { seed: 711, records: 39, crowd: 1, undated: 0, finest: "microseconds" },
      behaviour: { mostPerPage: 4, shows: "days", lags: "totals" },
      steps: [
        run("sync", {}, { 7: event("new", 3549, 389) }),
        event("redate", 1460, 180),
        run("sync", { untilDays: 31, full: true }, { 8: event("late", 6400, 128) }),
      ],
    },
  ],
  [
    "a list in no order, of whose last page one record has no date, and the other was not shown",
    "orders",
    {
      beginning: { seed: 6, records: 44, crowd: 1, undated: 1, finest: "microseconds" },
      behaviour: { mostPerPage: 2, order: "attribution", undated: "everywhere" },
      steps: [
        run("sync"),
        event("redate", 9392, 19),
        run("verify", {}, { 24: event("renew", 9449, 241) }),
        run("sync", { untilDays: 7 }, { 25: event("exchange", 725, 125) }),
        { aheadMinutes: -281 },
      ],
    },
  ],
  [
    "a list in changing order that shows the same two of three twice in a row, and one of them as two",
    "gifts",
    {
      beginning: { seed: 761, records: 3, crowd: 6, undated: 0, finest: "microseconds" },
      behaviour: { mostPerPage: 2, ties: "changing" },
      steps: [run("repair")],
    },
  ],
];

test.each(found)("%s", async (_, watched, history) => {
  expect(await play(watched, history)).toEqual([]);
});
