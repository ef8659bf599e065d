import { expect, test } from "vitest";
import { type ChangeFilter, loadNewestChanges } from "../../src/query/change-list.js";
import { anOrder, makeMirror, writeRead } from "../support/mirror.js";

const at = (day: number) => `2026-11-0${day}T02:00:00.000Z`;

const mirror = await makeMirror();
writeRead(mirror, "orders", [anOrder(1), anOrder(2)], { at: at(1) });
writeRead(mirror, "orders", [anOrder(1, { currency: "USD", refund_amount: 5 })], { at: at(2) });
writeRead(mirror, "roster", [{ relationship_id: "r", host: { id: "h" }, status: "active" }], { at: at(2) });
writeRead(mirror, "roster", [{ relationship_id: "r", host: { id: "h" }, status: "paused" }], { at: at(3) });
writeRead(mirror, "orders", [], { at: at(4), remove: ["order-2"] });

const all: ChangeFilter = { resourceName: undefined, since: at(1) };

test.each([
  ["no filter", "all four changes", all, 9, ["currency", "refund_amount", "status", "removed"], 4],
  ["a limit of 3", "the newest three of four changes", all, 3, ["refund_amount", "status", "removed"], 4],
  [
    "a filter by resource",
    "the changes to orders",
    { ...all, resourceName: "orders" },
    9,
    ["currency", "refund_amount", "removed"],
    3,
  ],
  [
    "a filter by resource and a limit of 1",
    "the newest change to orders",
    { ...all, resourceName: "orders" },
    1,
    ["removed"],
    3,
  ],
  [
    "a filter by run",
    "the changes found by that run",
    { ...all, runId: 2 },
    9,
    ["currency", "refund_amount"],
    2,
  ],
  [
    "a filter by time",
    "the changes found since that time",
    { ...all, since: at(3) },
    9,
    ["status", "removed"],
    2,
  ],
] as const)(
  "with %s, loadNewestChanges returns %s, sorted from oldest to newest, and the total number of matches",
  (_flags, _result, filter, limit, kinds, total) => {
    const found = loadNewestChanges(mirror, filter, limit);
    expect(found.changes.map(({ field, kind }) => field ?? kind)).toEqual(kinds);
    expect(found.total).toBe(total);
  },
);

test.each([
  ["an order is its order number", "orders", { id: "x", order_number: "#7", title: "t" }, "#7"],
  ["an order without an order number is null", "orders", { id: "x", order_number: null, title: "t" }, null],
  ["a survey is its title", "surveys", { id: "x", title: "t", code: "c", name: "n" }, "t"],
  [
    "a file is its file name",
    "content",
    { id: "x", source: "upload", filename: "f", host: { username: "u" } },
    "f",
  ],
  [
    "a roster record is the host's handle",
    "roster",
    { relationship_id: "x", host: { id: "h", username: "u", name: "n" }, code: "c" },
    "u",
  ],
  ["a discount code is the code itself", "codes", { id: "x", code: 7, name: "n" }, "7"],
  ["a gift is its name", "gifts", { id: "x", name: "n", host: { name: "h" } }, "n"],
  ["a gift without a name is the host's name", "gifts", { id: "x", host: { name: "h" } }, "h"],
  ["a gift without a name, title, code or host is null", "gifts", { id: "x" }, null],
] as const)("in the list of changes, the label of %s", async (_, resource, record, label) => {
  const mirror = await makeMirror();
  writeRead(mirror, resource, [record], { at: at(1), whole: true });
  writeRead(mirror, resource, [{ ...record, size: 1, status: "s", media_type: "m", currency: "USD" }], {
    at: at(2),
  });
  const { changes } = loadNewestChanges(mirror, { ...all, resourceName: resource }, 9);
  expect(new Set(changes.map((change) => change.label))).toEqual(new Set([label]));
});
