import { expect, test } from "vitest";
import { planAudit } from "../../src/sync/audit.js";

const first = Number.NEGATIVE_INFINITY;
/** Days are numbered from 0 to 100. Dates last read before day 100 are stale. */
const stale = 100;
const read = (from: number, to: number, requestedAt: number) => ({ from, to, requestedAt, runId: 1 });
const slice = (from: number, to: number, requestedAt: number) => ({
  ...read(from, to, requestedAt),
  recordIds: [],
  fault: "a fault",
});
const plan = (...args: Parameters<typeof planAudit>) =>
  planAudit(...args).map(({ from, to, isFaulty }) => (isFaulty ? [from, to, "faulty"] : [from, to]));

test("the audit continues backward from where the previous audit stopped and, after the oldest date, starts over with the newest", () => {
  const coverage = [read(first, 19, 1), read(30, 59, 2), read(70, 99, 3)];
  expect(plan(coverage, [], 39, stale)).toEqual([
    [30, 39],
    [first, 19],
    [70, 99],
    [40, 59],
  ]);
});

test("the audit re-reads contiguous dates as one range, and skips dates that were read recently", () => {
  const coverage = [read(first, 19, 1), read(20, 39, 2), read(40, 49, stale), read(50, 99, 3)];
  expect(plan(coverage, [], 99, stale)).toEqual([
    [50, 99],
    [first, 39],
  ]);
});

const twoSlices = [slice(50, 52, 60), slice(56, 59, 10), slice(90, 99, stale)];

test("the audit starts with the faulty date ranges if at least one of them was last read earlier than the next dates to audit", () => {
  expect(plan([read(first, 49, 5), read(60, 89, 50)], twoSlices, 99, stale)).toEqual([
    [56, 59, "faulty"],
    [50, 52, "faulty"],
    [60, 89],
    [first, 49],
  ]);
});

test("the audit ends with the faulty date ranges if all of them were last read later than the next dates to audit", () => {
  expect(plan([read(first, 49, 50), read(60, 89, 5)], twoSlices, 99, stale)).toEqual([
    [60, 89],
    [first, 49],
    [56, 59, "faulty"],
    [50, 52, "faulty"],
  ]);
});
