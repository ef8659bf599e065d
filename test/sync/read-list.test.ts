import { expect, test } from "vitest";
import type { ApiClient } from "../../src/api/client.js";
import type { ApiResponse } from "../../src/api/response.js";
import { BadRequest, NotFound } from "../../src/errors.js";
import { orders } from "../../src/resources/orders.js";
import type { Resource } from "../../src/resources/resource.js";
import { gifts } from "../../src/resources/undocumented.js";
import { describeIncompleteList, groupByResponse, readList } from "../../src/sync/read-list.js";
import type { ResourceRun } from "../../src/sync/session.js";
import type { Json } from "../../src/util/json-value.js";

/** A response: `total_items`, followed by the records, which are objects or IDs. */
type Page = [total: number, ...records: Json[]];
type Request = Parameters<ApiClient["get"]>[1];

/**
 * Creates a run. For each read of the list, the API returns the next element of `readings`, or the last
 * element if none remain. Each request takes one millisecond.
 */
function makeRun(
  readings: readonly (readonly Page[])[],
  { resource = orders as Resource, reject = (_: Request): Error | null => null } = {},
) {
  const requests: Request[] = [];
  const remaining: number[] = [];
  let reading = -1;
  const get = async (_: string, query: Request = {}): Promise<ApiResponse> => {
    requests.push(query);
    const error = reject(query);
    if (error) throw error;
    const page = Number(query.page ?? 1);
    if (page === 1) reading += 1;
    const pages = readings[Math.min(reading, readings.length - 1)] ?? [];
    const [total, ...records] = pages[page - 1] ?? [0];
    const items = records.map((record) => (typeof record === "string" ? { id: record } : record));
    const pagination = {
      page,
      per_page: 100,
      total_items: total,
      total_pages: pages.length,
      has_next: page < pages.length,
      has_prev: page > 1,
    };
    return { data: items, items, pagination, requestedAt: requests.length, serverTime: null };
  };
  const progress = { advance: (pages: number) => void remaining.push(pages) };
  const run = { api: { get }, progress, resource } as unknown as ResourceRun;
  return { run, requests, remaining, countReadings: () => reading + 1 };
}

const duplicate: Page[] = [
  [4, "a", "b"],
  [4, "b", "c"],
];
/** Simulates reads of a list in random order. Each read returns the first record twice, and one other record. */
const randomReadings = (count: number, total: number): Page[][] =>
  Array.from({ length: count }, (_, n): Page[] => [[total, "a", "a", `b${n}`]]);

const lists: [
  title: string,
  readings: Page[][],
  expected: { readings: number; records: number; isComplete: boolean; repeated?: string[] },
][] = [
  [
    "once if the record count of the first read equals the count that the API reports",
    [
      [
        [4, "a", "b"],
        [4, "c", "d"],
      ],
    ],
    { readings: 1, records: 4, isComplete: true },
  ],
  [
    "a second time if it shrinks between two pages",
    [
      [
        [4, "a", "b"],
        [3, "c"],
      ],
      [[3, "a", "b", "c"]],
    ],
    { readings: 2, records: 3, isComplete: true },
  ],
  [
    "until several reads together have returned all records",
    [
      duplicate,
      [
        [4, "a", "b"],
        [4, "a", "d"],
      ],
    ],
    { readings: 2, records: 4, isComplete: true },
  ],
  [
    "a third time if its length has changed, even if the first two reads together return all records",
    [[[4, "a", "b"]], [[3, "b", "c"]], [[3, "a", "b", "c"]]],
    { readings: 3, records: 3, isComplete: true },
  ],
  [
    "at most three times, and reports the IDs that every read repeats",
    [duplicate],
    { readings: 3, records: 3, isComplete: false, repeated: ["b"] },
  ],
  [
    "without reporting a repeated ID if the list changes its order between reads",
    [
      duplicate,
      [
        [4, "b", "a"],
        [4, "b", "c"],
      ],
    ],
    { readings: 4, records: 3, isComplete: false },
  ],
  [
    "without reporting a repeated ID if the list changes its length between reads",
    [duplicate, [[5, "a", "b", "b", "c"]], duplicate],
    { readings: 3, records: 3, isComplete: false },
  ],
  [
    "at most three times if it has more records than the API reports",
    [[[2, "a", "b", "c"]], [[2, "b", "a", "c"]]],
    { readings: 3, records: 3, isComplete: false },
  ],
  [
    "until it is complete, as long as its length stays the same and one of the last three reads has found new records",
    randomReadings(8, 9),
    { readings: 8, records: 9, isComplete: true },
  ],
  [
    "at most twelve times, even if every read finds new records",
    randomReadings(20, 21),
    { readings: 12, records: 13, isComplete: false },
  ],
  [
    "until three consecutive reads have found no new records",
    [...randomReadings(4, 21), ...randomReadings(1, 21)],
    { readings: 7, records: 5, isComplete: false },
  ],
  [
    "at most three times if its length changes while reads find new records",
    [[[9, "a", "b"]], [[8, "a", "c"]], [[9, "a", "d"]], [[9, "a", "e"]]],
    { readings: 3, records: 4, isComplete: false },
  ],
];

test.each(lists)("readList reads a list %s", async (_, readings, { repeated = [], ...expected }) => {
  const { countReadings, run } = makeRun(readings);
  const list = await readList(run);
  expect({
    readings: countReadings(),
    records: list.records.size,
    isComplete: list.isComplete,
    repeated: list.repeated,
  }).toEqual({ ...expected, repeated });
});

test("if a mirrored record is absent from a complete list, readList re-reads the list and merges both reads", async () => {
  const changed = { id: "b", refund_amount: 5 };
  const { countReadings, run } = makeRun([[[2, "a", "b"]], [[2, changed, "c"]]]);
  const list = await readList(run, { mirroredKeys: ["c"] });
  const records = [...list.records].map(([id, { record }]) => [id, record]).sort();
  expect([countReadings(), list.requestedAt]).toEqual([2, 1]);
  expect(records).toEqual([
    ["a", { id: "a" }],
    ["b", changed],
    ["c", { id: "c" }],
  ]);
});

test("readList re-reads a complete list that lacks a record from an earlier, incomplete read", async () => {
  const incomplete: Page[] = [
    [4, "a", "b"],
    [3, "c"],
  ];
  // After the first page, `a` is removed and `d` is added, so `c` moves to the page that has already been read.
  const lacking: Page[] = [
    [3, "a", "b"],
    [3, "d"],
  ];
  const { countReadings, run } = makeRun([incomplete, lacking, [[3, "b", "c", "d"]]]);
  const list = await readList(run, { mirroredKeys: [] });
  expect([countReadings(), list.isComplete, list.requestedAt]).toEqual([3, true, 3]);
  expect([...list.records.keys()].sort()).toEqual(["a", "b", "c", "d"]);
});

test("readList reads a complete list only once if the list contains all mirrored records", async () => {
  const { countReadings, run } = makeRun([[[2, "a", "b"]]]);
  await readList(run, { mirroredKeys: ["b"] });
  expect(countReadings()).toBe(1);
});

test("readList does not re-read an incomplete list from which a mirrored record is absent", async () => {
  const { countReadings, run } = makeRun([duplicate]);
  await readList(run, { mirroredKeys: ["z"] });
  expect(countReadings()).toBe(3);
});

const dated = (order_date: string | null, copy: number): Json => ({ id: "a", order_date, copy });
const [monday, tuesday] = ["2026-11-16T10:00:00Z", "2026-11-17T10:00:00Z"];

test.each([
  ["the record with the newer date from a later response", [dated(monday, 1)], [dated(tuesday, 2)], 2],
  ["the record with the newer date from an earlier response", [dated(tuesday, 1)], [dated(monday, 2)], 1],
  ["the record in the later response if both dates are equal", [dated(monday, 1)], [dated(monday, 2)], 2],
  [
    "the record in the later response if that record's date is unreadable",
    [dated(monday, 1)],
    [dated(null, 2)],
    2,
  ],
  ["the first record in a response if both dates are equal", [dated(monday, 1), dated(monday, 2)], [], 1],
  [
    "the first record in a response even if that record's date is unreadable",
    [dated("soon", 1), dated(monday, 2)],
    [],
    1,
  ],
])("if a list contains an ID twice, readList keeps %s", async (_, first, second, kept) => {
  const { run } = makeRun([
    [
      [2, ...first],
      [2, ...second],
    ],
  ]);
  const { records } = await readList(run);
  expect([...records.values()].map(({ record }) => record)).toMatchObject([{ copy: kept }]);
});

test("readList counts identical records without an ID separately if they are in the same response, but not if they are in different responses", async () => {
  const anonymous = { points: 5 };
  const { run } = makeRun([
    [
      [3, anonymous, anonymous],
      [3, anonymous, { points: 6 }],
    ],
  ]);
  const { isComplete, records } = await readList(run, { idOf: () => null });
  expect([isComplete, records.size]).toEqual([true, 3]);
});

test("readList reports the number of remaining pages after each response", async () => {
  const { remaining, run } = makeRun([
    [
      [3, "a"],
      [3, "b"],
      [3, "c"],
    ],
  ]);
  await readList(run);
  expect(remaining).toEqual([2, 1, 0]);
});

const refusal = { hint: "none", status: 400 };
const rejectPages = (error: Error) => (query: Request) => (query?.page ? error : null);

test("if the API rejects page numbers, readList returns the first response as an incomplete list", async () => {
  const reject = rejectPages(new BadRequest("page is unknown", refusal));
  const { run } = makeRun([[[3, "a", "b"]]], { resource: gifts, reject });
  const { isComplete, records, total } = await readList(run);
  expect([isComplete, records.size, total]).toEqual([false, 2, 3]);
});

test("if a page request fails for a reason other than a rejected parameter, such as a 404, readList throws the error", async () => {
  const reject = rejectPages(new NotFound("no such page", refusal));
  const { run } = makeRun([[[3, "a", "b"]]], { resource: gifts, reject });
  await expect(readList(run)).rejects.toThrow("no such page");
});

test.each([
  ["one repeated ID", "contains duplicate IDs: `a`", ["a"]],
  ["three repeated IDs", "contains duplicate IDs: `a`, `b`, `c`", ["a", "b", "c"]],
  ["five repeated IDs", "contains duplicate IDs: `a`, `b`, `c` and 2 more", ["a", "b", "c", "d", "e"]],
  ["no repeated IDs", "never settled: the API counts 2, but returned 1 distinct record", []],
])("an incomplete list with %s is described as: %s", (_, text, repeated) => {
  const records = new Map([["a", { record: null, requestedAt: 0 }]]);
  expect(describeIncompleteList({ records, repeated, total: 2, requestedAt: 0, isComplete: false })).toBe(
    text,
  );
});

test("groupByResponse groups consecutive records by the time of their request", () => {
  const records = [1, 1, 2, 1].map((requestedAt, record) => ({ record, requestedAt }));
  expect(groupByResponse(records)).toEqual([
    { items: [0, 1], requestedAt: 1, position: 0 },
    { items: [2], requestedAt: 2, position: 2 },
    { items: [3], requestedAt: 1, position: 3 },
  ]);
});
