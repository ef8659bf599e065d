import { expect, test } from "vitest";
import type { SyncedDates } from "../../src/store/coverage.js";
import { decideUpdate, type RangeReading, type StateUpdate } from "../../src/store/state-update.js";

/** The dates of the mirrored records by ID: 1 to 3 on the first day, 4 on the second day, 8 and 9 without readable dates. */
const dateOf = new Map<number, number | null>([
  [1, 100],
  [2, 200],
  [3, 300],
  [4, 1_100],
  [8, null],
  [9, null],
]);
const [firstDay, secondDay] = [
  { from: 0, to: 999 },
  { from: 1_000, to: 1_999 },
];
const unread: SyncedDates = { coverage: [], faultySlices: [] };
const covered: SyncedDates = {
  coverage: [5_000, 1_000, 3_000].map((from) => ({ from, to: from + 999, readAt: 1, runId: 1 })),
  faultySlices: [],
};
const faulty: SyncedDates = {
  coverage: [],
  faultySlices: [{ ...firstDay, readAt: 1, runId: 1, recordIds: [3, 9], fault: "a fault" }],
};
const nextSlice = { ...secondDay, readAt: 1, runId: 1, recordIds: [8], fault: "a fault" };
const changed = { from: 100, to: 200 };
const update = (before: SyncedDates, reading: Partial<RangeReading>) =>
  decideUpdate(
    before,
    { runId: 2, range: firstDay, requestedAt: 2, isComplete: true, ids: [], ...reading },
    { expectedIds: () => [1, 2, 3], dateOf: (id) => dateOf.get(id) },
  );
const read = { ...firstDay, readAt: 2, runId: 2 };
const fault = { added: [], fault: "a new fault" };

test.each<
  [title: string, before: SyncedDates, reading: Partial<RangeReading>, expected: Partial<StateUpdate>]
>([
  [
    "after a complete read, the records of its range that it did not return are missing, and their totals are outdated",
    unread,
    { ids: [1, 2], changed },
    { returned: [1, 2], missing: [3], otherMissing: [], outdatedTotals: [changed, firstDay] },
  ],
  [
    "a complete read without missing records makes only the totals of changed records outdated",
    unread,
    { ids: [1, 2, 3], changed },
    { missing: [], outdatedTotals: [changed] },
  ],
  [
    "an incomplete read finds records, and changes neither the coverage nor which other records are missing",
    covered,
    { isComplete: false, ids: [1], changed },
    { dates: null, returned: [1], missing: [], otherMissing: [], outdatedTotals: [changed] },
  ],
  [
    "a complete read replaces a faulty slice, and its undated records are missing unless they were returned",
    faulty,
    { ids: [1, 2, 3] },
    { dates: { coverage: [read], faultySlices: [] }, otherMissing: [9] },
  ],
  [
    "an undated record that a complete read returns is not missing",
    faulty,
    { ids: [1, 2, 3, 9] },
    { returned: [1, 2, 3, 9], otherMissing: [] },
  ],
  [
    "faulty records make the range a faulty slice in which no record is missing",
    unread,
    { ids: [1], faulty: { ...fault, ids: [9] } },
    {
      dates: { coverage: [], faultySlices: [{ ...read, recordIds: [9], fault: "a new fault" }] },
      returned: [1, 9],
      missing: [],
      outdatedTotals: [firstDay],
    },
  ],
  [
    "a new record that was returned for another date is missing if its own date is covered",
    covered,
    { faulty: { ...fault, ids: [3, 4], added: [3, 4] } },
    { returned: [], otherMissing: [4] },
  ],
  [
    "a new record without a readable date is not missing, even if all dates are covered",
    { coverage: [{ from: Number.NEGATIVE_INFINITY, to: 1_999, readAt: 1, runId: 1 }], faultySlices: [] },
    { faulty: { ...fault, ids: [9], added: [9] } },
    { returned: [9], otherMissing: [] },
  ],
  [
    "an incomplete read keeps the undated records of the faulty slices that it replaces",
    faulty,
    { isComplete: false, faulty: { ...fault, ids: [1] } },
    {
      dates: { coverage: [], faultySlices: [{ ...read, recordIds: [1, 9], fault: "a new fault" }] },
      otherMissing: [],
    },
  ],
  [
    "an incomplete read does not keep the undated records of other faulty slices, and lists each record once",
    { ...faulty, faultySlices: [...faulty.faultySlices, nextSlice] },
    { isComplete: false, faulty: { ...fault, ids: [1, 9] } },
    {
      dates: {
        coverage: [],
        faultySlices: [{ ...read, recordIds: [1, 9], fault: "a new fault" }, nextSlice],
      },
    },
  ],
  [
    "undated records of an earlier faulty slice are missing if a complete read of its dates does not return them, even if it returns other faulty records",
    faulty,
    { faulty: { ...fault, ids: [1] } },
    {
      dates: { coverage: [], faultySlices: [{ ...read, recordIds: [1], fault: "a new fault" }] },
      otherMissing: [9],
    },
  ],
])("decideUpdate: %s", (_, before, reading, expected) => {
  expect(update(before, reading)).toMatchObject(expected);
});
