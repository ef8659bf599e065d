import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { parse } from "csv-parse/sync";
import { expect, test } from "vitest";
import { fakeApi } from "../support/fake-api.js";
import { makeHome } from "../support/home.js";
import { brandapi } from "../support/program.js";

/** Mirrors gifts that come as these texts, and codes of the same, and reads them back. */
async function gifts(...nights: string[][]) {
  const api = fakeApi();
  const home = makeHome();
  const env = {
    BRANDAPI_BASE_URL: api.baseUrl,
    BRANDAPI_KEY: api.key,
    BRANDAPI_RATE_LIMIT: "none",
    BRANDAPI_DB: join(home, "mirror.sqlite"),
  };
  const run = (...args: string[]) => brandapi(args, { home, env, fetch: api.fetch });
  const warnings: string[][] = [];
  for (const items of nights) {
    api.answers["/gifts"] = `[${items.join(",")}]`;
    const { code, err } = await run("sync", "gifts");
    expect(code, err).toBe(0);
    warnings.push(err.split("\n").filter((line) => line.startsWith("warning:")));
  }
  const csv = async (...args: string[]) => {
    const { out } = await run("export", "gifts", "--csv", ...args);
    return parse(out, { columns: true }) as Record<string, string>[];
  };
  const ndjson = async (...args: string[]) =>
    (await run("export", "gifts", "--ndjson", ...args)).out.trim().split("\n");
  return { run, warnings, csv, ndjson, path: env.BRANDAPI_DB };
}

test("names that differ in case only, or that two paths would share, each have a column, said once", async () => {
  const items = ['{"id":"1","Foo":1,"foo":2,"FOO":3,"a_b":4,"a":{"b":5}}', '{"id":"2","a":{"b":6},"foo":7}'];
  const { warnings, csv, ndjson, run } = await gifts(items, items);
  expect(await csv("--columns", "id,Foo,foo_2,FOO_3,a_b,a_b_2")).toEqual([
    { id: "1", Foo: "1", foo_2: "2", FOO_3: "3", a_b: "4", a_b_2: "5" },
    { id: "2", Foo: "", foo_2: "7", FOO_3: "", a_b: "", a_b_2: "6" },
  ]);
  expect(await ndjson()).toEqual(items);
  expect(await ndjson("--columns", "foo_2,a_b_2")).toEqual([
    '{"foo_2":2,"a_b_2":5}',
    '{"foo_2":7,"a_b_2":6}',
  ]);
  expect(warnings[0]).toEqual([
    "warning: gifts: the column of `foo` is `foo_2`",
    "warning: gifts: the column of `FOO` is `FOO_3`",
    "warning: gifts: the column of `a.b` is `a_b_2`",
  ]);
  expect(warnings[1]).toEqual([]);
  expect((await run("export", "gifts", "--csv", "--where", "foo_2 = 7", "--columns", "id")).out).toBe(
    "id\n2\n",
  );
});

test("of a column for each record, as in an object keyed by id, the first names are told", async () => {
  const members = Array.from({ length: 60 }, (_, n) => `"${n}":{"id":"g${n}"}`);
  const { warnings } = await gifts([`{"id":"1",${members.join(",")}}`]);
  expect(warnings[0]).toHaveLength(11);
  expect(warnings[0]?.at(9)).toBe("warning: gifts: the column of `9.id` is `_9_id`");
  expect(warnings[0]?.at(-1)).toBe("warning: gifts: and so on: `brandapi tables gifts` lists all columns");
});

test("names that are the mirror's own, SQL's or SQLite's are columns beside them", async () => {
  const item =
    '{"id":"1","synced_at":"mine","removed_at":"mine","record_id":77,"row_id":5,"rowid":9,"_rowid_":8,"oid":4,"select":3}';
  const { csv, ndjson } = await gifts([item]);
  const [row] = await csv();
  expect(row).toMatchObject({
    synced_at_2: "mine",
    removed_at_2: "mine",
    record_id_2: "77",
    row_id_2: "5",
    rowid: "9",
    _rowid_: "8",
    oid: "4",
    select: "3",
    removed_at: "",
  });
  expect(row?.synced_at).toMatch(/^20/);
  expect(await ndjson()).toEqual([item]);
});

test("names that SQL would not take without quotes are columns with `_` in their place", async () => {
  const items = [
    `{"id":"1","with space":1,"é-è":2,"":3,"9th":4,"a.b":5,"quo'te":6,"${"x".repeat(80)}":7,"\\u00fcx":8}`,
  ];
  const { csv, ndjson } = await gifts(items);
  const [row] = await csv();
  expect(row).toMatchObject({ with_space: "1", ___: "2", _: "3", _9th: "4", a_b: "5", quo_te: "6", _x: "8" });
  expect(row?.["x".repeat(63)]).toBe("7");
  const columns = Object.keys(row ?? {}).filter((name) => !["synced_at", "removed_at"].includes(name));
  expect(await ndjson("--columns", columns.join(","))).toEqual([
    `{"id":"1","with_space":1,"___":2,"_":3,"_9th":4,"a_b":5,"quo_te":6,"${"x".repeat(63)}":7,"_x":8}`,
  ]);
});

test("what has no column is in JSON, and that is said once: beyond 300, too deep, names that SQLite cannot look up", async () => {
  const wide = `{"id":"w",${Array.from({ length: 400 }, (_, n) => `"c${n}":${n}`).join(",")}}`;
  const odd = '{"id":"o","a\\"b":1,"a\\\\b":2,"a\\u001bb":3,"l":{"m":{"n":{"o":1}}}}';
  const first = await gifts([odd], [odd, wide], [odd, wide]);
  expect(first.warnings.map((night) => night.filter((line) => line.includes("JSON exports")).length)).toEqual(
    [1, 0, 0],
  );
  expect(await first.ndjson()).toEqual([odd, wide]);
  expect(Object.keys((await first.csv())[0] ?? {})).toHaveLength(302);
});

test("a type that changes over time: numbers, yes and no, and texts stay apart", async () => {
  const v = (id: number, value: string) => `{"id":"${id}","v":${value},"w":${value}}`;
  const first = ["true", "false"].map((value, n) =>
    v(n, value).replace('"v":true', '"v":1').replace('"v":false', '"v":0'),
  );
  const all = [
    ...first,
    v(2, '"1"'),
    v(3, "1"),
    v(4, "true"),
    v(5, "null"),
    v(6, "2.50"),
    v(7, "[1]"),
    v(8, '"true"'),
  ];
  const { csv, ndjson, path } = await gifts(first, all, all);
  expect((await csv("--columns", "v,w")).map(({ v, w }) => [v, w])).toEqual([
    ["1", "true"],
    ["0", "false"],
    ["1", "1"],
    ["1", "1"],
    ["true", "true"],
    ["", ""],
    ["2.50", "2.50"],
    ["", ""],
    ["true", "true"],
  ]);
  expect(await ndjson()).toEqual(all);
  expect((await ndjson("--columns", "v")).map((line) => (JSON.parse(line) as { v: unknown }).v)).toEqual([
    1,
    0,
    "1",
    1,
    true,
    null,
    2.5,
    null,
    "true",
  ]);
  const db = new Sqlite(path, { readonly: true });
  expect(db.prepare("SELECT w FROM gifts ORDER BY record_id").pluck().all()).toEqual([
    1,
    0,
    "1",
    1,
    1,
    null,
    2.5,
    null,
    "true",
  ]);
  db.close();
});

test("a yes beside a 1 is told from it by the record, where no other value needs it", async () => {
  const { csv } = await gifts(['{"id":"1","v":1}', '{"id":"2","v":true}']);
  expect((await csv("--columns", "v")).map(({ v }) => v)).toEqual(["1", "true"]);
});

test("yes and no are written alike in a table and in the view of it", async () => {
  const { run } = await gifts(['{"id":"1","live":true}', '{"id":"2","live":false}', '{"id":"3"}']);
  for (const table of ["gifts", "gifts-current"]) {
    expect((await run("export", table, "--csv", "--columns", "id,live")).err).toBe("");
    const columns = ["--columns", "id,live"];
    expect((await run("export", table, "--csv", ...columns)).out).toBe("id,live\n1,true\n2,false\n3,\n");
    expect((await run("export", table, "--ndjson", ...columns)).out).toBe(
      '{"id":"1","live":true}\n{"id":"2","live":false}\n{"id":"3","live":null}\n',
    );
  }
});

test("a NUL in a text stays where it is, in CSV as in JSON", async () => {
  const items = ['{"id":"1","t":"a\\u0000b","u":"\\u0000,\\"","z":"end"}'];
  const { csv, ndjson } = await gifts(items);
  expect(await csv("--columns", "id,t,u,z")).toEqual([{ id: "1", t: "a\0b", u: '\0,"', z: "end" }]);
  expect(await ndjson()).toEqual(items);
});
