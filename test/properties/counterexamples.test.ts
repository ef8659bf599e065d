import { expect, test } from "vitest";
import type { Behaviour } from "../support/fake/behaviour.js";
import type { Beginning, Happening, Watched } from "./brand.js";
import type { History } from "./histories.js";
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

/** An order is dated `movedTo` days back and another withdrawn, both outside what the second run reads. */
function movedAndWithdrawn(days: {
  movedTo: number;
  untilDays: number;
  first?: { untilDays: number };
}): History {
  const { movedTo, untilDays, first = {} } = days;
  const during = [{ atRequest: 1, what: { what: "withdraw" as const, pick: 0, days: 0 } }];
  return {
    ...given(3, 7, 2),
    steps: [
      { what: "withdraw", pick: 0, days: 0 },
      { run: "sync", with: { ...first, during: [] } },
      { what: "redate", pick: 7300, days: movedTo },
      { run: "sync", with: { sinceDays: 276, untilDays, during } },
    ],
  };
}

/** Something changes, and while a repair reads that again, a record is withdrawn. */
function goneWhileRepaired(story: { records: number; change: Happening; atRequest: number }): History {
  const { records, change, atRequest } = story;
  const what: Happening = { what: "withdraw", pick: 0, days: 0 };
  return {
    ...given(1, records, 2),
    steps: [
      { run: "sync", with: { during: [] } },
      change,
      { run: "repair", with: { during: [{ atRequest, what }] } },
    ],
  };
}

/** Histories that once made a run claim what it had not read, shrunk to what mattered. */
const found: [name: string, watched: Watched, history: History][] = [
  [
    "someone leaves the roster from a page already read: the count agrees, and one slipped past",
    "roster",
    {
      ...given(1, 30, 5),
      steps: [
        {
          run: "sync",
          with: {
            during: [{ atRequest: 5, what: { what: "withdraw", pick: 7320, days: 0 } }],
          },
        },
      ],
    },
  ],
  [
    "one order is withdrawn and one is placed, and two runs with --until see neither",
    "orders",
    {
      ...given(1, 1, 2),
      steps: [
        { run: "sync", with: { during: [] } },
        { what: "withdraw", pick: 0, days: 0 },
        { what: "new", pick: 0, days: 0 },
        { run: "sync", with: { untilDays: 1, full: true, during: [] } },
        { run: "sync", with: { untilDays: 0, during: [] } },
      ],
    },
  ],
  [
    "an order moves out of all that was ever read",
    "orders",
    {
      ...given(226, 2, 2),
      steps: [
        { run: "sync", with: { sinceDays: 36, during: [] } },
        { what: "redate", pick: 0, days: 0 },
        { run: "sync", with: { sinceDays: 36, untilDays: 1, during: [] } },
      ],
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
    movedAndWithdrawn({ movedTo: 277, untilDays: 0, first: { untilDays: 0 } }),
  ],
  [
    "an order moves behind the reader of a first run with --until, and another is withdrawn there",
    "orders",
    {
      ...given(15, 43, 4),
      steps: [
        {
          run: "sync",
          with: {
            untilDays: 0,
            during: [
              { atRequest: 9, what: { what: "redate", pick: 0, days: 282 } },
              { atRequest: 12, what: { what: "withdraw", pick: 2693, days: 0 } },
            ],
          },
        },
      ],
    },
  ],
  [
    "a stopped read goes on after rows above it have gone",
    "orders",
    {
      ...given(3, 30, 5),
      steps: [
        { run: "sync", with: { during: [{ atRequest: 5, what: "stop" }] } },
        { what: "withdraw", pick: 1, days: 0 },
        { what: "withdraw", pick: 2, days: 0 },
        { what: "late", pick: 3, days: 600 },
        { what: "late", pick: 4, days: 600 },
        { run: "sync", with: { during: [] } },
      ],
    },
  ],
  [
    "a crash between two pages, and the next run with another window",
    "orders",
    {
      ...given(4, 40, 4),
      steps: [
        { run: "sync", with: { during: [] } },
        { what: "redate", pick: 11, days: 400 },
        {
          run: "sync",
          with: { full: true, during: [{ atRequest: 7, what: "crash" }] },
        },
        { what: "withdraw", pick: 5, days: 0 },
        { run: "sync", with: { sinceDays: 20, during: [] } },
      ],
    },
  ],
  [
    "a repair reads a day a second time, and finds that an order has just gone",
    "orders",
    goneWhileRepaired({ records: 9, change: { what: "refund", pick: 0, days: 0 }, atRequest: 16 }),
  ],
  [
    "content comes and other content goes while a repair reads",
    "content",
    goneWhileRepaired({ records: 20, change: { what: "late", pick: 0, days: 1 }, atRequest: 3 }),
  ],
];

test.each(found)("%s", async (_, watched, history) => {
  expect(await play(watched, history)).toEqual([]);
});
