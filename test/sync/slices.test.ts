import { expect, test } from "vitest";
import { readRange } from "../../src/sync/read-range.js";
import { endRun } from "../../src/sync/session.js";
import { describeFaultySlices, readSlice, type SliceReading, storeSlice } from "../../src/sync/slices.js";
import { dayRange, utcDay } from "../../src/util/time-ranges.js";
import { makeMirror } from "../support/mirror.js";
import { at, day, noon, orderAt } from "../support/records.js";
import { type ListedOrder, listedAt, makeDatedRun } from "./dated-run.js";

const date = noon - 10 * day;
const slice = dayRange(utcDay(date));

/** Returns an order that the API lists for `date`, although the order's own date is different or unreadable. */
const misdated = (id: string, order_date: string | null): ListedOrder => ({
  at: date,
  record: { ...orderAt(id, null), order_date } as ListedOrder["record"],
});

test("readSlice separates valid records from faulty ones (duplicates and records with wrong dates), and describes the first fault", async () => {
  const listed = [
    listedAt("a", date),
    misdated("b", "soon"),
    misdated("c", at(date - 2 * day)),
    listedAt("d", date),
    listedAt("d", date),
  ];
  const { run } = await makeDatedRun(listed);
  const { fault, faulty, valid } = await readSlice(run, slice);
  const ids = (records: SliceReading["valid"]) => records.map(({ record }) => (record as { id: string }).id);
  expect([fault, ids(valid), ids(faulty)]).toEqual([
    '`b`: `order_date` "soon" is not a readable date',
    ["a"],
    ["b", "c", "d"],
  ]);
});

/**
 * Syncs the slice and the preceding day while the API lists `before`, and then re-syncs the slice while the API lists
 * `after`.
 */
async function resync(before: readonly ListedOrder[], after: readonly ListedOrder[]) {
  const mirror = await makeMirror();
  const apiTotals = new Map([[utcDay(date), { count: 1, amounts: [10] }]]);
  const { run: first } = await makeDatedRun(before, { mirror, apiTotals });
  for (const range of [dayRange(utcDay(date - day)), slice]) storeSlice(first, await readSlice(first, range));
  endRun(first, { outcome: "done", error: null, columns: { verified: true, api_total: 1, mirror_total: 1 } });
  const { run } = await makeDatedRun(after, { mirror });
  const copies = storeSlice(run, await readSlice(run, slice));
  const logged = mirror.selectValues<string>("SELECT key FROM changes");
  return { run, copies, logged, hasTotals: run.state.storedTotals.load().size > 0 };
}

const order = listedAt("a", date);

test.each([
  ["keeps the day's stored totals if all records are unchanged", [order], true, []],
  ["discards the day's stored totals if a record was added", [order, listedAt("b", date)], false, ["b"]],
  [
    "discards the day's stored totals if a record has changed",
    [listedAt("a", date, { refund_amount: 5 })],
    false,
    ["a"],
  ],
  ["discards the day's stored totals if the API lists an unchanged record twice", [order, order], false, []],
])("when sync re-reads a day, it %s", async (_, after, keepsTotals, changes) => {
  const { hasTotals, logged } = await resync([order], after);
  expect([hasTotals, logged]).toEqual([keepsTotals, changes]);
});

test("if the API returns a new record for a date range that does not include the record's date, storeSlice marks the record as missing, but logs no change", async () => {
  const { logged, run } = await resync([order], [order, misdated("b", at(date - day))]);
  expect([logged, run.state.missing.load()]).toMatchObject([[], [{ date: date - day }]]);
});

test("if the API returns a mirrored record with an older date, storeSlice keeps the stored copy, and marks the record as faulty if the older date is outside the requested range", async () => {
  const before = [order, listedAt("b", date + 2 * day), listedAt("c", date + 2 * day)];
  const mirror = await makeMirror();
  const { run: first } = await makeDatedRun(before, { mirror });
  storeSlice(first, await readSlice(first, { from: slice.from, to: noon }));
  const { run } = await makeDatedRun([order, listedAt("b", date), misdated("c", at(date - day))], { mirror });
  const copies = storeSlice(run, await readSlice(run, slice));
  expect(copies).toMatchObject([{ value: { id: "b" } }, { value: { id: "c" } }]);
  expect(run.state.loadFaultyIds()).toEqual(new Set([copies[1]?.id]));
});

test("storeSlice reports that a date range's list never settled if the list changed during every read, unless the list contains duplicate IDs", async () => {
  const { run: settled } = await resync([order], [order]);
  expect(settled.unsettledSlices.describe()).toEqual([]);
  const { run } = await makeDatedRun([order, order]);
  storeSlice(run, await readSlice(run, slice));
  expect(run.unsettledSlices.describe()).toEqual([]);
  const reading = await readSlice(run, slice);
  storeSlice(run, { ...reading, list: { ...reading.list, repeated: [] } });
  expect(run.unsettledSlices.describe()).toEqual([
    "2026-11-11 00:00 to 2026-11-11 23:59 never settled: the API counts 2, but returned 1 distinct record",
  ]);
});

/** Creates a run in which the list for the slice never settled. */
async function makeUnsettledRun() {
  const { run } = await makeDatedRun([order]);
  const reading = await readSlice(run, slice);
  storeSlice(run, { ...reading, list: { ...reading.list, isComplete: false } });
  return { run, reading };
}

const secondBefore = { from: date - 1_000, to: date - 1 };
const olderHalf = { from: slice.from, to: date - 1 };
const newerHalf = { from: date, to: slice.to };
const widerRange = { from: slice.from - day, to: slice.to + day };

test.each([
  ["stops reporting", "all of the range", [slice]],
  ["stops reporting", "a longer range", [widerRange]],
  ["stops reporting", "each half of the range", [newerHalf, olderHalf]],
  ["still reports", "only half of the range", [newerHalf]],
  ["still reports", "all but two seconds of the range", [{ from: slice.from + 1_000, to: slice.to - 1_000 }]],
  ["still reports", "a different range", [dayRange(utcDay(date - day))]],
])(
  "storeSlice %s that a date range's list never settled after the same run has completely read %s",
  async (reports, _, ranges) => {
    const { reading, run } = await makeUnsettledRun();
    for (const range of ranges) storeSlice(run, { ...reading, slice: range });
    expect(run.unsettledSlices.describe().length > 0).toBe(reports === "still reports");
  },
);

test("a date range whose list never settled is no longer reported after the same run has read both halves of the range, newest first", async () => {
  const { run } = await makeUnsettledRun();
  await readRange(run, newerHalf);
  expect(run.unsettledSlices.describe()).toHaveLength(1);
  await readRange(run, olderHalf);
  expect(run.unsettledSlices.describe()).toEqual([]);
});

test("if the list for a single second never settles after a complete read of the surrounding date range, storeSlice reports only that second", async () => {
  const { reading, run } = await makeUnsettledRun();
  storeSlice(run, reading);
  storeSlice(run, { ...reading, slice: secondBefore, list: { ...reading.list, isComplete: false } });
  expect(run.unsettledSlices.describe()).toEqual([
    expect.stringContaining("2026-11-11 11:59 to 2026-11-11 11:59 never settled"),
  ]);
});

test.each([
  ["is empty if all records are valid", [order], null],
  [
    "contains the fault and the number of faulty records",
    [order, order, misdated("b", at(date - day))],
    "`a` is listed more than once (2 such records)",
  ],
  [
    "contains the number of faulty records without a readable date",
    [order, order, misdated("b", null)],
    "`a` is listed more than once (2 such records, 1 without a readable date)",
  ],
])(
  "the description of faulty records (duplicates and wrong dates) in the mirror %s",
  async (_, listed, text) => {
    const { run } = await makeDatedRun(listed);
    storeSlice(run, await readSlice(run, slice));
    expect(describeFaultySlices(run)).toBe(text);
  },
);

test("the description of faulty records includes the number of records without a readable date, even if no date range is faulty", async () => {
  const { run } = await makeDatedRun([]);
  run.mirror.transaction(() => run.writer.write([misdated("b", "soon").record], { requestedAt: noon }));
  expect(describeFaultySlices(run)).toBe("1 record without a readable date");
});
