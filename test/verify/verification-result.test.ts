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

test.each<[PartResult["state"][], PartResult["state"]]>([
  [[], "unproven"],
  [["proven"], "proven"],
  [["proven", "unproven"], "unproven"],
  [["unproven", "different", "proven"], "different"],
])("parts with the states %j are combined to %s", (states, combined) => {
  expect(combineParts(states.map((state) => part({ state })))).toBe(combined);
});

test.each<[string, Partial<RecordsResult>, string | null, [kind: string, text: string][]]>([
  ["proven", { parts: [part({})], unread: 0, unsettled: false }, null, []],
  [
    "with one different month",
    { parts: differing("a") },
    null,
    [["different", "orders differs from the API (a)"]],
  ],
  [
    "with three different months",
    { parts: [part({}), ...differing("a", "b", "c")] },
    null,
    [["different", "orders differs from the API (a, b, c)"]],
  ],
  [
    "with four different months",
    { parts: differing("a", "b", "c", "d") },
    null,
    [["different", "orders differs from the API (a, b, c and 1 more)"]],
  ],
  [
    "with one unread record",
    { unread: 1 },
    null,
    [["unread", "orders has 1 record that has not been read yet"]],
  ],
  [
    "with unread records",
    { unread: 2 },
    null,
    [["unread", "orders has 2 records that have not been read yet"]],
  ],
  [
    "with records for no date range",
    { parts: [part({ kind: "undated" })], unsettled: true },
    null,
    [["unsettled", "orders cannot be verified: a reason"]],
  ],
  [
    "with a list that never settled",
    { parts: [part({ kind: "list" })], unsettled: true },
    null,
    [["unsettled", "orders cannot be verified: a reason"]],
  ],
  ["with a list with outdated details", { parts: [part({ kind: "list" })], unsettled: false }, null, []],
  [
    "with unexpected dates, which are more important than contradicting counts",
    {
      parts: [part({ kind: "undated" }), part({ kind: "unexpected-dates", why: "a date" })],
      unsettled: true,
    },
    null,
    [["unexpected-dates", "orders has unexpected dates or IDs: a date"]],
  ],
  [
    "with every kind of problem",
    { parts: [...differing("a"), part({ kind: "undated" })], unread: 3, unsettled: true },
    "tables differ",
    [
      ["different", "orders differs from the API (a)"],
      ["unread", "orders has 3 records that have not been read yet"],
      ["tables", "tables differ"],
      ["unsettled", "orders cannot be verified: a reason"],
    ],
  ],
])("the problems of a result %s are listed", (_, fields, tableError, problems) => {
  const listed = listProblems(resultOf(fields), tableError);
  expect(listed.map(({ kind, text }) => [kind, text])).toEqual(problems);
});

test("problems need the API only if all of them are unexpected dates", () => {
  const problem = (kind: "unexpected-dates" | "unread") => ({ kind, text: "" });
  const dates = problem("unexpected-dates");
  expect([[], [dates], [dates, problem("unread")]].map((problems) => needsApi(problems))).toEqual([
    false,
    true,
    false,
  ]);
});
