import { expect, test } from "vitest";
import {
  combineParts,
  createUnprovenResult,
  listProblems,
  needsApi,
  type PartResult,
  type RecordsResult,
} from "../../src/verify/verification-result.js";

const part = (fields: Partial<PartResult>): PartResult => ({
  kind: "month",
  part: "2026-01",
  state: "proven",
  why: "a reason",
  read_at: null,
  ...fields,
});
const differing = (...names: string[]) => names.map((name) => part({ part: name, state: "different" }));
const resultOf = (fields: Partial<RecordsResult>): RecordsResult => ({
  ...createUnprovenResult("orders", "a reason"),
  parts: [],
  ...fields,
});

test.each<[string, PartResult["state"], PartResult["state"][]]>([
  ["no months", "unproven", []],
  ["a proven month", "proven", ["proven"]],
  ["a proven and an unproven month", "unproven", ["proven", "unproven"]],
  ["an unproven, a different and a proven month", "different", ["unproven", "different", "proven"]],
])("verify reports a resource with %s as %s", (_, combined, states) => {
  expect(combineParts(states.map((state) => part({ state })))).toBe(combined);
});

test.each<[string, string, Partial<RecordsResult>, string | null, [kind: string, text: string][]]>([
  ["all months are proven", "no problem", { parts: [part({})], unread: 0, unsettled: false }, null, []],
  [
    "one month is different",
    "orders differs from the API (2026-01)",
    { parts: differing("2026-01") },
    null,
    [["different", "orders differs from the API (2026-01)"]],
  ],
  [
    "three months are different",
    "orders differs from the API (2026-01, 2026-02, 2026-03)",
    { parts: [part({}), ...differing("2026-01", "2026-02", "2026-03")] },
    null,
    [["different", "orders differs from the API (2026-01, 2026-02, 2026-03)"]],
  ],
  [
    "four months are different",
    "orders differs from the API (2026-01, 2026-02, 2026-03 and 1 more)",
    { parts: differing("2026-01", "2026-02", "2026-03", "2026-04") },
    null,
    [["different", "orders differs from the API (2026-01, 2026-02, 2026-03 and 1 more)"]],
  ],
  [
    "one record is unread",
    "orders has 1 record that has not been read yet",
    { unread: 1 },
    null,
    [["unread", "orders has 1 record that has not been read yet"]],
  ],
  [
    "two records are unread",
    "orders has 2 records that have not been read yet",
    { unread: 2 },
    null,
    [["unread", "orders has 2 records that have not been read yet"]],
  ],
  [
    "the API returns some records only when no date range is requested",
    "orders cannot be verified",
    { parts: [part({ kind: "unreachable" })], unsettled: true },
    null,
    [["unsettled", "orders cannot be verified: a reason"]],
  ],
  [
    "the list changed during every read",
    "orders cannot be verified",
    { parts: [part({ kind: "list" })], unsettled: true },
    null,
    [["unsettled", "orders cannot be verified: a reason"]],
  ],
  [
    "the list did not change while it was read",
    "no problem",
    { parts: [part({ kind: "list" })], unsettled: false },
    null,
    [],
  ],
  [
    "dates are unexpected and counts are wrong",
    "only the unexpected dates",
    {
      parts: [part({ kind: "unreachable" }), part({ kind: "unexpected-dates", why: "a date" })],
      unsettled: true,
    },
    null,
    [["unexpected-dates", "orders has unexpected dates or IDs: a date"]],
  ],
  [
    "there are several kinds of problems",
    "one problem of each kind",
    { parts: [...differing("2026-01"), part({ kind: "unreachable" })], unread: 3, unsettled: true },
    "tables differ",
    [
      ["different", "orders differs from the API (2026-01)"],
      ["unread", "orders has 3 records that have not been read yet"],
      ["tables", "tables differ"],
      ["unsettled", "orders cannot be verified: a reason"],
    ],
  ],
])("if %s, verify reports: %s", (_title, _list, fields, tableError, problems) => {
  const listed = listProblems(resultOf(fields), tableError);
  expect(listed.map(({ kind, text }) => [kind, text])).toEqual(problems);
});

test("needsApi returns true if all problems of a resource are unexpected dates, which only the API can correct", () => {
  const problem = (kind: "unexpected-dates" | "unread") => ({ kind, text: "" });
  const dates = problem("unexpected-dates");
  expect([[], [dates], [dates, problem("unread")]].map((problems) => needsApi(problems))).toEqual([
    false,
    true,
    false,
  ]);
});
