import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { parse } from "csv-parse/sync";
import { expect, test } from "vitest";
import { Stopped } from "../../src/errors.js";
import { makeHome } from "../support/home.js";
import { anOrder, makeMirror, mirrorOfOrders, writeRead } from "../support/mirror.js";
import { binPath, spawnBrandapi } from "../support/process.js";
import { brandapi } from "../support/program.js";

async function ask(path: string, sql: string, ...flags: string[]) {
  return await brandapi(["query", sql, ...flags, "--db", path]);
}

const forever = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT";

test("query prints its result as a table, as CSV or as JSON", async () => {
  const path = await mirrorOfOrders();
  const sql = "SELECT id, total_amount, fulfillment_status FROM orders ORDER BY id LIMIT 2";
  expect((await ask(path, sql)).out).toBe(
    "id       total_amount  fulfillment_status\norder-0         100.5                null\norder-1         101.5                null\n",
  );
  expect((await ask(path, sql, "--csv")).out).toBe(
    "id,total_amount,fulfillment_status\norder-0,100.5,\norder-1,101.5,\n",
  );
  expect((await ask(path, sql, "--json")).out).toBe(
    '[\n{"id":"order-0","total_amount":100.5,"fulfillment_status":null},\n{"id":"order-1","total_amount":101.5,"fulfillment_status":null}\n]\n',
  );
});

test("query prints the column names and a note for an empty result", async () => {
  const none = await ask(await mirrorOfOrders(), "SELECT id FROM orders WHERE id = 'x'");
  expect(none).toMatchObject({ out: "id\n", err: "No rows.\n" });
});

test("query prints large integers, bytes, quotes and duplicate column names correctly", async () => {
  const path = await mirrorOfOrders();
  const sql = "SELECT 9007199254740993 AS a, x'00ff' AS a, 'a\"b,' || char(10) AS t";
  expect((await ask(path, sql, "--json")).out).toBe(
    '[\n{"a":9007199254740993,"a_2":"00ff","t":"a\\"b,\\n"}\n]\n',
  );
  expect(parse((await ask(path, sql, "--csv")).out)).toEqual([
    ["a", "a_2", "t"],
    ["9007199254740993", "00ff", 'a"b,\n'],
  ]);
});

test("query escapes control characters on a terminal", async () => {
  const path = await mirrorOfOrders();
  expect((await ask(path, "SELECT char(27) || '[31m' AS x, char(8238) AS y")).out).toContain(
    "\\u001b[31m  \\u202e",
  );
});

test("query prints at most 1,000 rows in a table by default, and a note if the result has more rows", async () => {
  const path = await mirrorOfOrders(1_200);
  const limited = await ask(path, "SELECT id FROM orders", "--limit", "2");
  expect([limited.out.split("\n").length, limited.err]).toEqual([4, ""]);
  expect((await ask(path, "SELECT id FROM orders", "--limit", "2", "--csv")).out.split("\n")).toHaveLength(4);
  expect(await ask(path, "SELECT id FROM orders", "--limit", "0")).toMatchObject({ out: "id\n", err: "" });
  const cut = await ask(path, "SELECT id FROM orders");
  expect(cut.out.split("\n")).toHaveLength(1_002);
  expect(cut.err).toContain("first 1,000 rows");
  expect((await ask(path, "SELECT id FROM orders LIMIT 1000")).err).toBe("");
  const all = await ask(path, "SELECT id FROM orders", "--csv");
  expect(all.out.split("\n")).toHaveLength(1_202);
  expect(all.err).toBe("");
  expect((await ask(path, "SELECT id FROM orders WHERE 0", "--json")).out).toBe("[]\n");
});

const rejected = [
  ["DELETE FROM orders", "only read-only statements"],
  ["INSERT INTO orders (id) VALUES (1) RETURNING id", "only read-only statements"],
  ["WITH x AS (SELECT 1) DELETE FROM orders RETURNING id", "only read-only statements"],
  ["ATTACH 'other.sqlite' AS o", "only read-only statements"],
  ["/* SELECT */ PRAGMA journal_mode = DELETE", "only read-only statements"],
  ["PRAGMA writable_schema(1)", "only read-only statements"],
  ["PRAGMA journal_mode(delete)", "only read-only statements"],
  ["PRAGMA user_version(5)", "only read-only statements"],
  ["PRAGMA main.encoding('utf16')", "only read-only statements"],
  ["VACUUM INTO 'copy.sqlite'", "only read-only statements"],
  ["BEGIN", "only read-only statements"],
  ["SELEC 1", "syntax error"],
  ["SELECT * FROM no_such_table", "no such table: no_such_table"],
  ["SELECT * FROM no_such_table", "lists the tables and views"],
  ["SELECT * FROM orders WHERE BY id", "lists the tables and views"],
  ["", "no statements"],
] as const;

test.each(rejected.map(([sql, why]) => [sql === "" ? "an empty statement" : JSON.stringify(sql), why, sql]))(
  "query rejects %s with exit code 2 and the message %j",
  async (_, why, sql) => {
    const path = await mirrorOfOrders();
    const run = await brandapi(["query", sql, "--db", path]);
    expect(run.code).toBe(2);
    expect(run.err).toContain(why);
    expect(run.out).toBe("");
  },
);

test("query reads the statement from a file or from stdin", async () => {
  const path = await mirrorOfOrders();
  const home = makeHome();
  const sql = "-- what is there\nSELECT id FROM orders ORDER BY id LIMIT 1;\n";
  writeFileSync(join(home, "one.sql"), sql);
  const wanted = "id\norder-0\n";
  const from = async (args: string[], stdin = "") =>
    await brandapi(["query", ...args, "--db", path], { home, stdin });
  expect(await from(["-f", "one.sql"])).toMatchObject({ code: 0, out: wanted, err: "" });
  expect(await from([], sql)).toMatchObject({ code: 0, out: wanted, err: "" });
  expect(await from(["-f", "-"], sql)).toMatchObject({ code: 0, out: wanted, err: "" });
  expect(await from(["-"], sql)).toMatchObject({ code: 0, out: wanted, err: "" });
  expect(await from([sql])).toMatchObject({ code: 0, out: wanted, err: "" });
  expect(await from(["--csv", sql.replace("-- ", "--")])).toMatchObject({ code: 0, out: wanted, err: "" });
  expect(await from([], `\ufeff${sql}`)).toMatchObject({ code: 0, out: wanted, err: "" });
  expect(await from(["-f", "none.sql"])).toMatchObject({
    code: 3,
    err: expect.stringMatching(/^brandapi: Cannot use \S*none.sql: no such file or folder/),
  });
  expect((await from(["SELECT 1", "-f", "one.sql"])).code).toBe(2);
  const typed = await brandapi(["query", "--db", path], { tty: true });
  expect(typed).toMatchObject({ code: 2, err: expect.stringContaining("No SQL statement was given.") });
  const signal = AbortSignal.abort(new Stopped("SIGINT"));
  const waiting = await brandapi(["query", "-f", "-", "--db", path], { tty: true, signal });
  expect(waiting.code).toBe(130);
});

test.each([
  ["query -f -", "The input from stdin exceeds the limit of 16 MiB."],
  ["query", "The input from stdin exceeds the limit of 16 MiB."],
  ["query -f /dev/zero", "The input from /dev/zero exceeds the limit of 16 MiB."],
  [
    "login --base-url https://x.example/api/brand/v1 --key-stdin",
    "The input from stdin exceeds the limit of 16 MiB",
  ],
])("endless input is rejected: `yes | brandapi %s`", async (command, message) => {
  const path = await mirrorOfOrders();
  const program = spawnBrandapi([...command.split(" "), "--db", path], { stdin: null });
  const yes = spawn("yes", { stdio: ["ignore", "pipe", "ignore"] });
  program.child.stdin?.on("error", () => {});
  yes.stdout.pipe(program.child.stdin as NodeJS.WritableStream);
  const ended = await program.ended;
  yes.kill();
  expect(ended).toMatchObject({ code: 2, out: "", err: expect.stringContaining(message) });
});

test("query binds numeric-looking parameters as numbers, and all others as text", async () => {
  const path = await mirrorOfOrders(5);
  const sql =
    "SELECT :text AS a, typeof(:text) AS b, :whole AS c, typeof(:whole) AS d, :amount AS e, typeof(:amount) AS f, ':no' AS g";
  const run = await ask(path, sql, "-p", "text=007", "-p", "whole=12", "--param", "amount=-1.5", "--json");
  expect(JSON.parse(run.out)).toEqual([
    { a: "007", b: "text", c: 12, d: "integer", e: -1.5, f: "real", g: ":no" },
  ]);
  const told = async (values: string[]) => {
    const columns = values.map((_, n) => `typeof(:v${n}) || ' ' || :v${n} AS v${n}`);
    const flags = values.flatMap((value, n) => ["-p", `v${n}=${value}`]);
    const { out } = await ask(path, `SELECT ${columns.join(", ")}`, ...flags, "--json");
    return Object.values((JSON.parse(out) as [Record<string, string>])[0]);
  };
  expect(await told(["0", "-12", "999999999999999999"])).toEqual([
    "integer 0",
    "integer -12",
    "integer 999999999999999999",
  ]);
  expect(await told(["0.10", "-12.5", "123456789012345.0", "0.123456789012345"])).toEqual([
    "real 0.1",
    "real -12.5",
    "real 123456789012345.0",
    "real 0.123456789012345",
  ]);
  const texts = [
    "007",
    "+49151234567",
    "00.5",
    "0x10",
    "1e",
    "--5",
    "1_000",
    "1.5.2",
    "1.5 kg",
    "a=b",
  ].concat(["1234567890123456789", "1234567890123456.5", "0.1234567890123456"]);
  expect(await told(texts)).toEqual(texts.map((text) => `text ${text}`));
  const last = await ask(path, "SELECT :v", "-p", "v=1", "-p", ":v=two words\nand a line", "--json");
  expect(JSON.parse(last.out)).toEqual([{ ":v": "two words\nand a line" }]);
  const find =
    "SELECT id FROM orders WHERE external_order_id = :n AND total_amount > :low ORDER BY id LIMIT :m";
  const found = await ask(path, find, "-p", "n=9003", "-p", "low=3", "-p", "m=9", "--csv");
  expect(found.out).toBe("id\norder-3\n");
  const missing = await ask(path, find, "-p", "n=1", "-p", "low=3");
  expect(missing).toMatchObject({ code: 2, err: expect.stringContaining("add `-p m=VALUE`") });
  const unknown = await ask(path, "SELECT :since", "-p", "sinec=1");
  expect(unknown).toMatchObject({ code: 2, err: expect.stringContaining("no parameter `:sinec`") });
  for (const wrong of ["x", "1x=2", "a b=2"])
    expect((await ask(path, "SELECT 1", "-p", wrong)).err).toContain(`is not \`name=value\`: \`${wrong}\``);
});

test("the error from query -f names the path if the path is a folder or a binary file", async () => {
  const path = await mirrorOfOrders(1);
  const folder = dirname(path);
  const read = await ask(path, "-f", folder);
  expect(read).toMatchObject({
    code: 3,
    err: expect.stringContaining(`Cannot use ${folder}: it is a folder`),
  });
  const binary = await ask(path, "-f", path);
  expect(binary).toMatchObject({ code: 2, err: expect.stringContaining(`Not a text file: ${path}`) });
});

test("query -o chooses the format by the file extension, and keeps the existing file if the query fails", async () => {
  const path = await mirrorOfOrders(700);
  const home = makeHome();
  const sql = "SELECT id, total_amount AS total, is_cancelled FROM orders ORDER BY id";
  const wanted = JSON.parse((await ask(path, sql, "--json")).out);
  const write = async (file: string, statement = sql) =>
    await brandapi(["query", statement, "-o", file, "--db", path], { home });
  const csv = await spawnBrandapi(["query", sql, "-o", "a.csv", "--db", path], { home }).ended;
  expect(csv).toMatchObject({
    code: 0,
    out: "",
    err: expect.stringMatching(/^answer: 700 rows, [\d.]+ kB: a\.csv\n$/),
  });
  await write("a.csv.gz");
  expect(gunzipSync(readFileSync(join(home, "a.csv.gz"))).equals(readFileSync(join(home, "a.csv")))).toBe(
    true,
  );
  await write("a.tsv");
  expect(parse(readFileSync(join(home, "a.tsv")), { delimiter: "\t", from_line: 2 })).toHaveLength(700);
  await write("a.json");
  expect(JSON.parse(readFileSync(join(home, "a.json"), "utf8"))).toEqual(wanted);
  await write("a.ndjson");
  const lines = readFileSync(join(home, "a.ndjson"), "utf8").trim().split("\n");
  expect(lines.map((line) => JSON.parse(line))).toEqual(wanted);
  const link = join(home, "link.sqlite");
  symlinkSync(path, link);
  for (const own of [path, link, `${path}-wal`, join(home, ".config/brandapi/config.json")]) {
    const refused = await brandapi(
      ["query", sql, own.endsWith(".json") ? "--json" : "--csv", "-o", own, "--db", path],
      { home },
    );
    expect(refused).toMatchObject({
      code: 2,
      err: expect.stringContaining("would overwrite the mirror or the config file"),
    });
  }
  const broken = await write("a.json", "SELECT json(id) FROM orders");
  expect(broken).toMatchObject({ code: 2, err: expect.stringContaining("malformed JSON") });
  expect(JSON.parse(readFileSync(join(home, "a.json"), "utf8"))).toEqual(wanted);
});

test("query prints each row as a block if the table would be too wide for the terminal", async () => {
  const path = await mirrorOfOrders(2);
  const sql = "SELECT id, order_date, fulfillment_status AS state FROM orders ORDER BY id";
  const show = async (columns: number) =>
    (await brandapi(["query", sql, "--no-color", "--db", path], { tty: true, columns })).out;
  const table = await show(80);
  expect(table).toMatch(/^id +order_date +state\norder-0 /);
  const blocks = [0, 1].map((n) => `id: order-${n}\norder_date: ${anOrder(n).order_date}\nstate: null\n`);
  expect(await show(30)).toBe(blocks.join("\n"));
  const piped = await brandapi(["query", sql, "--db", path], { columns: 20 });
  expect(piped.out).toBe(table);
  // Some terminals report a width of 0 columns.
  expect(await show(0)).toBe(table);
  const none = await brandapi(["query", `${sql} LIMIT 0`, "--no-color", "--db", path], {
    tty: true,
    columns: 8,
  });
  expect(none.out).toBe("id\norder_date\nstate\n");
});

test("query warns if an API timestamp is compared with the result of datetime()", async () => {
  const path = await mirrorOfOrders();
  const warned = async (column: string) =>
    (await ask(path, `SELECT count(*) FROM orders WHERE ${column} >= datetime('now', '-7 days')`)).err;
  expect(await warned("order_date")).toContain("compare `datetime(order_date)`");
  expect(await warned("datetime(order_date)")).toBe("");
  expect(await warned("order_date_utc")).toBe("");
});

test("query exits with code 2 if SQLite reports a runtime error", async () => {
  const path = await mirrorOfOrders();
  const run = await ask(path, "SELECT json(id) FROM orders");
  expect(run).toMatchObject({ code: 2, err: expect.stringContaining("malformed JSON") });
  expect((await ask(path, "SELECT ?", "--json")).code).toBe(2);
});

test("query exits with code 2 if a value is too large for SQLite", async () => {
  const blob = await ask(await mirrorOfOrders(), "SELECT zeroblob(2000000000)", "--csv");
  expect(blob).toMatchObject({ code: 2, err: expect.stringContaining("string or blob too big") });
});

test("query rejects a folder as its output, and suggests a file in the folder", async () => {
  const { code, err } = await ask(await mirrorOfOrders(), "SELECT 1", "-o", "new folder/", "--csv");
  expect([code, err]).toEqual([2, expect.stringContaining("-o 'new folder/result.csv'")]);
});

test("query --as-of DATE reads the data as of the end of that day", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1), anOrder(2)], { at: "2026-11-01T10:00:00.000Z", whole: true });
  writeRead(mirror, "orders", [], { at: "2026-11-02T10:00:00.000Z", remove: ["order-1"], whole: true });
  mirror.db.close();
  const count = async (...flags: string[]) =>
    (await ask(mirror.path, "SELECT count(*) FROM orders", "--csv", ...flags)).out.split("\n")[1];
  expect(await count("--as-of", "2026-11-01")).toBe("2");
  expect(await count("--as-of", "2026-11-02")).toBe("1");
  expect(await count()).toBe("1");
});

test("query --as-of rejects a statement that contains NOT INDEXED", async () => {
  const path = await mirrorOfOrders();
  const indexed = "SELECT id FROM orders NOT INDEXED";
  expect((await ask(path, `EXPLAIN ${indexed}`, "--csv")).code).toBe(0);
  const rejected = await ask(path, `EXPLAIN ${indexed}`, "--csv", "--as-of", "2026-11-01");
  expect([rejected.code, rejected.err]).toEqual([2, expect.stringContaining("`--as-of` does not work with")]);
});

test("query suggests only formats that it supports", async () => {
  const run = await ask(await mirrorOfOrders(), "SELECT 1", "-o", "q");
  expect(run).toMatchObject({ code: 2, err: expect.stringContaining("`--csv`") });
  expect(run.err).not.toContain("singer");
});

test("query warns about tables that have never been synced", async () => {
  const path = await mirrorOfOrders();
  const warned = async (table: string) => (await ask(path, `SELECT count(*) FROM ${table}`)).err;
  expect(await warned("roster")).toContain(
    `\`roster\` is empty because it has never been read; run \`brandapi sync roster --db ${path}\``,
  );
  expect(await warned("content_by_host")).toContain("run `brandapi sync content ");
  expect(await warned("orders")).toBe("");
  expect(await warned("hosts")).toMatch(/^`hosts` contains no data from roster, /);
  expect(await warned("orders, [roster]")).toContain("`roster` is empty because it has never been read");
  expect(await warned("(SELECT 'FROM roster') JOIN orders")).toBe("");
  const where = ["--where", "host_id IN (SELECT host_id FROM roster)"];
  const exported = await brandapi(["export", "orders", "--csv", ...where, "--db", path]);
  expect(exported.err).toContain("`roster` is empty because it has never been read");
});

test("queries, exports and Delta exports warn if a table has not been synced completely yet", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "orders", [anOrder(1)]);
  mirror.db.exec("UPDATE sync_runs SET outcome = 'stopped'");
  const commands = [
    ["query", "SELECT count(*) FROM orders"],
    ["query", "SELECT * FROM sales_by_month"],
    ["export", "order-line-items", "--csv"],
    ["export", "orders", "--delta", join(makeHome(), "lake")],
  ];
  const run = async (words: string[]) => await brandapi([...words, "--db", mirror.path]);
  for (const words of commands) {
    const { code, err } = await run(words);
    expect(code).toBe(0);
    expect(err).toContain("orders: no sync has completed yet, so records may be missing");
    expect(err).toContain("brandapi sync orders");
  }
  writeRead(mirror, "orders", [anOrder(2)]);
  for (const words of commands.slice(0, 3)) expect((await run(words)).err).toBe("");
  mirror.db.close();
});

test("Ctrl-C ends a query at any time", async () => {
  const path = await mirrorOfOrders();
  // The query returns a few hundred rows, and then runs forever.
  const stuck = "(WITH RECURSIVE d(y) AS (SELECT 1 UNION ALL SELECT y + 1 FROM d) SELECT count(*) FROM d)";
  const sql = `${forever} x FROM c WHERE x <= 600 OR ${stuck} > 0`;
  const program = spawnBrandapi(["query", sql, "--csv", "--db", path]);
  await program.until(/^500\n/m);
  program.child.kill("SIGINT");
  expect(await program.ended).toMatchObject({ code: null, signal: "SIGINT", err: "" });
});

test("query -o writes to a process substitution, and exits without an error when the reader exits", async () => {
  const path = await mirrorOfOrders();
  const home = makeHome();
  const run = async (sql: string, reader: string) => {
    const shell = `"$0" "$1" query "$2" --csv -o >(${reader}) --db "$3"; code=$?; wait $!; exit $code`;
    const child = spawn("bash", ["-c", shell, process.execPath, binPath, sql, path], {
      env: { PATH: process.env.PATH ?? "", HOME: home },
      cwd: home,
      stdio: ["ignore", "ignore", "pipe"],
    });
    let err = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      err += text;
    });
    const [code] = (await once(child, "close")) as [number];
    return { code, err };
  };
  expect(await run("SELECT id FROM orders ORDER BY id LIMIT 1", "cat > rows.csv")).toMatchObject({
    code: 0,
  });
  expect(readFileSync(join(home, "rows.csv"), "utf8")).toBe("id\norder-0\n");
  expect(await run(`${forever} x FROM c`, "head -1 > rows.csv")).toEqual({ code: 0, err: "" });
});

test.each([
  ["stdout", []],
  ["/dev/stdout", ["-o", "/dev/stdout"]],
])("query exits quietly when the reader of %s closes the pipe", async (_, flags) => {
  const path = await mirrorOfOrders();
  const program = spawnBrandapi(["query", `${forever} x FROM c`, "--csv", ...flags, "--db", path]);
  await program.closeStdout();
  expect(await program.ended).toMatchObject({ code: 0, err: "" });
});

test("query suggests quotes around a statement that was typed without quotes", async () => {
  const run = await brandapi(["query", "SELECT", "1"]);
  expect([run.code, run.err.includes("put the statement in quotes")]).toEqual([2, true]);
});

test("query --help describes the formats of query results, not of exported records", async () => {
  const { out } = await brandapi("query --help");
  expect(out).toContain("one object per row");
  expect(out).not.toContain("as returned by the API");
});
