import { expect, test } from "vitest";
import { openRows } from "../../src/query/open-rows.js";
import { describeTable } from "../../src/query/readable-tables.js";
import { anOrder, makeMirror, writeRead } from "../support/mirror.js";

test.each([
  ["no limit", undefined],
  ...[0, 255, 256, 257, 512, 700].map((limit) => [`a limit of ${limit}`, limit] as const),
] as const)("openRows reads each record exactly once and in order with %s", async (_, limit) => {
  const mirror = await makeMirror();
  const numbers = Array.from({ length: 600 }, (_, n) => `#${n}`);
  writeRead(
    mirror,
    "orders",
    numbers.map((order_number, n) => anOrder(n, { order_number })),
  );
  const selection = { mirror, table: describeTable(mirror, "orders"), columns: ["order_number"], limit };
  const rows = [...openRows(selection).batches()].flat(2);
  expect(rows).toEqual(numbers.slice(0, limit));
});
