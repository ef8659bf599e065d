import { expect, test } from "vitest";
import { anOrder, makeMirror, writeRead } from "../support/mirror.js";
import { brandapi } from "../support/program.js";

async function mirrorOfTwo(): Promise<string> {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1), anOrder(2), anOrder(3)]);
  writeRead(mirror, "orders", [], { at: "2026-11-02T00:00:00.000Z", remove: ["order-2"] });
  mirror.db.close();
  return mirror.path;
}

test("every table and view has a line with what a row is, its columns, and its rows as an export gives them", async () => {
  const db = await mirrorOfTwo();
  const { out, code } = await brandapi(["tables", "--db", db]);
  expect(code).toBe(0);
  expect(out).toMatch(
    /^name +rows +columns +a row is\norders +2 +27 +one row an order\norder_line_items +2 /,
  );
  expect(out).toMatch(/\nroster +not synced +\d+ +one row a relationship/);
  expect(out).toMatch(/\nsales_by_month +view +11 +a month/);
  for (const inner of ["record_versions", "mirror_info", "coverage"]) expect(out).not.toContain(inner);
});

test("one table has its columns, their types and a query that runs", async () => {
  const db = await mirrorOfTwo();
  for (const name of ["orders", "order-line-items", "sales_by_month", "changes"]) {
    const { out } = await brandapi(["tables", name, "--json", "--db", db]);
    const facts = JSON.parse(out);
    expect(facts.name).toBe(name.replaceAll("-", "_"));
    const header = await brandapi(["export", name, "--csv", "--limit", "0", "--db", db]);
    expect(facts.columns.map((column: { name: string }) => column.name)).toEqual(
      header.out.trim().split(","),
    );
    const rows = await brandapi(["export", name, "--json", "--db", db]);
    expect(facts.rows).toBe(JSON.parse(rows.out).length);
    expect((await brandapi(["query", facts.example, "--db", db])).code).toBe(0);
    const text = (await brandapi(["tables", name, "--db", db])).out;
    for (const column of facts.columns)
      expect(text).toMatch(new RegExp(`^${column.name} +${column.type}`, "m"));
    expect(text.replaceAll("\n", " ")).toContain(facts.example.replaceAll("\n", " "));
  }
});

test("the list as JSON says of each what it is; the rows of views are not counted", async () => {
  const all = JSON.parse((await brandapi(["tables", "--json", "--db", await mirrorOfTwo()])).out) as {
    name: string;
    kind: string;
    rows: number | null;
    columns: unknown[];
  }[];
  const one = (name: string) => all.find((facts) => facts.name === name);
  expect(one("orders")).toMatchObject({ kind: "table", rows: 2 });
  expect(one("roster")).toMatchObject({ kind: "table", rows: null });
  expect(one("restatements")).toMatchObject({ kind: "view", rows: null });
  expect(all.every(({ columns }) => columns.length > 0)).toBe(true);
});

test("a misspelt name is refused with the nearest", async () => {
  const { code, err } = await brandapi(["tables", "oders", "--db", await mirrorOfTwo()]);
  expect({ code, err }).toEqual({
    code: 2,
    err: "brandapi: Unknown table: `oders`.\n  hint: did you mean `orders`?\n",
  });
});
