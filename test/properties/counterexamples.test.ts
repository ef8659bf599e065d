import { expect, test } from "vitest";
import { type Happening, type History, play } from "./histories.js";
import type { Watched } from "./world.js";

/** An order is dated `movedTo` days back and another withdrawn, both outside what the second run reads. */
function movedAndWithdrawn(days: {
  movedTo: number;
  untilDays: number;
  first?: { untilDays: number };
}): History {
  const { movedTo, untilDays, first = {} } = days;
  const pages = { pageSize: 2, pagesPerPart: 1 };
  const during = [{ atRequest: 1, what: { what: "withdraw" as const, pick: 0, days: 0 } }];
  return {
    seed: 3,
    records: 7,
    steps: [
      { what: "withdraw", pick: 0, days: 0 },
      { run: "sync", with: { ...first, ...pages, during: [] } },
      { what: "redate", pick: 7300, days: movedTo },
      { run: "sync", with: { sinceDays: 276, untilDays, ...pages, during } },
    ],
  };
}

/** Something changes, and while a repair reads that again, a record is withdrawn. */
function goneWhileRepaired(story: { records: number; change: Happening; atRequest: number }): History {
  const { records, change, atRequest } = story;
  const pages = { pageSize: 2, pagesPerPart: 1 };
  const what: Happening = { what: "withdraw", pick: 0, days: 0 };
  return {
    seed: 1,
    records,
    steps: [
      { run: "sync", with: { ...pages, during: [] } },
      change,
      { run: "repair", with: { ...pages, during: [{ atRequest, what }] } },
    ],
  };
}

/** Histories that once made a run claim what it had not read, shrunk to what mattered. */
const found: [name: string, watched: Watched, history: History][] = [
  [
    "someone leaves the roster from a page already read: the count agrees, and one slipped past",
    "roster",
    {
      seed: 1,
      records: 0,
      steps: [
        {
          run: "sync",
          with: {
            pageSize: 5,
            pagesPerPart: 1,
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
      seed: 1,
      records: 1,
      steps: [
        { run: "sync", with: { pageSize: 2, pagesPerPart: 1, during: [] } },
        { what: "withdraw", pick: 0, days: 0 },
        { what: "new", pick: 0, days: 0 },
        { run: "sync", with: { untilDays: 1, full: true, pageSize: 2, pagesPerPart: 1, during: [] } },
        { run: "sync", with: { untilDays: 0, pageSize: 2, pagesPerPart: 1, during: [] } },
      ],
    },
  ],
  [
    "an order moves out of all that was ever read",
    "orders",
    {
      seed: 226,
      records: 2,
      steps: [
        { run: "sync", with: { sinceDays: 36, pageSize: 2, pagesPerPart: 1, during: [] } },
        { what: "redate", pick: 0, days: 0 },
        { run: "sync", with: { sinceDays: 36, untilDays: 1, pageSize: 2, pagesPerPart: 1, during: [] } },
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
      seed: 15,
      records: 43,
      steps: [
        {
          run: "sync",
          with: {
            untilDays: 0,
            pageSize: 4,
            pagesPerPart: 2,
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
      seed: 3,
      records: 30,
      steps: [
        { run: "sync", with: { pageSize: 5, pagesPerPart: 4, during: [{ atRequest: 5, what: "stop" }] } },
        { what: "withdraw", pick: 1, days: 0 },
        { what: "withdraw", pick: 2, days: 0 },
        { what: "late", pick: 3, days: 600 },
        { what: "late", pick: 4, days: 600 },
        { run: "sync", with: { pageSize: 5, pagesPerPart: 4, during: [] } },
      ],
    },
  ],
  [
    "a crash between two pages, and the next run with another window",
    "orders",
    {
      seed: 4,
      records: 40,
      steps: [
        { run: "sync", with: { pageSize: 4, pagesPerPart: 2, during: [] } },
        { what: "redate", pick: 11, days: 400 },
        {
          run: "sync",
          with: { full: true, pageSize: 4, pagesPerPart: 2, during: [{ atRequest: 7, what: "crash" }] },
        },
        { what: "withdraw", pick: 5, days: 0 },
        { run: "sync", with: { sinceDays: 20, pageSize: 4, pagesPerPart: 2, during: [] } },
      ],
    },
  ],
  [
    "a repair reads a day a second time, and finds that an order has just gone",
    "orders",
    goneWhileRepaired({ records: 1, change: { what: "refund", pick: 0, days: 0 }, atRequest: 16 }),
  ],
  [
    "content comes and other content goes while a repair reads",
    "content",
    goneWhileRepaired({ records: 0, change: { what: "late", pick: 0, days: 1 }, atRequest: 3 }),
  ],
];

test.each(found)("%s", async (_, watched, history) => {
  expect(await play(watched, history)).toEqual([]);
});
