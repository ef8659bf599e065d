import { expect, test } from "vitest";
import type { SyncedDates } from "../../src/store/coverage.js";
import { decideUpdate, type StateUpdate, type WrittenReading } from "../../src/store/state-update.js";

/** The mirrored records' dates by ID. IDs 1 to 3 belong to the first day, 4 to the next day; 8 and 9 are undated. */
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
  coverage: [5_000, 1_000, 3_000].map((from) => ({ from, to: from + 999, requestedAt: 1, runId: 1 })),
  faultySlices: [],
};
const faulty: SyncedDates = {
  coverage: [],
  faultySlices: [{ ...firstDay, requestedAt: 1, runId: 1, recordIds: [3, 9], fault: "a fault" }],
};
const nextSlice = { ...secondDay, requestedAt: 1, runId: 1, recordIds: [8], fault: "a fault" };
const changed = { from: 100, to: 200 };
const update = (before: SyncedDates, reading: Partial<WrittenReading>) =>
  decideUpdate(
    before,
    { runId: 2, range: firstDay, requestedAt: 2, isComplete: true, ids: [], ...reading },
    {
      currentIds: () => [1, 2, 3],
      dateOf: (id) => dateOf.get(id) ?? null,
      isUndated: (id) => dateOf.get(id) === null,
    },
  );
const read = { ...firstDay, requestedAt: 2, runId: 2 };
const fault = { addedIds: [], fault: "a new fault" };

test.each<
  [title: string, before: SyncedDates, reading: Partial<WrittenReading>, expected: Partial<StateUpdate>]
>([
  [
    "a record that a complete read did not return is missing, and the stored totals of the range are outdated",
    unread,
    { ids: [1, 2], changed },
    { notMissing: [1, 2], missing: [{ id: 3, lastSeenAt: null }], outdatedTotals: [changed, firstDay] },
  ],
  [
    "if a complete read returned all records, only the stored totals of changed records are outdated",
    unread,
    { ids: [1, 2, 3], changed },
    { missing: [], outdatedTotals: [changed] },
  ],
  [
    "an incomplete read marks no records as missing, and does not change which dates count as read",
    covered,
    { isComplete: false, ids: [1], changed },
    { dates: null, notMissing: [1], missing: [], outdatedTotals: [changed] },
  ],
  [
    "a complete read replaces a faulty range, and records without a readable date that the read did not return are missing",
    faulty,
    { ids: [1, 2, 3] },
    { dates: { coverage: [read], faultySlices: [] }, missing: [{ id: 9, lastSeenAt: null }] },
  ],
  [
    "a record without a readable date that a complete read returns is not missing",
    faulty,
    { ids: [1, 2, 3, 9] },
    { notMissing: [1, 2, 3, 9], missing: [] },
  ],
  [
    "if a read returns records for wrong dates, the requested range is stored as faulty, and no record in the range is marked as missing",
    unread,
    { ids: [1], faulty: { ...fault, ids: [9] } },
    {
      dates: { coverage: [], faultySlices: [{ ...read, recordIds: [9], fault: "a new fault" }] },
      notMissing: [1, 9],
      missing: [],
      outdatedTotals: [firstDay],
    },
  ],
  [
    "a new record that the API returned for a different date is missing if its own date had already been read",
    covered,
    { faulty: { ...fault, ids: [3, 4], addedIds: [3, 4] } },
    { notMissing: [], missing: [{ id: 4, lastSeenAt: null }] },
  ],
  [
    "a new record without a readable date is not missing, even if all dates have been read",
    { coverage: [{ from: Number.NEGATIVE_INFINITY, to: 1_999, requestedAt: 1, runId: 1 }], faultySlices: [] },
    { faulty: { ...fault, ids: [9], addedIds: [9] } },
    { notMissing: [9], missing: [] },
  ],
  [
    "an incomplete read keeps the records without a readable date from the faulty ranges that it replaces",
    faulty,
    { isComplete: false, faulty: { ...fault, ids: [1] } },
    {
      dates: { coverage: [], faultySlices: [{ ...read, recordIds: [1, 9], fault: "a new fault" }] },
      missing: [],
    },
  ],
  [
    "an incomplete read of one faulty range leaves the records of other faulty ranges unchanged",
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
    "records without a readable date that a complete read did not return are missing, even if other records were faulty",
    faulty,
    { faulty: { ...fault, ids: [1] } },
    {
      dates: { coverage: [], faultySlices: [{ ...read, recordIds: [1], fault: "a new fault" }] },
      missing: [{ id: 9, lastSeenAt: null }],
    },
  ],
])("stored state after a read: %s", (_, before, reading, expected) => {
  expect(update(before, reading)).toMatchObject(expected);
});
