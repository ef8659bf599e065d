import { expect, test } from "vitest";
import { views } from "../../src/views/all-views.js";
import { anOrder, makeMirror, writeRead } from "../support/mirror.js";
import { brandapi } from "../support/program.js";
import { Sqlite } from "../support/sqlite.js";

async function mirrorOfTwo(): Promise<string> {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1), anOrder(2), anOrder(3)]);
  writeRead(mirror, "orders", [], { at: "2026-11-02T00:00:00.000Z", remove: ["order-2"] });
  mirror.db.close();
  return mirror.path;
}

test("brandapi tables lists every table and view with its explanation and row count", async () => {
  const db = await mirrorOfTwo();
  const { out, code } = await brandapi(["tables", "--db", db]);
  expect(code).toBe(0);
  expect(out).toMatch(/^name +rows +about\norders +2 +one row per order\norder_line_items +2 /);
  expect(out).toMatch(/\nroster +not synced +one row per host relationship/);
  expect(out).toMatch(/\nsales_by_month +view +one row per month/);
  for (const inner of ["record_versions", "mirror_info", "coverage", "order_figures"])
    expect(out).not.toContain(inner);
});

const computedColumns: Readonly<Record<string, string[]>> = {
  orders: ["day", "month", "order_date_utc", "record_id"],
  "order-line-items": ["row_id"],
};

test("brandapi tables NAME lists every column that `SELECT *` returns, including the key columns that the mirror adds", async () => {
  const db = await mirrorOfTwo();
  const { out } = await brandapi(["tables", "--all", "--json", "--db", db]);
  for (const { name, columns } of JSON.parse(out) as { name: string; columns: { name: string }[] }[]) {
    const mirror = new Sqlite(db, { readonly: true });
    const selected = mirror.prepare(`SELECT * FROM "${name}"`).columns();
    mirror.close();
    expect([name, columns.map((column) => column.name).sort()]).toEqual([
      name,
      selected.map((column) => column.name).sort(),
    ]);
  }
});

test("brandapi tables NAME shows columns, types and an example query that runs", async () => {
  const db = await mirrorOfTwo();
  for (const name of ["orders", "order-line-items", "sales_by_month", "changes"]) {
    const { out } = await brandapi(["tables", name, "--json", "--db", db]);
    const facts = JSON.parse(out);
    expect(facts.name).toBe(name.replaceAll("-", "_"));
    const header = (await brandapi(["export", name, "--csv", "--limit", "0", "--db", db])).out.trim();
    const names = facts.columns.map((column: { name: string }) => column.name) as string[];
    // Without --columns, a CSV export contains only fields from the API, so its header lacks the computed columns.
    const computed = computedColumns[name] ?? [];
    expect(names.filter((one) => !computed.includes(one))).toEqual(header.split(","));
    expect(names).toEqual(expect.arrayContaining(computed));
    const rows = await brandapi(["export", name, "--json", "--db", db]);
    expect(facts.rows).toBe(JSON.parse(rows.out).length);
    expect((await brandapi(["query", facts.example, "--db", db])).code).toBe(0);
    const text = (await brandapi(["tables", name, "--db", db])).out;
    for (const column of facts.columns)
      expect(text).toMatch(new RegExp(`^${column.name} +${column.type}`, "m"));
    expect(text.replaceAll("\n", " ")).toContain(facts.example.replaceAll("\n", " "));
  }
});

test("brandapi tables NAME omits value counts for a table that has not been synced", async () => {
  const { out } = await brandapi(["tables", "roster", "--db", await mirrorOfTwo()]);
  expect(out).toMatch(/^roster \(not synced yet\)\n/);
  expect(out).toMatch(/^column +type +about\nrelationship_id +text +\b(?!all\b)/m);
});

test("brandapi tables --json describes each table, but does not count the rows in views", async () => {
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

test("in a narrow terminal, brandapi tables lists helper views with --all, and wraps the explanation of a table", async () => {
  const run = async (...flags: string[]) =>
    await brandapi(["tables", ...flags, "--no-color", "--db", await mirrorOfTwo()], {
      tty: true,
      columns: 60,
    });
  expect((await run("--all")).out).toMatch(/\norder_figures +view/);
  const { out } = await run("restatements");
  expect(out).not.toContain("…");
  const lastWords = views.find(({ name }) => name === "restatements")?.about.slice(-20);
  expect(out.replaceAll(/\s+/g, " ")).toContain(lastWords);
});

test("brandapi tables fails if --all is combined with a name or with --delta, or if a Delta table is missing", async () => {
  const tables = async (...words: string[]) => {
    const { code, err } = await brandapi(["tables", ...words, "--db", await mirrorOfTwo()]);
    return [code, err];
  };
  const listOnly = "`--all` applies only to the list of tables.";
  expect(await tables("orders", "--all")).toEqual([2, expect.stringContaining(listOnly)]);
  expect(await tables("--all", "--delta", "lake")).toEqual([
    2,
    expect.stringContaining("cannot be used with"),
  ]);
  expect(await tables("--delta", "lake")).toEqual([3, expect.stringContaining("table is missing: lake\n")]);
  expect(await tables("orders", "--delta", "lake")).toEqual([3, expect.stringContaining("lake/orders\n")]);
});

test("the example query for orders excludes removed and cancelled orders", async () => {
  const mirror = await makeMirror();
  const cancelled = anOrder(2, { is_cancelled: true });
  writeRead(mirror, "orders", [anOrder(1), cancelled, anOrder(3)]);
  writeRead(mirror, "orders", [], { at: "2026-11-02T00:00:00.000Z", remove: ["order-3"] });
  mirror.db.close();
  for (const [name, counted] of [
    ["orders", "orders"],
    ["order_line_items", "sold"],
  ] as const) {
    const { example } = JSON.parse((await brandapi(["tables", name, "--json", "--db", mirror.path])).out);
    const rows = JSON.parse((await brandapi(["query", example, "--json", "--db", mirror.path])).out);
    expect([name, rows.map((row: Record<string, unknown>) => row[counted])]).toEqual([name, [1]]);
  }
});

test("brandapi tables rejects a misspelled name and suggests the closest name", async () => {
  const { code, err } = await brandapi(["tables", "oders", "--db", await mirrorOfTwo()]);
  expect({ code, err }).toEqual({
    code: 2,
    err: expect.stringContaining("did you mean `orders`?"),
  });
});

test("for each column, brandapi tables NAME counts the rows in which the column has a value", async () => {
  const mirror = await makeMirror();
  const amounts = [1, 0, null];
  writeRead(
    mirror,
    "orders",
    amounts.map((refund_amount, n) => anOrder(n, { refund_amount })),
  );
  writeRead(mirror, "orders", [anOrder(9)], { at: "2026-11-01T01:00:00.000Z" });
  writeRead(mirror, "orders", [], { at: "2026-11-02T00:00:00.000Z", remove: ["order-9"] });
  mirror.db.close();
  const columnsOf = async (name: string) => {
    const { columns } = JSON.parse((await brandapi(["tables", name, "--json", "--db", mirror.path])).out);
    return new Map((columns as { name: string }[]).map((column) => [column.name, column]));
  };
  const orders = await columnsOf("orders");
  expect(orders.get("refund_amount")).toMatchObject({ rows_with_value: 2 });
  expect(orders.get("id")).toMatchObject({ rows_with_value: 3 });
  expect(orders.get("fulfillment_status")).toMatchObject({ rows_with_value: 0 });
  expect(orders.get("is_cancelled")).toMatchObject({ type: "boolean", about: "0 or 1" });
  expect((await columnsOf("orders_net")).get("order_number")).toMatchObject({ rows_with_value: 3 });
  expect((await columnsOf("roster")).get("host_id")).not.toHaveProperty("rows_with_value");
  const { out } = await brandapi(["tables", "orders", "--db", mirror.path]);
  expect(out).toMatch(/^orders \(3 rows\)\n/);
  expect(out).toMatch(/^column +type +with a value +about$/m);
  expect(out).toMatch(/^refund_amount +number +2 \(66 %\) +refunds so far, or null/m);
  expect(out).toMatch(/^fulfillment_status +text +none /m);
  expect(out).toMatch(/^commission_rate +number +all +percentage$/m);
  const codes = (await brandapi(["tables", "codes", "--db", mirror.path])).out;
  expect(codes).toContain("orders do not record which code was used");
  expect(codes).toMatch(/^codes \(not synced yet\)\n[\s\S]*^column +type +about$/m);
});

test.each([120, 80, 50, 44])("brandapi tables wraps explanations to fit %i columns", async (columns) => {
  const db = await mirrorOfTwo();
  for (const words of [["tables"], ["tables", "orders"], ["tables", "restatements"]]) {
    const { out } = await brandapi([...words, "--no-color", "--db", db], { tty: true, columns });
    const [text = ""] = out.split("For example:");
    expect(text).not.toContain("…");
    for (const line of text.split("\n")) expect([line, line.length <= columns]).toEqual([line, true]);
  }
});
