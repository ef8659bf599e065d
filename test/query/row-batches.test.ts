import { expect, test } from "vitest";
import { describeTable } from "../../src/query/readable-tables.js";
import { openRows } from "../../src/query/select.js";
import { anOrder, makeMirror, writeRead } from "../support/mirror.js";

test.each([undefined, 0, 255, 256, 257, 512, 700])(
  "with a limit of %s, openRows reads each record once and in order",
  async (limit) => {
    const mirror = await makeMirror();
    const numbers = Array.from({ length: 600 }, (_, n) => `#${n}`);
    writeRead(
      mirror,
      "orders",
      numbers.map((order_number, n) => anOrder(n, { order_number })),
    );
    const selection = { table: describeTable(mirror, "orders"), limit };
    const batches = [...(openRows(mirror, selection).records?.("\n") ?? [])];
    const lines = batches.flatMap(({ bytes }) => bytes.toString().split("\n"));
    const wanted = numbers.slice(0, limit);
    expect(lines.map((line) => JSON.parse(line).order_number)).toEqual(wanted);
    expect(batches.reduce((sum, { rows }) => sum + rows, 0)).toBe(wanted.length);
  },
);
