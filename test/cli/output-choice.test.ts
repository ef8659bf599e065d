import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { parse } from "csv-parse/sync";
import { expect, test } from "vitest";
import { chooseOutput, type OutputFlags, selectsOutput } from "../../src/cli/output.js";
import { formats } from "../../src/export/formats.js";
import { formatBytes } from "../../src/util/format-text.js";
import { makeHome } from "../support/home.js";
import { anOrder, mirrorOfOrders } from "../support/mirror.js";
import { brandapi, testDeps } from "../support/program.js";

async function mirrorOf(count: number): Promise<string> {
  const name = (n: number) => (n % 3 === 0 ? `a;b\t"${n}",|c` : `#${n}`);
  return await mirrorOfOrders(Array.from({ length: count }, (_, n) => anOrder(n, { order_number: name(n) })));
}

async function exported(db: string, file: string, ...flags: string[]): Promise<Buffer> {
  const home = makeHome();
  const run = await brandapi(["export", "orders", "-o", file, ...flags, "--db", db], { home });
  expect(run).toMatchObject({ code: 0, out: "" });
  return readFileSync(join(home, file));
}

test.each<[string, string, OutputFlags]>([
  ["--csv", 'CSV to stdout with delimiter ","', { csv: true }],
  ["-o - --json", "JSON to stdout", { out: "-", json: true }],
  ["-o /dev/stdout --ndjson", "NDJSON to stdout", { out: "/dev/stdout", ndjson: true }],
  ["--excel", 'CSV to stdout with delimiter ",", for Excel', { excel: true }],
  ["--decimal-comma", 'CSV to stdout with delimiter ";", with decimal commas', { decimalComma: true }],
  ["--delimiter tab", 'CSV to stdout with delimiter "\\t"', { delimiter: "tab" }],
  [
    "--decimal-comma --delimiter :",
    'CSV to stdout with delimiter ":", with decimal commas',
    { decimalComma: true, delimiter: ":" },
  ],
  ["-o o.tsv", 'CSV to a file with delimiter "\\t"', { out: "o.tsv" }],
  ["-o o.tsv --delimiter tab", 'CSV to a file with delimiter "\\t"', { out: "o.tsv", delimiter: "tab" }],
  [
    "-o o.tsv --decimal-comma",
    'CSV to a file with delimiter "\\t", with decimal commas',
    { out: "o.tsv", decimalComma: true },
  ],
  ["-o sub/o.csv", 'CSV to a file with delimiter ","', { out: "sub/o.csv" }],
  ["-o o.gz.csv", 'CSV to a file with delimiter ","', { out: "o.gz.csv" }],
  ["-o O.CSV.GZ", 'CSV to a file with delimiter ",", compressed', { out: "O.CSV.GZ" }],
  ["-o new/", 'CSV to a folder with delimiter ","', { out: "new/" }],
  ["-o made, an existing folder,", 'CSV to a folder with delimiter ","', { out: "made" }],
  ["-o made.V2, an existing folder,", 'CSV to a folder with delimiter ","', { out: "made.V2" }],
  ["-o made.JSON, even though a folder has this name,", "JSON to a file", { out: "made.JSON" }],
])("an export with %s writes %s", (_, expected, flags) => {
  const deps = testDeps();
  for (const name of ["made", "made.V2", "made.JSON"]) mkdirSync(join(deps.cwd, name));
  const { format, destination, csv } = chooseOutput(flags, formats, deps);
  const options = [
    csv.excel && "for Excel",
    csv.decimalComma && "with decimal commas",
    destination.kind !== "stdout" &&
      "isCompressed" in destination &&
      destination.isCompressed &&
      "compressed",
  ].filter((option) => typeof option === "string");
  if (format.name === "csv") options.unshift(`delimiter ${JSON.stringify(csv.delimiter)}`);
  const place = destination.kind === "stdout" ? "stdout" : `a ${destination.kind}`;
  expect(
    [`${format.name.toUpperCase()} to ${place}`, ...options]
      .join(", ")
      .replace(", delimiter", " with delimiter"),
  ).toBe(expected);
});

test.each<[string, OutputFlags]>([
  ["without options", {}],
  ["with `-o -`", { out: "-" }],
  ["with `-o /dev/stdout`", { out: "/dev/stdout" }],
])("%s, `query` prints a table", (_, flags) => {
  expect(selectsOutput(flags)).toBe(false);
});

test.each<[string, string, OutputFlags]>([
  ["-o o.csv", "CSV", { out: "o.csv" }],
  ["--ndjson", "NDJSON", { ndjson: true }],
  ["--excel", "CSV", { excel: true }],
  ["--decimal-comma", "CSV", { decimalComma: true }],
  ["--delimiter ;", "CSV", { delimiter: ";" }],
])("with `%s`, `query` writes its result as %s rather than as a table", (_flag, _format, flags) => {
  expect(selectsOutput(flags)).toBe(true);
});

test.each([".7z", ".br", ".bz2", ".lz4", ".rar", ".XZ", ".zip", ".zst"])(
  "an output file that ends in %s is rejected, because gzip is the only supported compression",
  (extension) => {
    const flags = { csv: true, out: `o.csv${extension}` };
    expect(() => chooseOutput(flags, formats, testDeps())).toThrow("Only gzip compression is supported");
  },
);

test.each([
  ["o.pq", "-o o.parquet"],
  ["O.XLS", "-o O.xlsx"],
  ["o.xlsm", "-o o.xlsx"],
])("the error for -o %s suggests %s", (out, suggestion) => {
  expect(() => chooseOutput({ out }, formats, testDeps())).toThrow(
    expect.objectContaining({ hint: expect.stringContaining(`did you mean \`${suggestion}\``) }),
  );
});

test("the extension of the output file selects the format, regardless of case", async () => {
  const db = await mirrorOf(3);
  const csv = (await exported(db, "o.csv")).toString();
  expect(csv).toMatch(/^id,external_order_id,/);
  expect((await exported(db, "o.CSV")).toString()).toBe(csv);
  expect((await exported(db, "o.tsv")).toString()).toMatch(/^id\texternal_order_id\t/);
  const json = JSON.parse((await exported(db, "o.json")).toString());
  const lines = (await exported(db, "o.ndjson")).toString();
  expect((await exported(db, "o.jsonl")).toString()).toBe(lines);
  expect(
    lines
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line)),
  ).toEqual(json);
});

test("exporting the same rows to a .gz file twice produces identical compressed files", async () => {
  const db = await mirrorOf(300);
  for (const ending of ["csv", "tsv", "json", "ndjson", "jsonl"]) {
    const plain = await exported(db, `o.${ending}`);
    const packed = await exported(db, `o.${ending}.gz`);
    expect(packed.length).toBeLessThan(plain.length / 3);
    expect(gunzipSync(packed).equals(plain)).toBe(true);
    expect((await exported(db, `o.${ending}.gz`)).equals(packed)).toBe(true);
  }
  expect(gunzipSync(await exported(db, "o.gz", "--csv")).equals(await exported(db, "o.csv"))).toBe(true);
});

test.each(["orders.pdf", "orders.xls", "orders.zip.gz", "orders.xlsx.gz", "orders"])(
  "the output file %s is rejected before any file is opened, and the error lists the valid extensions",
  async (file) => {
    const home = makeHome();
    for (const command of [
      ["export", "orders", "-o", file, "--db", "no/such.sqlite"],
      ["query", "SELECT 1", "-o", file, "--db", "no/such.sqlite"],
    ]) {
      const run = await brandapi(command, { home });
      expect(run.code).toBe(2);
      expect(run.err).toContain(`Unsupported file extension: ${file}`);
      for (const known of [".csv", ".tsv", ".json", ".ndjson", ".jsonl", ".xlsx", ".parquet", ".gz"])
        expect(run.err).toContain(known);
    }
    expect(readdirSync(home)).toEqual([]);
  },
);

test.each([
  [",", ","],
  [";", ";"],
  ["|", "|"],
  ["tab", "\t"],
])(
  "parsing a CSV export with the delimiter `%s` restores the exported values",
  async (argument, delimiter) => {
    const db = await mirrorOf(300);
    const wanted = parse((await exported(db, "o.csv")).toString()) as string[][];
    const flags = ["--delimiter", argument];
    expect(parse((await exported(db, "o.csv", ...flags)).toString(), { delimiter })).toEqual(wanted);
    const excel = (await exported(db, "o.csv", ...flags, "--excel")).toString();
    expect(excel).toMatch(new RegExp(`^\ufeffid\\${delimiter}external_order_id`));
    const sql = "SELECT order_number, total_amount FROM orders";
    const answer = await brandapi(["query", sql, "--csv", ...flags, "--db", db]);
    const columns = wanted.map((row) => [row[2], row[5]]);
    expect(parse(answer.out, { delimiter })).toEqual(columns);
  },
);

test.each([
  ["--delimiter x --csv", "Unknown delimiter: `x`."],
  ["--delimiter ; --json", "`--delimiter` is for CSV, not for `--json`"],
  ["--excel -o o.ndjson", "`--excel` is for CSV, not for `--ndjson`"],
  ["--decimal-comma --parquet", "`--decimal-comma` is for CSV, not for `--parquet`"],
  ["--decimal-comma --delimiter ,", "`--decimal-comma` needs a delimiter other than a comma"],
  ["-o o.xlsx --csv", "`--csv` contradicts the file's extension: o.xlsx"],
  ["-o o.json --ndjson", "`--ndjson` contradicts the file's extension: o.json"],
  ["-o o.csv.gz --json", "`--json` contradicts the file's extension: o.csv.gz"],
  ["-o o.PARQUET --xlsx", "`--xlsx` contradicts the file's extension: o.PARQUET"],
  ["-o o.json --singer", "`--singer` contradicts the file's extension: o.json"],
  ["-o o.tsv --delimiter ;", '`--delimiter ";"` contradicts the file\'s extension: o.tsv'],
  ["-o o.gz --parquet", "Unsupported file extension: o.gz"],
  ["-o exports/ --singer", "specify a file in this folder: `-o exports/export.ndjson`"],
])("`export orders %s` exits with code 2 and the message %j", async (flags, message) => {
  const run = await brandapi(["export", "orders", ...flags.split(" "), "--db", await mirrorOf(1)]);
  expect(run.code).toBe(2);
  expect(run.err).toContain(message);
});

test("an export in a binary format is written to stdout if stdout is a pipe, but is rejected if stdout is a terminal", async () => {
  const db = await mirrorOf(1);
  const exportTo = (stdout: boolean, flag: string) =>
    brandapi(["export", "orders", flag, "--db", db], { tty: { stdout } });
  expect((await exportTo(false, "--parquet")).out).toMatch(/^PAR1/);
  expect((await exportTo(true, "--csv")).out).toMatch(/^id,/);
  expect(await exportTo(true, "--parquet")).toMatchObject({
    code: 2,
    out: "",
    err: expect.stringContaining("`-o FILE.parquet`"),
  });
});

test("an export of one table names the table in its warnings and in its summary, even if it exports no rows", async () => {
  const db = await mirrorOfOrders([anOrder(1, { order_number: "=1" })]);
  const run = async (...args: string[]) =>
    (await brandapi(["export", "orders", "-o", "o.csv", "--db", db, ...args])).err;
  expect(await run("--where", "0")).toMatch(/^orders: 0 rows, /);
  expect(await run()).toMatch(/^warning: orders: 1 cell .*\norders: 1 row, /);
});

test.each([
  ["the mirror", "real.sqlite", "--csv"],
  ["the mirror's write-ahead log", "real.sqlite-wal", "--csv"],
  ["a link to the mirror", "link.sqlite", "--csv"],
  ["a link to the mirror with the extension .csv", "link.csv", "--csv"],
  ["the config file", "config.json", "--json"],
])("an export with %s as its output file is rejected, and changes nothing", async (_, file, flag) => {
  const home = makeHome();
  const real = join(home, "real.sqlite");
  copyFileSync(await mirrorOf(1), real);
  for (const link of ["link.sqlite", "link.csv"]) symlinkSync(real, join(home, link));
  const before = readFileSync(real);
  const argv = ["export", "orders", flag, "-o", file, "--db", "link.sqlite"];
  const run = await brandapi(argv, { home, env: { BRANDAPI_CONFIG_DIR: home } });
  expect(run).toMatchObject({
    code: 2,
    err: expect.stringContaining("would overwrite the mirror or the config file"),
  });
  expect(readFileSync(real).equals(before)).toBe(true);
  expect(existsSync(join(home, "config.json"))).toBe(false);
});

test("if a compressed export fails, the previous file is kept", async () => {
  const db = await mirrorOf(3_000);
  const home = makeHome();
  const condition = "CASE WHEN id = 'order-2500' THEN json('x') ELSE 1 END";
  await brandapi(["export", "orders", "-o", "o.csv.gz", "--db", db], { home });
  const before = readFileSync(join(home, "o.csv.gz"));
  const args = ["export", "orders", "-o", "o.csv.gz", "--where", condition, "--db", db];
  const run = await brandapi(args, { home });
  expect(run).toMatchObject({ code: 2, err: expect.stringContaining("malformed JSON") });
  expect(readFileSync(join(home, "o.csv.gz")).equals(before)).toBe(true);
  expect(readdirSync(home).filter((name) => name.endsWith(".part"))).toEqual([]);
  expect(existsSync(join(home, "o.csv"))).toBe(false);
});

test("an export of several tables to a folder writes one file per table, in CSV by default", async () => {
  const db = await mirrorOf(5);
  const home = makeHome();
  const run = async (...args: string[]) =>
    await brandapi(["export", "orders", "order-line-items", ...args, "--db", db], { home });
  const made = await run("-o", "new/exports/");
  expect(made).toMatchObject({ code: 0, out: "" });
  const sizes = ["orders", "order_line_items"].map(
    (name) => statSync(join(home, `new/exports/${name}.csv`)).size,
  );
  const total = formatBytes((sizes[0] ?? 0) + (sizes[1] ?? 0));
  expect(made.err).toBe(`orders: 5 rows, order_line_items: 5 rows, ${total}: new/exports/\n`);
  expect(readdirSync(join(home, "new/exports")).sort()).toEqual(["order_line_items.csv", "orders.csv"]);
  expect(readFileSync(join(home, "new/exports/orders.csv")).equals(await exported(db, "o.csv"))).toBe(true);
  await run("--ndjson", "-o", "new/exports");
  expect(readdirSync(join(home, "new/exports"))).toHaveLength(4);
  await run("--xlsx", "-o", "new/exports");
  expect(readdirSync(join(home, "new/exports"))).toHaveLength(6);
  await run("--csv", "--delimiter", "tab", "-o", "new/exports/");
  expect(readFileSync(join(home, "new/exports/orders.tsv")).equals(await exported(db, "o.tsv"))).toBe(true);
  const one = await brandapi(["export", "orders", "-o", "one/", "--db", db], { home });
  expect(one.err).toMatch(/^orders: 5 rows, [\d.]+ kB: one\/\n$/);
  expect(readdirSync(join(home, "one"))).toEqual(["orders.csv"]);
  for (const args of [["--csv"], ["-o", "both.csv"], ["-o", "both.json"]]) {
    const refused = await run(...args);
    expect(refused).toMatchObject({ code: 2, out: "" });
    expect(refused.err).toContain("can contain only one table.");
  }
  const query = await brandapi(["query", "SELECT 1", "-o", "one", "--db", db], { home });
  expect(query).toMatchObject({
    code: 2,
    err: expect.stringContaining("hint: specify a file in this folder, such as `-o one/result.csv`"),
  });
  expect(readdirSync(home).sort()).toEqual(["new", "one"]);
});

test("an export of several tables reports the number of rows in each table", async () => {
  const db = await mirrorOf(5);
  const home = makeHome();
  const rows = "orders: 5 rows, order_line_items: 5 rows";
  const run = async (file: string, ...flags: string[]) =>
    (await brandapi(["export", "orders", "order-line-items", "-o", file, ...flags, "--db", db], { home }))
      .err;
  expect(await run("o.xlsx")).toMatch(new RegExp(`^${rows}, [\\d.]+ kB: o\\.xlsx\n$`));
  expect(await run("o.jsonl", "--singer")).toMatch(new RegExp(`^${rows}, [\\d.]+ kB: o\\.jsonl\n$`));
  expect(await run("o.jsonl.gz", "--singer")).toMatch(new RegExp(`^${rows}, [\\d.]+ k?B: o\\.jsonl\\.gz\n$`));
});
