import { expect, test } from "vitest";
import type { ApiVariants } from "../sandbox/api-variants.js";
import type { EventType, ModelEvent, TestedList } from "./model.js";
import { play } from "./play.js";
import type { DuringRun, RunStep, Step } from "./scenarios.js";
import { playVariant } from "./variants.js";

/**
 * A scenario that once led to a false claim, reduced to the essential steps. README.md explains how to add a scenario.
 */
interface Counterexample {
  title: string;
  list: TestedList;
  seed?: number;
  records: number;
  perPage: number;
  steps: Step[];
}

/** A counterexample with an API that violates assumption A1, A2 or A3 in src/sync/README.md. */
interface VariantCounterexample extends Counterexample {
  perSecond?: number;
  undated?: number;
  variants: Partial<ApiVariants>;
}

/** Returns an event for record number `pick`. If the event sets a date, the date is `days` days ago. */
function event(what: EventType, pick = 0, days = 0): ModelEvent {
  return { what, pick, days };
}

/** @param during events and failures during the run */
function run(job: RunStep["run"], flags: Omit<RunStep["with"], "during">, ...during: DuringRun[]): RunStep {
  return { run: job, with: { ...flags, during } };
}

function at(request: number, what: DuringRun["what"]): DuringRun {
  return { atRequest: request, what };
}

const sync = run("sync", {});
const verify = run("verify", {});

const counterexamples: Counterexample[] = [
  {
    title: "an order is dated in the last millisecond of a second",
    list: "orders",
    records: 2,
    perPage: 2,
    steps: [event("sameSecond", 7)],
  },
  {
    title: "the oldest days lose all of their orders",
    list: "orders",
    records: 1,
    perPage: 2,
    steps: [
      event("late", 0, 9),
      event("late", 0, 2),
      sync,
      event("withdraw", 1),
      event("withdraw"),
      run("sync", { full: true }),
    ],
  },
  {
    title: "a removed file returns before its removal is confirmed",
    list: "content",
    seed: 2,
    records: 14,
    perPage: 2,
    steps: [
      sync,
      event("withdraw", 6_692),
      event("late"),
      run("sync", {}, at(1, event("withdraw", 4_699)), at(3, event("return"))),
    ],
  },
  {
    title: "a host on a later page is renamed during the run",
    list: "roster",
    records: 22,
    perPage: 2,
    steps: [sync, run("sync", {}, at(11, event("hostChange", 3_930)))],
  },
  {
    title: "a campaign is added while the details of a withdrawn campaign are requested",
    list: "opportunities",
    records: 1,
    perPage: 2,
    steps: [run("sync", {}, at(2, event("swap")))],
  },
  {
    title: "one record is removed from a list without dates and another is added",
    list: "gifts",
    records: 1,
    perPage: 2,
    steps: [sync, event("withdraw"), event("new"), sync],
  },
  {
    title: "a host on a page that was already read leaves the roster",
    list: "roster",
    records: 30,
    perPage: 5,
    steps: [run("sync", {}, at(5, event("withdraw", 7_320)))],
  },
  {
    title: "two runs over short ranges each miss a change",
    list: "orders",
    records: 1,
    perPage: 2,
    steps: [
      sync,
      event("withdraw"),
      event("new"),
      run("sync", { untilDays: 1, full: true }),
      run("sync", { untilDays: 0 }),
    ],
  },
  {
    title: "--since is in the middle of a second",
    list: "orders",
    records: 3,
    perPage: 4,
    steps: [sync, run("sync", { sinceDays: 5 }, at(1, event("late", 0, 5)))],
  },
  {
    title: "an interrupted run stores an order from outside the date range that it records as read",
    list: "orders",
    records: 3,
    perPage: 2,
    steps: [run("sync", {}, at(3, "403")), event("withdraw"), run("sync", {}, at(5, "stop")), sync],
  },
  {
    title: "an order is cancelled in a range that a run does not read",
    list: "orders",
    seed: 382,
    records: 13,
    perPage: 2,
    steps: [sync, event("cancel", 3), run("sync", { untilDays: 40 })],
  },
  {
    title: "orders are withdrawn and old orders are added before an interrupted run is resumed",
    list: "orders",
    seed: 3,
    records: 30,
    perPage: 5,
    steps: [
      run("sync", {}, at(5, "stop")),
      event("withdraw", 1),
      event("withdraw", 2),
      event("late", 3, 600),
      event("late", 4, 600),
      sync,
    ],
  },
  {
    title: "only the start of a month has been read",
    list: "orders",
    seed: 382,
    records: 13,
    perPage: 2,
    steps: [run("sync", { untilDays: 16 }), verify],
  },
  {
    title: "a campaign's assignments change just before the API denies access in the middle of a run",
    list: "opportunities",
    records: 21,
    perPage: 4,
    steps: [sync, run("sync", {}, at(8, event("assign", 1_529)), at(8, "403")), sync],
  },
  {
    title: "an order is withdrawn during a repair",
    list: "orders",
    records: 9,
    perPage: 2,
    steps: [sync, event("refund"), run("repair", {}, at(16, event("withdraw")))],
  },
];

test.each(counterexamples.map((one) => [one.title, one.list, one] as const))(
  "if %s, sync and verify record nothing that contradicts the API's data (%s)",
  async (_title, list, { seed = 1, records, perPage, steps }) => {
    const scenario = { start: { seed, records, perSecond: 1 }, variants: { maxPerPage: perPage }, steps };
    expect(await play(list, scenario)).toEqual([]);
  },
);

const variantCounterexamples: VariantCounterexample[] = [
  {
    title: "the newest order is dated in the last minute of a range that an earlier run read",
    list: "orders",
    records: 5,
    perPage: 4,
    variants: { datePrecision: "minutes", dailyTotals: "recent" },
    steps: [event("withdraw"), run("sync", {}, at(3, "403")), event("withdraw", 3543), event("new"), sync],
  },
  {
    title:
      "the API denies access after a page that ends in the middle of a minute, and an order is replaced later",
    list: "orders",
    records: 50,
    perPage: 4,
    variants: { datePrecision: "minutes", dailyTotals: "absent" },
    steps: [
      run("sync", {}, at(1, event("sameSecond")), at(3, "403")),
      run("sync", {}, at(8, event("swap", 7210)), at(8, event("new"))),
    ],
  },
  {
    title: "an order is added with a date half a second before a range that was read",
    list: "orders",
    seed: 733,
    records: 27,
    perSecond: 5,
    perPage: 4,
    variants: { datePrecision: "rounded" },
    steps: [run("sync", {}, at(15, event("sameSecond", 1633)))],
  },
  {
    title: "responses omit records from one minute while the list changes during every read",
    list: "orders",
    seed: 746,
    records: 45,
    perPage: 8,
    variants: { datePrecision: "minutes" },
    steps: [
      event("swap"),
      run("sync", {}, at(13, event("withdraw", 956)), at(7, event("late", 0, 1)), at(19, event("withdraw"))),
      run("sync", { untilDays: 20 }),
    ],
  },
  {
    title: "an order with an unreadable date returns after it was missing from a killed run",
    list: "orders",
    seed: 289,
    records: 18,
    perSecond: 2,
    perPage: 4,
    variants: { datePrecision: "invalid" },
    steps: [
      sync,
      event("withdraw", 748),
      run("sync", {}, at(7, "kill")),
      event("withdraw"),
      event("return", 2907),
      sync,
    ],
  },
  {
    title: "a file with an unreadable date returns after it was missing from a killed run",
    list: "content",
    seed: 766,
    records: 20,
    perSecond: 2,
    perPage: 4,
    variants: { datePrecision: "invalid" },
    steps: [
      sync,
      sync,
      event("withdraw", 1949),
      run("sync", { windowDays: 33 }, at(9, "kill")),
      event("withdraw", 6971),
      event("return", 2907),
      sync,
    ],
  },
  {
    title: "the API sorts by ID, but denies access right after a response that happens to be sorted by date",
    list: "orders",
    seed: 4,
    records: 14,
    perSecond: 6,
    perPage: 4,
    variants: { order: "id" },
    steps: [
      run("sync", { sinceDays: 0 }),
      run("sync", { sinceDays: 290 }, at(3, "403")),
      event("withdraw"),
      event("return"),
      sync,
    ],
  },
  {
    title: "the API lists an older order among the many orders from one second, and the older order changes",
    list: "orders",
    seed: 748,
    records: 46,
    perSecond: 28,
    perPage: 4,
    variants: { includesRecordBelow: true, dailyTotals: "recent", pastEnd: "refused" },
    steps: [
      event("withdraw", 9_570, 4),
      event("late", 1_455, 3),
      run("sync", {}, at(23, event("defaultRate", 6_201, 675))),
      run("sync", {}),
    ],
  },
  {
    title: "a run reads no new dates while the API adds an undated order to every date range",
    list: "orders",
    records: 1,
    perSecond: 2,
    undated: 3,
    perPage: 4,
    variants: { undated: "in every range" },
    steps: [
      run("sync", {}, at(1, event("new")), at(5, event("withdraw"))),
      event("withdraw"),
      run("sync", {}, at(1, "403")),
      event("withdraw"),
      event("return"),
      run("sync", { sinceDays: 0 }),
    ],
  },
  {
    title: "the API ignores date filters, and an order is added after a run was killed at its first response",
    list: "orders",
    records: 1,
    perPage: 4,
    variants: { ignoresDateFilters: true, dailyTotals: "absent" },
    steps: [run("sync", {}, at(3, "kill")), event("withdraw"), event("new"), run("sync", { untilDays: 1 })],
  },
];

test.each(variantCounterexamples.map((one) => [one.title, one.list, one] as const))(
  "if %s, sync and verify record nothing that contradicts the API's data (%s)",
  async (_title, listName, { seed = 1, records, perSecond = 1, undated = 0, perPage, variants, steps }) => {
    const variant = { name: "", listName, options: {}, knownGap: null, isReadByPage: true };
    const start = { seed, records, perSecond, undated };
    const scenario = { start, variants: { maxPerPage: perPage, ...variants }, steps };
    expect((await playVariant(variant, scenario)).falseClaims).toEqual([]);
  },
);
