import { expect, test } from "vitest";
import type { Happening, Watched } from "./brand.js";
import type { History, Run, Trouble } from "./histories.js";
import { play } from "./play.js";

function happens(what: Happening["what"], pick = 0, days = 0): Happening {
  return { what, pick, days };
}

/** What happens before a request of a run is answered, by the request's number. */
type During = Record<number, Happening | Trouble>;

function run(job: Run["run"], flags: Omit<Run["with"], "during"> = {}, during: During = {}): Run {
  const events = Object.entries(during).map(([atRequest, what]) => ({ atRequest: Number(atRequest), what }));
  return { run: job, with: { ...flags, during: events } };
}

/** `perPage`: the most records in one answer. */
function given(seed: number, records: number, perPage: number, ...steps: History["steps"]): History {
  return { beginning: { seed, records, crowd: 1 }, doubts: { mostPerPage: perPage }, steps };
}

const { withdraw, late, returns } = {
  withdraw: happens("withdraw"),
  late: happens("late"),
  returns: happens("return"),
};

/** Histories that once led to a false claim, shrunk to what mattered. */
const found: [name: string, watched: Watched, history: History][] = [
  ["dates in the last millisecond of a second", "orders", given(1, 2, 2, happens("crowd", 7))],
  [
    "all orders of the oldest days are withdrawn: the API gives no figures of these days any more",
    "orders",
    given(
      1,
      1,
      2,
      happens("late", 0, 9),
      happens("late", 0, 2),
      run("sync"),
      happens("withdraw", 1),
      happens("withdraw"),
      run("sync", { full: true }),
    ),
  ],
  [
    "an order returns while another is withdrawn, after its place was read and before it is removed",
    "content",
    given(
      2,
      14,
      2,
      run("sync"),
      happens("withdraw", 6_692),
      late,
      run("sync", {}, { 1: happens("withdraw", 4_699), 3: returns }),
    ),
  ],
  [
    "a host is renamed on a later page",
    "roster",
    given(1, 22, 2, run("sync"), run("sync", {}, { 11: happens("host", 3_930) })),
  ],
  [
    "a campaign comes while another one's details are asked for, which has left",
    "opportunities",
    given(1, 1, 2, run("sync", {}, { 2: happens("exchange") })),
  ],
  [
    "a list without dates loses a record",
    "gifts",
    given(1, 1, 2, run("sync"), withdraw, happens("new"), run("sync")),
  ],
  [
    "a host leaves from a page already read: the count agrees, and one slipped past",
    "roster",
    given(1, 30, 5, run("sync", {}, { 5: happens("withdraw", 7_320) })),
  ],
  [
    "one order is withdrawn and one is placed, and two runs with --until see neither",
    "orders",
    given(
      1,
      1,
      2,
      run("sync"),
      withdraw,
      happens("new"),
      run("sync", { untilDays: 1, full: true }),
      run("sync", { untilDays: 0 }),
    ),
  ],
  [
    "an order is cancelled where a run with --until does not read",
    "orders",
    given(382, 13, 2, run("sync"), happens("cancel", 3), run("sync", { untilDays: 40 })),
  ],
  [
    "a stopped read goes on after orders above it have gone",
    "orders",
    given(
      3,
      30,
      5,
      run("sync", {}, { 5: "stop" }),
      happens("withdraw", 1),
      happens("withdraw", 2),
      happens("late", 3, 600),
      happens("late", 4, 600),
      run("sync"),
    ),
  ],
  [
    "a month of which only the beginning was read is not proven",
    "orders",
    given(382, 13, 2, run("sync", { untilDays: 16 }), run("verify")),
  ],
  [
    "a repair reads a day a second time, and finds that an order has just gone",
    "orders",
    given(1, 9, 2, run("sync"), happens("refund"), run("repair", {}, { 16: withdraw })),
  ],
];

test.each(found)("%s", async (_, watched, history) => {
  expect(await play(watched, history)).toEqual([]);
});
