import { spawn } from "node:child_process";
import { once } from "node:events";
import { parse } from "csv-parse/sync";
import { describe, expect, it } from "vitest";
import { makeHome } from "../support/home.js";
import { anOrder, makeMirror, writeRead } from "../support/mirror.js";
import { binPath, spawnBrandapi } from "../support/process.js";
import { brandapi } from "../support/program.js";

async function mirrorWithOrders(count = 3): Promise<string> {
  const mirror = await makeMirror();
  writeRead(
    mirror,
    "orders",
    Array.from({ length: count }, (_, n) => anOrder(n)),
  );
  mirror.db.close();
  return mirror.path;
}

async function ask(path: string, sql: string, ...flags: string[]) {
  return await spawnBrandapi(["query", sql, ...flags, "--db", path]).ended;
}

const forever = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT";

describe("query", () => {
  it("answers as a table, CSV or JSON", async () => {
    const path = await mirrorWithOrders();
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

  it("keeps large integers, bytes, quotes and columns of one name apart", async () => {
    const path = await mirrorWithOrders();
    const sql = "SELECT 9007199254740993 AS a, x'00ff' AS a, 'a\"b,' || char(10) AS t";
    expect((await ask(path, sql, "--json")).out).toBe(
      '[\n{"a":9007199254740993,"a_2":"00ff","t":"a\\"b,\\n"}\n]\n',
    );
    expect(parse((await ask(path, sql, "--csv")).out)).toEqual([
      ["a", "a_2", "t"],
      ["9007199254740993", "00ff", 'a"b,\n'],
    ]);
  });

  it("lets no control character reach the terminal", async () => {
    const path = await mirrorWithOrders();
    expect((await ask(path, "SELECT char(27) || '[31m' AS x, char(8238) AS y")).out).toContain(
      "\\x1b[31m  \\u202e",
    );
  });

  it("stops at the limit, and says when a table was cut", async () => {
    const path = await mirrorWithOrders(1_200);
    expect((await ask(path, "SELECT id FROM orders", "--limit", "2")).out.split("\n")).toHaveLength(4);
    const cut = await ask(path, "SELECT id FROM orders");
    expect(cut.out.split("\n")).toHaveLength(1_002);
    expect(cut.err).toContain("The first 1,000 rows");
    const all = await ask(path, "SELECT id FROM orders", "--csv");
    expect(all.out.split("\n")).toHaveLength(1_202);
    expect(all.err).toBe("");
    expect((await ask(path, "SELECT id FROM orders WHERE 0", "--json")).out).toBe("[]\n");
  });

  it.each([
    ["DELETE FROM orders", "only reads"],
    ["INSERT INTO orders (id) VALUES (1) RETURNING id", "only reads"],
    ["WITH x AS (SELECT 1) DELETE FROM orders RETURNING id", "only reads"],
    ["ATTACH 'other.sqlite' AS o", "only reads"],
    ["/* SELECT */ PRAGMA journal_mode = DELETE", "only reads"],
    ["PRAGMA writable_schema(1)", "only reads"],
    ["PRAGMA journal_mode(delete)", "only reads"],
    ["PRAGMA user_version(5)", "only reads"],
    ["PRAGMA main.encoding('utf16')", "only reads"],
    ["VACUUM INTO 'copy.sqlite'", "only reads"],
    ["BEGIN", "only reads"],
    ["SELECT 1; SELECT 2", "these are several"],
    ["SELEC 1", "syntax error"],
    ["SELECT * FROM nowhere", "no such table: nowhere"],
    ["SELECT * FROM nowhere", 'with `brandapi query "PRAGMA table_list"`'],
    ["SELECT colour FROM orders", 'with `brandapi query "PRAGMA table_info(orders)"`'],
    ["", "no SQL statement"],
  ])("refuses with 2: %s", async (sql, why) => {
    const path = await mirrorWithOrders();
    const run = await brandapi(["query", sql, "--db", path]);
    expect(run.code).toBe(2);
    expect(run.err).toContain(why);
    expect(run.out).toBe("");
  });

  it("says with 2 what SQLite stops at while it runs", async () => {
    const path = await mirrorWithOrders();
    const run = await ask(path, "SELECT json(id) FROM orders");
    expect(run).toMatchObject({ code: 2, err: expect.stringContaining("malformed JSON") });
    expect((await ask(path, "SELECT ?", "--json")).code).toBe(2);
  });

  it("says with 2 that a text is too long, or that there is too much for a table", async () => {
    const path = await mirrorWithOrders(30);
    const blob = await ask(path, "SELECT zeroblob(2000000000)", "--csv");
    expect(blob).toMatchObject({ code: 2, err: expect.stringContaining("string or blob too big") });
    const sql = "SELECT replace(hex(zeroblob(1500000)), '0', 'a') FROM orders";
    const table = await ask(path, sql);
    expect(table).toMatchObject({ code: 2, err: expect.stringContaining("too large for a table") });
    const csv = await ask(path, sql, "--csv");
    expect(csv).toMatchObject({ code: 0, err: "" });
    expect(csv.out.length).toBeGreaterThan(8e7);
  });

  it("stops a query at its time limit, wherever it is", async () => {
    const path = await mirrorWithOrders();
    const run = await ask(path, `${forever} count(*) FROM c`, "--timeout", "1s");
    expect(run.code).toBe(8);
    expect(run.err).toContain("took longer than 1s");
  });

  it("stops at Ctrl-C, wherever it is", async () => {
    const path = await mirrorWithOrders();
    // A few hundred rows come, then SQLite is busy for ever without giving another.
    const stuck = "(WITH RECURSIVE d(y) AS (SELECT 1 UNION ALL SELECT y + 1 FROM d) SELECT count(*) FROM d)";
    const sql = `${forever} x FROM c WHERE x <= 600 OR ${stuck} > 0`;
    const program = spawnBrandapi(["query", sql, "--csv", "--db", path]);
    await program.until(/^500\n/m);
    program.child.kill("SIGINT");
    expect((await program.ended).code).toBe(130);
  });

  it("ends quietly when its reader leaves", async () => {
    const path = await mirrorWithOrders();
    const child = spawn(process.execPath, [binPath, "query", `${forever} x FROM c`, "--csv", "--db", path], {
      env: { PATH: process.env.PATH ?? "", HOME: makeHome() },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let err = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      err += text;
    });
    await once(child.stdout, "data");
    child.stdout.destroy();
    const [code] = (await once(child, "close")) as [number];
    expect({ code, err }).toEqual({ code: 0, err: "" });
  });
});
