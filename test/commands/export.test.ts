import { expect, test } from "vitest";
import { anOrder, makeMirror, writeRead } from "../support/mirror.js";
import { brandapi } from "../support/program.js";

test("export requires a format, and suggests the closest table name even if there is no mirror", async () => {
  const mirror = await makeMirror();
  mirror.db.close();
  for (const db of [mirror.path, `${mirror.path}-none`]) {
    const unknown = await brandapi(["export", "oders", "--db", db]);
    expect(unknown.err).toContain("did you mean `orders`?");
    expect(unknown.code).toBe(2);
  }
  const formatless = await brandapi(["export", "sales-by-month", "--db", mirror.path]);
  expect(formatless).toMatchObject({
    code: 2,
    err: expect.stringContaining("No output format was specified."),
  });
});

test("export rejects a range that ends before it begins", async () => {
  const mirror = await makeMirror();
  mirror.db.close();
  const swapped = ["--since", "2026-02-01", "--until", "2026-01-01"];
  const { code, err, out } = await brandapi(["export", "orders", "--csv", ...swapped, "--db", mirror.path]);
  expect(err).toContain("`--since` is later than `--until`");
  expect(out).toBe("");
  expect(code).toBe(2);
});

test("export suggests --include-removed and the table of removed records if --columns names removed_at", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1)]);
  mirror.db.close();
  const columns = ["--columns", "id,removed_at"];
  const refused = await brandapi(["export", "orders", "--csv", ...columns, "--db", mirror.path]);
  expect(refused.code).toBe(2);
  expect(refused.err).toContain("add `--include-removed`, or export `orders_removed`");
  const removed = await brandapi(["export", "orders-removed", "--csv", ...columns, "--db", mirror.path]);
  expect(removed).toMatchObject({ code: 0, out: "id,removed_at\n" });
});

test("export rejects --include-removed if none of the exported tables can contain removed records", async () => {
  const mirror = await makeMirror();
  mirror.db.close();
  const run = async (...tables: string[]) =>
    await brandapi(["export", ...tables, "--csv", "--include-removed", "--db", mirror.path]);
  const refused = { code: 2, err: expect.stringContaining("`--include-removed` makes no difference to ") };
  for (const table of ["sales-by-month", "sync-runs"]) expect(await run(table)).toMatchObject(refused);
});

test("export suggests `id` for the column `order_id` and `order_date` for `date`", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1)]);
  mirror.db.close();
  for (const [typed, meant] of [
    ["order_id", "id"],
    ["date", "order_date"],
  ] as const) {
    const { code, err } = await brandapi([
      "export",
      "orders",
      "--csv",
      "--columns",
      typed,
      "--db",
      mirror.path,
    ]);
    expect([code, err]).toEqual([2, expect.stringContaining(`hint: did you mean \`${meant}\`?`)]);
  }
});
