import { readFileSync } from "node:fs";
import { join } from "node:path";
import { strFromU8, unzipSync } from "fflate";
import { expect, test } from "vitest";
import { makeHome } from "../support/home.js";
import { anOrder, makeMirror, writeRead } from "../support/mirror.js";
import { brandapi } from "../support/program.js";

async function mirrorOf(): Promise<string> {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [
    anOrder(1, { order_date: "2026-09-30T00:00:00Z" }),
    anOrder(2, { order_date: "2026-10-02T00:00:00Z" }),
  ]);
  const member = (id: string, joined_at: string) => ({ relationship_id: id, host: { id }, joined_at });
  writeRead(mirror, "roster", [
    member("a", "2020-01-01T00:00:00Z"),
    member("b", "2021-01-01T00:00:00Z"),
    member("c", "2026-10-05T00:00:00Z"),
  ]);
  mirror.db.close();
  return mirror.path;
}

test("if several tables are exported, --since filters only tables of dated events, such as orders", async () => {
  const home = makeHome();
  const tables = ["orders", "order-line-items", "roster", "sales-by-month"];
  const run = await brandapi(
    ["export", ...tables, "-o", "october.xlsx", "--since", "2026-10-01", "--db", await mirrorOf()],
    { home },
  );
  expect(run.code, run.err).toBe(0);
  expect(run.err).toMatch(
    /^orders: 1 row, order_line_items: 1 row, roster: 3 rows, sales_by_month: 1 row, [\d.]+ kB: october\.xlsx\n$/,
  );
  const parts = unzipSync(readFileSync(join(home, "october.xlsx")));
  const rows = [1, 2, 3, 4].map(
    (n) => strFromU8(parts[`xl/worksheets/sheet${n}.xml`] ?? new Uint8Array()).match(/<row /g)?.length,
  );
  expect(rows).toEqual([2, 2, 4, 2]);
});

test.each([
  ["roster --csv --since 2999-01-01", "the time is in the future", "is in the future"],
  ["orders --csv --since 2999-01", "the time is in the future", "is in the future"],
  ["surveys --csv --since 2026-01-01", "the table has no date column", "no date column"],
])("`export %s` exits with code 2 and writes nothing, because %s", async (words, _, message) => {
  const mirror = await makeMirror();
  for (const name of ["orders", "roster", "surveys"]) writeRead(mirror, name, [], { whole: true });
  mirror.db.close();
  const run = await brandapi(["export", ...words.split(" "), "--db", mirror.path]);
  expect(run).toMatchObject({ code: 2, out: "", err: expect.stringContaining(message) });
});
