import { expect, test } from "vitest";
import {
  type Bookmark,
  createBookmark,
  isBookmarkOf,
  loadChangedRows,
  loadRemovedItems,
} from "../../src/export/changed-rows.js";
import { allTableShapes } from "../../src/query/readable-tables.js";
import type { TableShape } from "../../src/resources/table-shape.js";
import type { Mirror } from "../../src/store/database.js";
import { redactMirror } from "../../src/store/redact-mirror.js";
import { insertRun, updateRun } from "../../src/store/runs.js";
import type { JsonObject } from "../../src/util/json-value.js";
import { anOrder, makeMirror, writeRead } from "../support/mirror.js";

const at = (day: number) => `2026-11-0${day}T00:00:00.000Z`;
const shapeOf = (name: string) => allTableShapes.find((shape) => shape.name === name) as TableShape;

function changesIn(mirror: Mirror, name: string, column: string, after?: Bookmark) {
  const rows = [...loadChangedRows(mirror, shapeOf(name), [column], after)].flat();
  return rows.map(({ values, key, position, removedAt }) => [values[0], key, position, removedAt]);
}

function removedItemsIn(mirror: Mirror, after: Bookmark) {
  const columns = ["title", "position", "order_id"];
  const rows = [...loadRemovedItems(mirror, shapeOf("order_line_items"), columns, after)].flat();
  return rows.map(({ values, key, position, removedAt }) => [...values, key, position, removedAt]);
}

const items = (...titles: string[]): JsonObject => ({ line_items: titles.map((title) => ({ title })) });

test("a Singer bookmark is accepted only if the mirror contains the bookmark's sync run, which may have ended after the bookmark was created", async () => {
  const mirror = await makeMirror();
  expect(createBookmark(mirror)).toEqual({ run: null, record_id: 0, version_id: 0 });
  writeRead(mirror, "orders", [anOrder(1), anOrder(2)], { at: at(1) });
  writeRead(mirror, "orders", [anOrder(1, { refund_amount: 1 })], { at: at(2) });
  expect(createBookmark(mirror)).toEqual({ run: `2 ${at(2)} ${at(2)}`, record_id: 2, version_id: 1 });
  const run = insertRun(mirror, "orders", at(3));
  const bookmark = createBookmark(mirror);
  expect(bookmark.run).toBe(`3 ${at(3)} `);
  updateRun(mirror, run, { finished_at: at(4), outcome: "done" });
  expect(isBookmarkOf(mirror, bookmark)).toBe(true);
  expect(isBookmarkOf(mirror, { ...bookmark, run: `3 ${at(3)} ${at(4)}` })).toBe(true);
  for (const other of [`4 ${at(3)} `, `3 ${at(2)} `, `3 ${at(3)} ${at(5)}`])
    expect(isBookmarkOf(mirror, { ...bookmark, run: other })).toBe(false);
});

test("without a bookmark, a Singer export reads all rows, including removed rows with the time of their removal", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1, items("a", "b")), anOrder(2, items("c"))], { at: at(1) });
  writeRead(mirror, "orders", [], { at: at(2), remove: ["order-1"] });
  expect(changesIn(mirror, "orders", "order_number")).toEqual([
    ["#2", "order-2", null, null],
    ["#1", "order-1", null, at(2)],
  ]);
  expect(changesIn(mirror, "order_line_items", "title")).toEqual([
    ["c", "order-2", 0, null],
    ["a", "order-1", 0, at(2)],
    ["b", "order-1", 1, at(2)],
  ]);
});

test("with a bookmark, a Singer export reads only rows that were added, changed or removed after the bookmark", async () => {
  const mirror = await makeMirror();
  writeRead(
    mirror,
    "orders",
    [1, 2, 3].map((n) => anOrder(n)),
    { at: at(1) },
  );
  writeRead(mirror, "orders", [anOrder(3, { refund_amount: 1 })], { at: at(2) });
  const bookmark = createBookmark(mirror);
  expect(changesIn(mirror, "orders", "id", bookmark)).toEqual([]);
  writeRead(mirror, "orders", [anOrder(1, { refund_amount: 1 }), anOrder(4)], {
    at: at(3),
    remove: ["order-2"],
  });
  expect(changesIn(mirror, "orders", "id", bookmark).map(([id]) => id)).toEqual([
    "order-1",
    "order-4",
    "order-2",
  ]);
});

test("after personal data has been redacted, a Singer export reads all rows unless its bookmark is newer than the redaction", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1), anOrder(2)], { at: at(1) });
  const bookmark = createBookmark(mirror);
  redactMirror(mirror, ["host-1"]);
  expect(changesIn(mirror, "orders", "id", bookmark)).toHaveLength(2);
  writeRead(mirror, "orders", [anOrder(3)], { at: at(2) });
  expect(changesIn(mirror, "orders", "id", bookmark)).toHaveLength(3);
  expect(changesIn(mirror, "orders", "id", createBookmark(mirror))).toEqual([]);
});

test("a Singer export sends list items that have been removed since the bookmark as deleted", async () => {
  const mirror = await makeMirror();
  const read = (day: number, ...orders: JsonObject[]) => writeRead(mirror, "orders", orders, { at: at(day) });
  read(1, anOrder(1, items("a", "b")), anOrder(2, items("c", "d", "e")), anOrder(3, items("f")));
  read(2, anOrder(1, items("a")));
  const bookmark = createBookmark(mirror);
  expect(removedItemsIn(mirror, bookmark)).toEqual([]);
  read(3, anOrder(2, items("c", "d", "e", "g")), anOrder(4, items("h", "i")));
  read(4, anOrder(2, items("c")), anOrder(3, { line_items: null }), anOrder(4, items("h")));
  read(5, anOrder(1, items("a", "x")));
  expect(removedItemsIn(mirror, bookmark)).toEqual([
    [null, 1, "order-2", "order-2", 1, at(4)],
    [null, 2, "order-2", "order-2", 2, at(4)],
    [null, 0, "order-3", "order-3", 0, at(4)],
  ]);
  writeRead(mirror, "orders", [], { at: at(6), remove: ["order-2"] });
  expect(removedItemsIn(mirror, bookmark).map((row) => row.slice(2))).toEqual([
    ["order-3", "order-3", 0, at(4)],
    ["order-2", "order-2", 1, at(6)],
    ["order-2", "order-2", 2, at(6)],
  ]);
});

test("a Singer export finds no removed list items if the old value was not a list or the table has no lists", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1, { line_items: { a: 1 } })], { at: at(1) });
  const bookmark = createBookmark(mirror);
  writeRead(mirror, "orders", [anOrder(1, items())], { at: at(2) });
  expect(removedItemsIn(mirror, bookmark)).toEqual([]);
  expect([...loadRemovedItems(mirror, shapeOf("orders"), ["id"], bookmark)]).toEqual([]);
});
