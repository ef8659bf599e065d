import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parse } from "csv-parse/sync";
import { expect, test } from "vitest";
import { encode, neutralizeFormulas } from "../../src/export/csv.js";
import type { CsvOptions } from "../../src/export/formats.js";
import { openRows, type RowValue } from "../../src/query/open-rows.js";
import { resolveTable } from "../../src/query/readable-tables.js";
import type { Column } from "../../src/resources/table-shape.js";
import { type Mirror, withReadTransaction } from "../../src/store/database.js";
import { anOrder, makeMirror, writeRead } from "../support/mirror.js";
import { brandapi } from "../support/program.js";
import fc, { anyText } from "../support/property.js";
import { visible } from "../support/visible.js";

const hostile = [
  '=HYPERLINK("http://x","y")',
  "+1 555",
  "-5.00",
  "@cmd",
  "\tx",
  "\r=1",
  " =1",
  "\n=1",
  "＝1",
  "＋1",
  "－1",
  "＠x",
  "-",
  "- 5",
  "a;=1",
  "a\t-1",
  "a; \u0000+1;@x",
  "a;b",
  "-5e3",
  "a,b",
  'a"b',
  "a\nb",
  "a\r\nb",
  "\r",
  '"',
  '""',
  ",",
  "",
  " ",
  "'",
  "a\u0000b",
  "\u0000",
  "a\u001fb",
  "\u001e",
  "\u001f",
  "a\u001e\u001fb",
  "\u0000",
  "a\u0000b",
  "\u001b[31m",
  "\u202eabc",
  "\ud800",
  "👩‍🚀",
  "Größe",
  "1e5",
  "1.0",
  "null",
  "true",
  "\ufeff",
  "\u2028",
]; // prettier-ignore

const text = fc.oneof(fc.constantFrom(...hostile), anyText, fc.constant(null));
const amount = fc.oneof(
  fc.integer({ min: -100_000, max: 100_000 }).map((cents) => cents / 100),
  fc.constantFrom(0.1, 123456789.25, 99999999999.5, 0.0002, 100, -0.5),
  fc.constant(null),
);
const order = fc.record({
  order_number: text,
  currency: text,
  host: fc.option(fc.record({ id: fc.constant("h"), username: text, last_name: text })),
  total_amount: amount,
  refund_amount: amount,
  is_cancelled: fc.option(fc.boolean()),
});

async function csvOf(mirror: Mirror, table: string): Promise<string> {
  return await withReadTransaction(mirror, async () => {
    const source = openRows({ mirror, table: resolveTable(mirror, table) });
    const chunks = [
      ...encode([source], { csv: { excel: false, decimalComma: false, delimiter: "," }, warn: () => {} }),
    ];
    return chunks.map(({ data }) => String(data)).join("");
  });
}

test("an independent parser reads the exact values of random orders from a CSV export", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(order, { minLength: 1, maxLength: 20 }), async (orders) => {
      const mirror = await makeMirror();
      try {
        writeRead(
          mirror,
          "orders",
          orders.map((fields, n) => anOrder(n, fields)),
        );
        const csv = await csvOf(mirror, "orders");
        const found = parse(csv, { columns: true, relax_column_count: false }) as Record<string, string>[];
        const table = mirror.db.prepare("SELECT * FROM orders ORDER BY record_id").all() as Record<
          string,
          string | number | null
        >[];
        expect(found).toEqual(
          table.map(({ record_id: _, day: __, month: ___, order_date_utc: ____, ...row }) =>
            Object.fromEntries(
              Object.entries(row).map(([name, value]) => [
                name,
                value === null ? "" : name.startsWith("is_") ? (value ? "true" : "false") : String(value),
              ]),
            ),
          ),
        );
      } finally {
        mirror.db.close();
      }
    }),
    { numRuns: 30 },
  );
});

test.each([100_082_959_399.35, 10_037_363_522.922, -1_020_735_201.2525, 999_999_999_999.5, 1e15, 65.35])(
  "a CSV export writes the amount %d exactly as the API sent it",
  async (total_amount) => {
    const mirror = await makeMirror();
    writeRead(mirror, "orders", [anOrder(1, { total_amount })]);
    const csv = await csvOf(mirror, "orders");
    expect(parse(csv, { columns: true })).toMatchObject([{ total_amount: String(total_amount) }]);
    mirror.db.close();
  },
);

test("a CSV export leaves formulas unchanged, and prints a single warning with the number of formulas", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [
    anOrder(1, { order_number: "=1+1", currency: " @x", total_amount: -5, external_order_id: "-5.00" }),
    anOrder(2, { order_number: "+49 (30)" }),
  ]);
  mirror.db.close();
  const run = await brandapi([
    "export",
    "orders",
    "--csv",
    "--columns",
    "order_number,currency,total_amount,external_order_id",
    "--db",
    mirror.path,
  ]);
  expect(run.out).toBe(
    "order_number,currency,total_amount,external_order_id\n=1+1, @x,-5,-5.00\n+49 (30),EUR,102.5,9002\n",
  );
  expect(run.err.match(/warning:/g)).toHaveLength(1);
  expect(run.err).toContain("3 cells would run as formulas");
});

test("--excel turns a formula into text even in an undocumented column that otherwise contains only numbers", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "gifts", [{ size: 41 }, { size: "=1+1" }]);
  mirror.db.close();
  const run = await brandapi(["export", "gifts", "--excel", "--columns", "size", "--db", mirror.path]);
  expect(run.out).toBe("\ufeffsize\r\n41\r\n'=1+1\r\n");
});

const formulas: readonly [text: string, safe: string][] = [
  ...["=1+1", "+1 555", "-5-3", "@x", "＝1", "＋1", "－1", "＠x", "\tx", "\rx"].map(
    (text) => [text, `'${text}`] as [string, string],
  ),
  [" \u0000\u001f=1", "' \u0000\u001f=1"],
  ["a;=1+1", "a;'=1+1"],
  ["a;+1", "a;'+1"],
  ["a;＠x", "a;'＠x"],
  ["a; \u0000-x", "a;' \u0000-x"],
  ["b\t@x", "b\t'@x"],
  ["d\n =3", "d\n' =3"],
  ["d\r＝3", "d\r'＝3"],
  ["d\r\n=3", "d\r\n'=3"],
  ["e;;-1", "e;;'-1"],
  ["=1;a\n=2", "'=1;a\n'=2"],
];

test.each(formulas.map(([text, safe]) => [visible(text), text, safe]))(
  "--excel changes %s so that no spreadsheet finds a formula in it, whichever delimiter the spreadsheet expects",
  (_, text, safe) => {
    expect(neutralizeFormulas(text)).toBe(safe);
  },
);

test.each(
  [
    "f;g - 1",
    "a\nb=1",
    "i\n- a list\n@name\n+1",
    "a,=1",
    "a=1",
    "-5.00",
    "+5",
    "-5,000.25",
    "-5e3",
    "+1.5E-7",
    "",
  ].map((text) => [visible(text), text]),
)("--excel does not change %s, which contains no formula", (_, text) => {
  expect(neutralizeFormulas(text)).toBe(text);
});

test.each([
  [
    "=1",
    "warns about a formula",
    ["1 cell would run as a formula in a spreadsheet; add `--excel` to export plain text"],
  ],
  [
    "a;=1",
    "warns about a formula",
    ["1 cell would run as a formula in a spreadsheet; add `--excel` to export plain text"],
  ],
  ["-1", "prints no warning", []],
])("a CSV export of the text %j %s", (text, _, warnings) => {
  const printed: string[] = [];
  const source = {
    name: "t",
    columns: [{ name: "a", type: "text", about: "" } as const],
    batches: () => [[[text]]],
  };
  const csv = { excel: false, decimalComma: false, delimiter: "," };
  expect([...encode([source], { csv, warn: (warning) => void printed.push(warning) })]).toHaveLength(2);
  expect(printed).toEqual(warnings);
});

/** Writes one cell as CSV. */
function cellOf(value: RowValue, type: Column["type"], options: Partial<CsvOptions> = {}): string {
  const columns = ["a", "b"].map((name) => ({ name, type, about: "" }));
  const source = { name: "t", columns, batches: () => [[[value, null]]] };
  const csv = { excel: false, decimalComma: false, delimiter: ",", ...options };
  const chunks = [...encode([source], { csv, warn: () => {} })];
  return String(chunks[1]?.data).replace(/[,;]\r?\n$/, "");
}

const cellOptions = {
  "without options": {},
  "with --decimal-comma": { decimalComma: true, delimiter: ";" },
  "with --excel": { excel: true },
};
const cells = [
  ["without options", 1, "boolean", "true"],
  ["without options", 0, "boolean", "false"],
  ["without options", 1, "integer", "1"],
  ["without options", null, "boolean", ""],
  ["with --decimal-comma", "1.5", "text", "1.5"],
  ["with --decimal-comma", 1.5, "any", "1,5"],
  ["with --excel", "2026-10-01T00:00:00.999Z", "timestamp", "2026-10-01 00:00:00"],
  ["with --excel", "2026-10-01T02:00:00+02:00", "timestamp", "2026-10-01 00:00:00"],
  ["with --excel", "2026-10-01T00:00:00Z", "any", "2026-10-01 00:00:00"],
  ["with --excel", "2026-10-01", "any", "2026-10-01"],
  ["with --excel", "2026-10-01", "date", "2026-10-01"],
  ["with --excel", "2026-10-01T00:00:00Z", "text", "2026-10-01T00:00:00Z"],
  ["with --excel", "=soon", "timestamp", "'=soon"],
] as const;

test.each(
  cells.map(
    ([options, value, type, text]) => [options, visible(value), type, visible(text), value, text] as const,
  ),
)(
  "a CSV export %s writes %s from a column of type `%s` as %s",
  (options, _value, type, _text, value, text) => {
    expect(cellOf(value, type, cellOptions[options])).toBe(text);
  },
);

test("--excel writes a BOM and CRLF line endings, and turns formulas into text without changing numbers", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [
    anOrder(1, { order_number: "=1+1", currency: "\n=2", total_amount: -5, external_order_id: "-5.00" }),
  ]);
  mirror.db.close();
  const run = await brandapi([
    "export",
    "orders",
    "--excel",
    "--columns",
    "order_number,currency,total_amount,external_order_id",
    "--db",
    mirror.path,
  ]);
  expect(run.out).toBe(
    "\ufefforder_number,currency,total_amount,external_order_id\r\n'=1+1,\"'\n'=2\",-5,-5.00\r\n",
  );
  expect(run.err).toBe("");
});

test("--excel writes timestamps in a format that spreadsheets recognize, and leaves other text unchanged", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [
    anOrder(1, { order_date: "2026-11-28T06:44:52.178Z", order_number: "2026-11-28T06:44:52Z" }),
    anOrder(2, { order_date: "2026-11-28T23:30:00-02:00", order_number: "2026-11-28" }),
    anOrder(3, { order_date: "2026-02-30T06:44:52Z", order_number: null }),
  ]);
  mirror.db.close();
  const columns = "order_date,order_number,day";
  const run = async (...args: string[]) => (await brandapi([...args, "--db", mirror.path])).out;
  expect(await run("export", "orders", "--excel", "--columns", columns)).toBe(
    "\ufefforder_date,order_number,day\r\n2026-11-28 06:44:52,2026-11-28T06:44:52Z,2026-11-28\r\n" +
      "2026-11-29 01:30:00,2026-11-28,2026-11-29\r\n2026-02-30T06:44:52Z,,\r\n",
  );
  expect(await run("query", "SELECT order_date, 'soon' AS a FROM orders LIMIT 1", "--excel")).toBe(
    "\ufefforder_date,a\r\n2026-11-28 06:44:52,soon\r\n",
  );
  expect(await run("export", "orders", "--csv", "--columns", "order_date,id")).toContain(
    "\n2026-11-28T06:44:52.178Z,",
  );
});

test("--decimal-comma writes numbers with a comma and separates cells with semicolons", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [
    anOrder(1, { order_number: "1.5", total_amount: 1234.5, refund_amount: 0.25, currency: "a;b" }),
    anOrder(2, { order_number: "x,y", total_amount: -7, refund_amount: null, currency: "EUR" }),
  ]);
  mirror.db.close();
  const columns = "order_number,total_amount,refund_amount,currency";
  const run = async (...flags: string[]) =>
    await brandapi(["export", "orders", "--columns", columns, ...flags, "--db", mirror.path]);
  const text = 'order_number;total_amount;refund_amount;currency\n1.5;1234,5;0,25;"a;b"\nx,y;-7;;EUR\n';
  expect((await run("--decimal-comma")).out).toBe(text);
  expect((await run("--decimal-comma", "--excel")).out).toBe(`\ufeff${text.replaceAll("\n", "\r\n")}`);
  const tsv = join(dirname(mirror.path), "orders.tsv");
  await run("--decimal-comma", "-o", tsv);
  expect(readFileSync(tsv, "utf8")).toContain("\n1.5\t1234,5\t0,25\ta;b\n");
  expect((await run("--decimal-comma", "--delimiter", "|")).out).toContain("\n1.5|1234,5|0,25|a;b\n");
  const sql = "SELECT total_amount / 4 AS quarter, 7 AS n FROM orders LIMIT 1";
  const query = await brandapi(["query", sql, "--decimal-comma", "--db", mirror.path]);
  expect(query.out).toBe("quarter;n\n308,625;7\n");
  expect(await run("--decimal-comma", "--delimiter", ",")).toMatchObject({
    code: 2,
    err: expect.stringContaining("`--decimal-comma` needs a delimiter other than a comma."),
  });
  expect(await run("--decimal-comma", "--json")).toMatchObject({
    code: 2,
    err: expect.stringContaining("`--decimal-comma` is for CSV, not for `--json`"),
  });
});

test("a CSV export quotes empty values in a single-column file, so that readers do not skip the rows", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1, { currency: null }), anOrder(2)]);
  mirror.db.close();
  const run = await brandapi(["export", "orders", "--csv", "--columns", "currency", "--db", mirror.path]);
  expect(run.out).toBe('currency\n""\nEUR\n');
});

test("a CSV export of an empty table contains a header row", async () => {
  const mirror = await makeMirror();
  mirror.db.close();
  const run = await brandapi(["export", "changes", "--csv", "--db", mirror.path]);
  expect(run.out).toMatch(/^change_id,resource,key,kind,field,old,new,[^\n]*\n$/);
});
