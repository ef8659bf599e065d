import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { strFromU8, unzipSync } from "fflate";
import { expect, test } from "vitest";
import type { RowSources } from "../../src/export/formats.js";
import { encode, formatCell, sheetName } from "../../src/export/xlsx.js";
import type { Row, RowSource } from "../../src/query/open-rows.js";
import { tableNames } from "../../src/query/readable-tables.js";
import type { Column } from "../../src/resources/table-shape.js";
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
  ["soon", "date", "soon"],
  ["5", "number", "5"],
  ["1", "boolean", "1"],
  ["2026-10-01T00:00:00Z", "date", "2026-10-01T00:00:00Z"],
  ["2026-10-01T12:00:00+02:00", "any", "2026-10-01T12:00:00+02:00"],
] as const;

test.each(texts.map(([value, type, text]) => [visible(value), type, visible(text), value, text] as const))(
  "an XLSX export writes %s from a column of type `%s` as the text %s",
  (_value, type, _text, value, text) => {
    const cell = ` t="inlineStr" s="1"><is><t xml:space="preserve">${text}</t></is></c>`;
    expect(formatCell(value, { type })).toBe(cell);
  },
);

test.each([
  ["2026-10-01", "date", 46296, "date", 2],
  ["1900-03-01", "date", 61, "date", 2],
  ["9999-12-31", "date", 2958465, "date", 2],
  ["2026-10-01", "any", 46296, "date", 2],
  ["1970-01-01", "date", 25569, "date", 2],
  ["2026-10-01", "timestamp", 46296, "time", 3],
  ["2026-10-01 12:00", "timestamp", 46296.5, "time", 3],
  ["2026-10-01 12:00:00", "any", 46296.5, "time", 3],
  ["2026-10-01T12:00:00.25Z", "any", 46296.50000289352, "time", 3],
  [0, "boolean", 0, "boolean", 5],
  [1, "boolean", 1, "boolean", 5],
] as const)(
  "an XLSX export writes %j from a column of type `%s` as the number %s in a %s format",
  (value, type, number, _, style) => {
    expect(formatCell(value, { type })).toBe(` s="${style}"><v>${number}</v></c>`);
  },
);

test.each([999_999_999_999_999, 1e15 + 0.5])(
  "an XLSX export writes the number %s without a number format",
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
  const bytes = readFileSync(again);
  expect(bytes.equals(readFileSync(path))).toBe(true);
  // The date of each ZIP entry is 1 January 2000.
  expect(bytes.readUInt16LE(12)).toBe((20 << 9) | (1 << 5) | 1);
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

test("an XLSX sheet shows amounts from views and queries with two decimals, but not rates or counts", async () => {
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
    err: expect.stringMatching(/more rows than a sheet can hold.*1,048,576[\s\S]*`--since`[\s\S]*CSV/),
  };
  expect(await run("export", "orders", "sync_runs", "-o", "many.xlsx")).toMatchObject(refused);
  expect(existsSync(join(home, "many.xlsx"))).toBe(false);
});

test("the columns of an XLSX sheet after Z are named AA, AB and so on", async () => {
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

/** Writes tables as a workbook. Returns its parts, the warnings and the number of rows in each chunk. */
function workbook(...tables: { name: string; columns: readonly Column[]; rows: readonly Row[] }[]) {
  const warnings: string[] = [];
  const sources = tables.map(({ rows, ...table }) => ({ ...table, batches: () => [rows] }));
  const chunks = [...encode(sources as unknown as RowSources, { warn: (text) => void warnings.push(text) })];
  const bytes = Buffer.concat(chunks.map(({ data }) => Buffer.from(data)));
  const files = unzipSync(bytes);
  for (const [name, data] of Object.entries(files)) {
    // In the central directory, an entry's checksum is 30 bytes before its name.
    expect([name, bytes.readUInt32LE(bytes.lastIndexOf(name) - 30)]).toEqual([name, crc32(data)]);
  }
  const parts = Object.fromEntries(Object.entries(files).map(([name, data]) => [name, strFromU8(data)]));
  return { parts, warnings, rows: chunks.map(({ rows }) => rows) };
}

const columnsOf = (...types: Column["type"][]) =>
  types.map((type, index) => ({ name: `column_${index}`, type, about: "" }));

test("a large XLSX sheet is written in several chunks, without losing rows", () => {
  const values = Array.from({ length: 5_000 }, (_, n) => [n, n % 2 === 0 ? `text ${n}` : null]);
  const { parts, rows } = workbook({ name: "t", columns: columnsOf("integer", "text"), rows: values });
  const sheet = parts["xl/worksheets/sheet1.xml"] ?? "";
  expect([...sheet.matchAll(/<row r="(\d+)">/g)].map(([, n]) => Number(n))).toEqual(
    Array.from({ length: 5_001 }, (_, n) => n + 1),
  );
  expect(sheet).toContain('<row r="5000"><c r="A5000"><v>4998</v></c><c r="B5000" t="inlineStr"');
  expect(sheet).toContain(
    '<row r="5001"><c r="A5001"><v>4999</v></c></row></sheetData><autoFilter ref="A1:B5001"/>',
  );
  expect(rows.filter((count) => count).length).toBeGreaterThan(1);
  expect(rows.reduce<number>((sum, count = 0) => sum + count, 0)).toBe(5_000);
});

test("each column of an XLSX sheet is wide enough for its values and its bold header", () => {
  const names = { text: "a", timestamp: "b", date: "c", integer: "a_title_of_25_characters_" } as const;
  const columns = Object.entries(names).map(([type, name]) => ({ name, type, about: "" }) as Column);
  const sheet = workbook({ name: "t", columns, rows: [] }).parts["xl/worksheets/sheet1.xml"] ?? "";
  const widths = [...sheet.matchAll(/<col min="(\d)" max="(\d)" width="(\d+)"/g)].map((match) =>
    match.slice(1),
  );
  expect(widths).toEqual([
    ["1", "1", "20"],
    ["2", "2", "20"],
    ["3", "3", "12"],
    ["4", "4", "27"],
  ]);
  expect(sheet).toContain(
    '<row r="1"><c r="A1" t="inlineStr" s="4"><is><t xml:space="preserve">a</t></is></c><c r="B1"',
  );
});

test("an XLSX workbook refers to each sheet, its filter and the styles", () => {
  const columns = columnsOf("text");
  const { parts } = workbook(
    { name: "first", columns, rows: [["a"]] },
    { name: "x".repeat(40), columns, rows: [] },
  );
  expect(Object.keys(parts).sort()).toEqual([
    "[Content_Types].xml",
    "_rels/.rels",
    "xl/_rels/workbook.xml.rels",
    "xl/styles.xml",
    "xl/workbook.xml",
    "xl/worksheets/sheet1.xml",
    "xl/worksheets/sheet2.xml",
  ]);
  const book = parts["xl/workbook.xml"];
  const second = "x".repeat(31);
  expect(book).toContain(
    `<sheet name="first" sheetId="1" r:id="rId1"/><sheet name="${second}" sheetId="2" r:id="rId2"/>`,
  );
  expect(book).toContain(`localSheetId="0" hidden="1">'first'!$A$1:$A$2</definedName>`);
  expect(book).toContain(`localSheetId="1" hidden="1">'${second}'!$A$1:$A$1</definedName>`);
  const relations = parts["xl/_rels/workbook.xml.rels"];
  for (const [id, target] of [
    [1, "worksheets/sheet1.xml"],
    [2, "worksheets/sheet2.xml"],
    [3, "styles.xml"],
  ])
    expect(relations).toMatch(new RegExp(`Id="rId${id}" Type="[^"]+" Target="${target}"`));
  for (const [name, type] of [
    ["workbook", "sheet.main"],
    ["styles", "styles"],
    ["worksheets/sheet1", "worksheet"],
    ["worksheets/sheet2", "worksheet"],
  ])
    expect(parts["[Content_Types].xml"]).toMatch(
      new RegExp(`PartName="/xl/${name}.xml" ContentType="[^"]+\\.${type}\\+xml"`),
    );
});

test("the cell styles of an XLSX workbook format text, days, times, titles, booleans and amounts", () => {
  const styles = workbook({ name: "t", columns: columnsOf("text"), rows: [] }).parts["xl/styles.xml"] ?? "";
  const formats = Object.fromEntries(
    [...styles.matchAll(/<numFmt numFmtId="(\d+)" formatCode="([^"]+)"/g)].map(([, id, code]) => [id, code]),
  );
  const cells = /<cellXfs count="7">(.*)<\/cellXfs>/.exec(styles)?.[1] ?? "";
  const used = [...cells.matchAll(/numFmtId="(\d+)" fontId="(\d)"/g)].map(([, id = "", font]) => [
    formats[id] ?? id,
    font,
  ]);
  expect(used).toEqual([
    ["0", "0"],
    ["49", "0"],
    ["yyyy\\-mm\\-dd", "0"],
    ["yyyy\\-mm\\-dd\\ hh:mm:ss", "0"],
    ["49", "1"],
    ["&quot;true&quot;;&quot;true&quot;;&quot;false&quot;", "0"],
    ["4", "0"],
  ]);
  expect(styles).toMatch(/<fonts count="2"><font><sz val="11"\/>.*<font><b\/>/);
});

test.each([
  [32_767, "writes the text in full", 32_767, []],
  [
    32_768,
    "truncates the text by one character and prints a warning",
    32_767,
    [expect.stringContaining("1 cell truncated")],
  ],
])("an XLSX export of a text of %i characters %s", (length, _, written, warnings) => {
  const workbookOfText = workbook({
    name: "t",
    columns: columnsOf("text"),
    rows: [["x".repeat(length)], ["y"]],
  });
  expect(workbookOfText.parts["xl/worksheets/sheet1.xml"]).toMatch(new RegExp(`>x{${written}}<`));
  expect(workbookOfText.warnings).toEqual(warnings);
});

test.each([
  ["accepts", 1_048_575],
  ["rejects", 1_048_576],
])("an XLSX export %s a table or query result with %i rows", (outcome, rows) => {
  const table = { name: "t", columns: columnsOf("text"), batches: () => [], count: () => rows };
  const result = { ...table, batches: () => [Array<Row>(rows).fill([])], count: undefined };
  for (const source of [table, result]) {
    const writing = () => [...encode([source as RowSource], { warn: () => {} })];
    if (outcome === "rejects") expect(writing).toThrow("`t` has more rows than a sheet can hold");
    else expect(writing).not.toThrow();
  }
});
