import { expect, test } from "vitest";
import { inBatches, openRows } from "../../src/query/open-rows.js";
import { resolveTable, withRemovedRecords } from "../../src/query/readable-tables.js";
import { anOrder, makeMirror, writeRead } from "../support/mirror.js";

test.each([
  ["no limit", undefined],
  ...[0, 255, 256, 257, 512, 700].map((limit) => [`a limit of ${limit}`, limit] as const),
] as const)(
  "with %s, the rows that openRows reads from a table of 600 orders are in order, without gaps or duplicates",
  async (_, limit) => {
    const mirror = await makeMirror();
    const numbers = Array.from({ length: 600 }, (_, n) => `#${n}`);
    writeRead(
      mirror,
      "orders",
      numbers.map((order_number, n) => anOrder(n, { order_number })),
    );
    const selection = { mirror, table: resolveTable(mirror, "orders"), columns: ["order_number"], limit };
    const rows = [...openRows(selection).batches()].flat(2);
    expect(rows).toEqual(numbers.slice(0, limit));
  },
);

/** A mirror with orders 1 to 4. Orders 2 and 4 are in USD and have been removed. */
const mirror = await makeMirror();
const orders = [1, 2, 3, 4].map((n) =>
  anOrder(n, { order_date: `2026-10-0${n}T00:00:00Z`, currency: n % 2 === 0 ? "USD" : "EUR" }),
);
writeRead(mirror, "orders", orders);
writeRead(mirror, "orders", [], { at: "2026-11-02T00:00:00.000Z", remove: ["order-2", "order-4"] });

test.each([
  ["no filter", "1, 3, 2 (removed), 4 (removed)", {}],
  ["a limit of 0 rows", "none", { limit: 0 }],
  ["a limit of 1 row", "1", { limit: 1 }],
  ["a limit of 3 rows", "1, 3, 2 (removed)", { limit: 3 }],
  ["a limit of 9 rows", "1, 3, 2 (removed), 4 (removed)", { limit: 9 }],
  ["the condition `currency = 'USD'`", "2 (removed), 4 (removed)", { where: "currency = 'USD'" }],
  ["the condition `1 -- all`", "1, 3, 2 (removed), 4 (removed)", { where: "1 -- all" }],
  [
    "the dates October 2 to 3",
    "3, 2 (removed)",
    { since: Date.UTC(2026, 9, 2), until: Date.UTC(2026, 9, 3) },
  ],
  [
    "the dates from October 3 and the condition `0 OR 1`",
    "3, 4 (removed)",
    { where: "0 OR 1", since: Date.UTC(2026, 9, 3) },
  ],
])("with %s, openRows reads the orders: %s", (_, list, selection) => {
  const ids = list.match(/\d/g) ?? [];
  const table = withRemovedRecords(resolveTable(mirror, "orders"));
  const { batches, count, rawRecords } = openRows({ mirror, table, ...selection });
  const rows = [...batches()].flat();
  expect(rows.map(([id]) => id)).toEqual(ids.map((n) => `order-${n}`));
  expect(count?.()).toBe(ids.length);
  const records = [...(rawRecords?.() ?? [])].flat().map((json) => JSON.parse(json));
  expect(records.map(({ id, removed_at }) => `${id} ${removed_at}`)).toEqual(
    rows.map((row) => `${row[0]} ${row.at(-1)}`),
  );
});

test("a date filter on order_line_items applies to the order's date, even if the order has been removed", () => {
  const table = withRemovedRecords(resolveTable(mirror, "order_line_items"));
  const { batches } = openRows({ mirror, table, columns: ["order_id"], since: Date.UTC(2026, 9, 3) });
  expect([...batches()].flat(2)).toEqual(["order-3", "order-4"]);
});

test("if columns are requested, openRows returns them in order without duplicates, and omits the raw records", () => {
  const table = resolveTable(mirror, "orders");
  const source = openRows({ mirror, table, columns: ["month", "id", "month"] });
  expect(source.columns.map(({ name }) => name)).toEqual(["month", "id"]);
  expect([...source.batches()]).toEqual([
    [
      ["2026-10", "order-1"],
      ["2026-10", "order-3"],
    ],
  ]);
  expect(source.rawRecords).toBeUndefined();
  const all = openRows({ mirror, table });
  expect(all.columns.map(({ name }) => name)).not.toContain("month");
  expect(JSON.parse([...(all.rawRecords?.() ?? [])].flat()[0] ?? "")).not.toHaveProperty("removed_at");
  expect(openRows({ mirror, table: resolveTable(mirror, "order_line_items") }).rawRecords).toBeUndefined();
});

test.each([
  [0, "no batches", []],
  [63, "one batch of 63", [63]],
  [64, "one batch of 64", [64]],
  [65, "batches of 64 and 1", [64, 1]],
  [128, "two batches of 64", [64, 64]],
])("%i rows are split into %s", (count, _, sizes) => {
  const rows = Array.from({ length: count }, (_, n) => [n]);
  const batches = [...inBatches(rows)];
  expect(batches.map((batch) => batch.length)).toEqual(sizes);
  expect(batches.flat()).toEqual(rows);
});
