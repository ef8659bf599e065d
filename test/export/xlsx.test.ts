import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { strFromU8, unzipSync } from "fflate";
import { expect, test } from "vitest";
import { formatCell, sheetName } from "../../src/export/xlsx.js";
import { tableNames } from "../../src/query/readable-tables.js";
import { makeHome } from "../support/home.js";
import { anOrder, makeMirror, writeRead } from "../support/mirror.js";
import { brandapi } from "../support/program.js";
import { visible } from "../support/visible.js";

const hostile = [
  "=1+1",
  "+49 30",
  "-5",
  "@SUM(A1)",
  "00123",
  "1042",
  "1e5",
  "12.5",
  "2026-10-01",
  "TRUE",
  " two  blanks ",
  "a<b>&\"c'",
  "line\nbreak\ttab",
  "\u0001\u001b[31m_x0041_\r\n",
  "Zoë 北京 \u{1f600}",
  "\ud800half",
  '=HYPERLINK("http://evil")',
];

async function workbookOf(...flags: string[]): Promise<{ path: string; db: string; err: string }> {
  const mirror = await makeMirror();
  writeRead(
    mirror,
    "orders",
    hostile.map((order_number, n) =>
      anOrder(n, {
        order_number,
        currency: n === 3 ? null : "EUR",
        is_cancelled: n === 4,
        order_date: n === 5 ? "soon" : n === 6 ? "1850-01-01T00:00:00Z" : "2026-10-31T23:59:59.000Z",
        total_amount: n === 7 ? 1_234_567.89 : n === 8 ? -0.1 : 100.5 + n,
      }),
    ),
  );
  mirror.db.close();
  const path = join(makeHome(), "orders.xlsx");
  const run = await brandapi(["export", "orders", "-o", path, ...flags, "--db", mirror.path]);
  expect(run).toMatchObject({ code: 0, out: "" });
  return { path, db: mirror.path, err: run.err };
}

function partsOf(path: string): Record<string, string> {
  const files = Object.entries(unzipSync(readFileSync(path)));
  return Object.fromEntries(files.map(([name, data]) => [name, strFromU8(data)]));
}

test("an XLSX sheet contains typed cells without formulas, below a frozen header row with a filter", async () => {
  const { path } = await workbookOf();
  const sheet = partsOf(path)["xl/worksheets/sheet1.xml"] ?? "";
  expect(sheet).toMatch(/^<\?xml [^>]+>\s*<worksheet xmlns=/);
  expect(sheet).not.toContain("<f");
  expect(sheet).toContain('<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>');
  expect(sheet).toMatch(/<col min="4" max="4" width="20" customWidth="1"\/>/);
  expect(sheet).toMatch(/<col min="11" max="11" width="14" customWidth="1"\/>/);
  expect(sheet).toContain('<c r="C2" t="inlineStr" s="1"><is><t xml:space="preserve">=1+1</t></is></c>');
  expect(sheet).toContain("_x0001__x001B_[31m_x005F_x0041__x000D_\n");
  expect(sheet).toContain('<c r="D2" s="3"><v>46326.99998842593</v></c>');
  expect(sheet).toContain('<c r="K6" s="5"><v>1</v></c>');
  expect(sheet).toContain('<c r="F9" s="6"><v>1234567.89</v></c>');
  expect(sheet).toMatch(/<\/sheetData><autoFilter ref="A1:[A-Z]+18"\/><\/worksheet>$/);
  for (const text of ["soon", "1850-01-01T00:00:00Z"]) expect(sheet).toContain(`preserve">${text}</t>`);
});

const texts = [
  ["a<b>&\"c'", "text", "a&#60;b&#62;&#38;&#34;c'"],
  ["_x0041_", "text", "_x005F_x0041_"],
  ["_x", "any", "_x"],
  ["\ufffe\uffff\u001f", "text", "_xFFFE__xFFFF__x001F_"],
  ["\u007f\u0080\u0085\u009f", "text", "\u007f\u0080\u0085\u009f"],
  ["2026-10-01", "text", "2026-10-01"],
  ["2026-10-01 12:00", "any", "2026-10-01 12:00"],
  ["1900-02-28", "date", "1900-02-28"],
  [1_000_000_000_000_000, "integer", "1000000000000000"],
  [-1_000_000_000_000_000, "any", "-1000000000000000"],
  [Number.POSITIVE_INFINITY, "number", "Infinity"],
  [2, "boolean", "2"],
  [7, "json", "7"],
  [7, "text", "7"],
] as const;

test.each(texts.map(([value, type, text]) => [visible(value), type, visible(text), value, text] as const))(
  "an XLSX export writes %s from a column of type %s as the text %s",
  (_value, type, _text, value, text) => {
    const cell = ` t="inlineStr" s="1"><is><t xml:space="preserve">${text}</t></is></c>`;
    expect(formatCell(value, { type })).toBe(cell);
  },
);

test.each([
  ["2026-10-01", "date", 46296, "date", 2],
  ["1900-03-01", "date", 61, "date", 2],
  ["9999-12-31", "date", 2958465, "date", 2],
  ["2026-10-01", "timestamp", 46296, "time", 3],
  ["2026-10-01 12:00", "timestamp", 46296.5, "time", 3],
  ["2026-10-01 12:00:00", "any", 46296.5, "time", 3],
  ["2026-10-01T12:00:00.25Z", "any", 46296.50000289352, "time", 3],
  [0, "boolean", 0, "boolean", 5],
] as const)(
  "an XLSX export writes %j from a column of type %s as the number %s in a %s format",
  (value, type, number, _, style) => {
    expect(formatCell(value, { type })).toBe(` s="${style}"><v>${number}</v></c>`);
  },
);

test.each([999_999_999_999_999, 1e15 + 0.5])(
  "an XLSX export writes the number %s without a format",
  (value) => {
    expect(formatCell(value, { type: "number" })).toBe(`><v>${value}</v></c>`);
  },
);

test("an XLSX export writes null as an empty cell", () => {
  expect(formatCell(null, { type: "text" })).toBe("");
});

test("XLSX exports of the same mirror are identical", async () => {
  const { path, db } = await workbookOf();
  const again = join(makeHome(), "again.xlsx");
  await brandapi(["export", "orders", "-o", again, "--db", db]);
  expect(readFileSync(again).equals(readFileSync(path))).toBe(true);
});

test("an XLSX workbook has one sheet for each table, including empty tables", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1), anOrder(2)]);
  writeRead(mirror, "roster", [], { whole: true });
  mirror.db.close();
  const path = join(makeHome(), "october.xlsx");
  const run = await brandapi([
    "export",
    "orders",
    "roster",
    "sales-by-month",
    "-o",
    path,
    "--db",
    mirror.path,
  ]);
  expect(run.err).toMatch(/^orders: 2 rows, roster: 0 rows, sales_by_month: 1 row, [\d.]+ kB: /);
  const parts = partsOf(path);
  const names = [...(parts["xl/workbook.xml"] ?? "").matchAll(/<sheet name="([^"]+)"/g)].map(
    ([, name]) => name,
  );
  expect(names).toEqual(["orders", "roster", "sales_by_month"]);
  expect(parts["xl/workbook.xml"]).toMatch(
    /localSheetId="1" hidden="1">'roster'!\$A\$1:\$[A-Z]+\$1<\/definedName>/,
  );
  const rows = [1, 2, 3].map((n) => parts[`xl/worksheets/sheet${n}.xml`]?.match(/<row /g)?.length);
  expect(rows).toEqual([3, 1, 2]);
});

test("an XLSX export preserves the types of numbers, days, times and numeric-looking text in a query result", async () => {
  const { db } = await workbookOf();
  const path = join(makeHome(), "answer.xlsx");
  const sql = `SELECT order_number, total_amount * 2 AS twice, date(order_date) AS day, order_date AS at,
    12345678901234567 AS long, NULL AS none FROM orders WHERE order_number = '00123'`;
  expect((await brandapi(["query", sql, "-o", path, "--db", db])).code).toBe(0);
  const sheet = partsOf(path)["xl/worksheets/sheet1.xml"] ?? "";
  expect(/<row r="2">(.*)<\/row>/.exec(sheet)?.[1]).toBe(
    '<c r="A2" t="inlineStr" s="1"><is><t xml:space="preserve">00123</t></is></c><c r="B2"><v>209</v></c>' +
      '<c r="C2" s="2"><v>46326</v></c><c r="D2" s="3"><v>46326.99998842593</v></c>' +
      '<c r="E2" t="inlineStr" s="1"><is><t xml:space="preserve">12345678901234567</t></is></c>',
  );
});

test("an XLSX sheet shows amounts from views and queries, but not rates or counts, with two decimals", async () => {
  const { db } = await workbookOf();
  const path = join(makeHome(), "amounts.xlsx");
  const stylesOf = (row: number) => {
    const sheet = partsOf(path)["xl/worksheets/sheet1.xml"] ?? "";
    const cells = new RegExp(`<row r="${row}">(.*?)</row>`).exec(sheet)?.[1] ?? "";
    return [...cells.matchAll(/<c r="[A-Z]+\d+"([^>]*)>/g)].map(
      ([, style]) => /s="(\d)"/.exec(style ?? "")?.[1] ?? "0",
    );
  };
  const columns = "orders,net_amount,commission_amount,net_before";
  await brandapi(["export", "sales_by_month", "--columns", columns, "-o", path, "--db", db]);
  expect(stylesOf(2).slice(0, 3)).toEqual(["0", "6", "6"]);
  const sql =
    "SELECT total_amount, total_amount AS x, sum(1.5) AS net_amount, commission_rate, 1.5 AS y FROM orders";
  await brandapi(["query", sql, "-o", path, "--db", db]);
  expect(stylesOf(2)).toEqual(["6", "6", "6", "0", "0"]);
  expect(partsOf(path)["xl/styles.xml"]).toContain('<xf numFmtId="4" fontId="0"');
});

test("an XLSX export truncates text that is too long for a cell and warns once", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1, { order_number: "x".repeat(40_000) })]);
  mirror.db.close();
  const path = join(makeHome(), "long.xlsx");
  const run = await brandapi(["export", "orders", "-o", path, "--db", mirror.path]);
  expect(run.err).toContain("1 cell truncated to 32,767 characters, the spreadsheet limit");
  expect(partsOf(path)["xl/worksheets/sheet1.xml"]).toMatch(/>x{32767}</);
});

test("an XLSX export rejects a table with too many rows for a sheet before it writes anything", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1)]);
  // Creating a view with a million rows takes less time than filling a table with them.
  mirror.db.exec(
    `ALTER TABLE sync_runs RENAME TO stored_runs;
     CREATE TABLE numbers AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 1025) SELECT x FROM c;
     CREATE VIEW sync_runs AS SELECT stored_runs.* FROM stored_runs JOIN numbers JOIN numbers`,
  );
  mirror.db.close();
  const home = makeHome();
  const run = async (...args: string[]) => await brandapi([...args, "--db", mirror.path], { home });
  const refused = {
    code: 2,
    out: "",
    err: expect.stringMatching(/more rows than the limit of a sheet.*1,048,576[\s\S]*`--since`[\s\S]*CSV/),
  };
  expect(await run("export", "orders", "sync_runs", "-o", "many.xlsx")).toMatchObject(refused);
  expect(await run("query", "SELECT run_id FROM sync_runs", "-o", "many.xlsx")).toMatchObject(refused);
  expect(existsSync(join(home, "many.xlsx"))).toBe(false);
});

test("XLSX columns after Z are named AA, AB and so on", async () => {
  const { db } = await workbookOf();
  const path = join(makeHome(), "wide.xlsx");
  const columns = Array.from({ length: 54 }, (_, n) => `1 AS c${n}`).join();
  expect((await brandapi(["query", `SELECT ${columns}`, "-o", path, "--db", db])).code).toBe(0);
  const sheet = partsOf(path)["xl/worksheets/sheet1.xml"] ?? "";
  const places = [...sheet.matchAll(/ r="([A-Z]+)2"/g)].map(([, letters]) => letters);
  expect([25, 26, 51, 52, 53].map((column) => places[column])).toEqual(["Z", "AA", "AZ", "BA", "BB"]);
});

test.each(["--xlsx", "--parquet"])(
  "export %s does not print its binary output to a terminal",
  async (flag) => {
    const { db } = await workbookOf();
    const run = await brandapi(["export", "orders", flag, "--db", db], { tty: true });
    expect(run).toMatchObject({
      code: 2,
      out: "",
      err: expect.stringContaining("cannot be printed to a terminal"),
    });
  },
);

test("each table has a unique XLSX sheet name of up to 31 letters, digits and underscores", () => {
  const names = tableNames.map(sheetName);
  for (const name of names) expect(name).toMatch(/^\w{1,31}$/);
  expect(new Set(names).size).toBe(names.length);
});
