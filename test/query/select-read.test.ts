import { expect, test } from "vitest";
import { readJoined } from "../../src/query/select-read.js";
import { anOrder, makeMirror, writeRead } from "../support/mirror.js";

test.each([-1, 0, 255, 256, 257, 512, 700])(
  "joined rows come once and in order, at most %d",
  async (limit) => {
    const mirror = await makeMirror();
    const numbers = Array.from({ length: 600 }, (_, n) => `#${n}`);
    writeRead(
      mirror,
      "orders",
      numbers.map((order_number, n) => anOrder(n, { order_number })),
    );
    const sql = { rowId: "record_id", from: "FROM orders AS t", order: [], limit };
    const batches = [...readJoined(mirror, sql, { text: "t.order_number", separator: "','" })];
    const wanted = numbers.slice(0, limit < 0 ? undefined : limit);
    expect(batches.flatMap(({ bytes }) => bytes.toString().split(","))).toEqual(wanted);
    expect(batches.reduce((sum, { rows }) => sum + rows, 0)).toBe(wanted.length);
  },
);
