import { expect, test } from "vitest";
import { readJoined } from "../../src/query/select-read.js";
import { anOrder, makeMirror, writeRead } from "../support/mirror.js";

const sql = { rowId: "record_id", from: () => "FROM orders AS t", order: ["t.record_id"], once: false };
const reading = { sql, values: ["t.order_number"], withRecords: false, limit: undefined };
const join = { text: "t.order_number || char(10)", separator: "''" };

async function mirrorOf(texts: readonly string[]) {
  const mirror = await makeMirror();
  writeRead(
    mirror,
    "orders",
    texts.map((order_number, n) => anOrder(n, { order_number })),
  );
  return mirror;
}

const large = "x".repeat(200_000);
/** Small ones in between, before and behind. */
const mixed = Array.from({ length: 150 }, (_, n) => `${n}${[70, 71, 90, 149].includes(n) ? large : ""}`);

test("a large row is a batch of its own, and all rows come once and in order", async () => {
  const mirror = await mirrorOf(mixed);
  for (const limit of [undefined, 71, 72, 91, 120]) {
    const batches = [...readJoined(mirror, { ...reading, limit }, join)];
    const wanted = mixed.slice(0, limit);
    expect(Buffer.concat(batches.map(({ bytes }) => bytes)).toString()).toBe(`${wanted.join("\n")}\n`);
    for (const { bytes, rows } of batches) if (bytes.length > large.length) expect(rows).toBe(1);
  }
});
