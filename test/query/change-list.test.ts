import { expect, test } from "vitest";
import { type ChangeFilter, listChanges } from "../../src/query/change-list.js";
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
  ["all changes", all, 9, ["currency", "refund_amount", "status", "removed"], 4],
  [
    "only the newest changes if there are more than the limit",
    all,
    3,
    ["refund_amount", "status", "removed"],
    4,
  ],
  [
    "the changes of a resource",
    { ...all, resourceName: "orders" },
    9,
    ["currency", "refund_amount", "removed"],
    3,
  ],
  [
    "only the newest change of a resource if the limit is 1",
    { ...all, resourceName: "orders" },
    1,
    ["removed"],
    3,
  ],
  ["the changes found by a run", { ...all, runId: 2 }, 9, ["currency", "refund_amount"], 2],
  ["the changes found at or after a time", { ...all, since: at(3) }, 9, ["status", "removed"], 2],
] as const)(
  "listChanges returns %s, sorted oldest first, and the total number of changes",
  (_, filter, limit, kinds, total) => {
    const found = listChanges(mirror, filter, limit);
    expect(found.changes.map(({ field, kind }) => field ?? kind)).toEqual(kinds);
    expect(found.total).toBe(total);
  },
);

test.each([
  ["the order number", "orders", { id: "x", order_number: "#7", title: "t" }, "#7"],
  ["null if it is an order without a number", "orders", { id: "x", order_number: null, title: "t" }, null],
  ["its title", "surveys", { id: "x", title: "t", code: "c", name: "n" }, "t"],
  ["its file name", "content", { id: "x", source: "upload", filename: "f", host: { username: "u" } }, "f"],
  [
    "the host's handle",
    "roster",
    { relationship_id: "x", host: { id: "h", username: "u", name: "n" }, code: "c" },
    "u",
  ],
  ["its code", "codes", { id: "x", code: 7, name: "n" }, "7"],
  ["its name", "gifts", { id: "x", name: "n", host: { name: "h" } }, "n"],
  ["the host's name if it has no name itself", "gifts", { id: "x", host: { name: "h" } }, "h"],
  ["null if it has no number, title, name, code or host", "gifts", { id: "x" }, null],
] as const)("the label of a changed record is %s", async (_, resource, record, label) => {
  const mirror = await makeMirror();
  writeRead(mirror, resource, [record], { at: at(1), whole: true });
  writeRead(mirror, resource, [{ ...record, size: 1, status: "s", media_type: "m", currency: "USD" }], {
    at: at(2),
  });
  const { changes } = listChanges(mirror, { ...all, resourceName: resource }, 9);
  expect(new Set(changes.map((change) => change.label))).toEqual(new Set([label]));
});
