import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { expect, test } from "vitest";
import type { JsonObject } from "../../src/util/json-value.js";
import { askDuckDb } from "../support/duckdb.js";
import { makeHome } from "../support/home.js";
import { makeMirror, writeRead } from "../support/mirror.js";
import { brandapi } from "../support/program.js";
import fc from "../support/property.js";

/** SQLite keywords, names of built-in SQLite columns and functions, and names that the program itself uses. */
const words = (
  "true false null TRUE current_date current_time current_timestamp select from where group order by limit table index " +
  "values union case when end and or not in is like between exists join on using as all distinct create drop insert " +
  "default check primary key references rowid oid _rowid_ ROWID row_id record_id removed_at synced_at Removed_At id key " +
  "json day month position t r v x name type count max date abs raise match glob collate cast over filter window " +
  "constructor toString hasOwnProperty __proto__ prototype length order_date_utc host_id NaN Infinity undefined"
).split(" ");

const signs = [
  "",
  " ",
  "a b",
  "a.b",
  'a"b',
  "a'b",
  "a`b",
  "a[b]",
  "a\\b",
  "a,b",
  "a;b",
  "a\nb",
  "a\u0000b",
  "1",
  "1a",
  "-",
].concat([
  "$",
  "@",
  "%s",
  "*",
  "--",
  "/*",
  "=1+1",
  "straße",
  "STRASSE",
  "İ",
  "i",
  "ı",
  "I",
  "ﬁ",
  "é",
  "e\u0301",
  "北京",
  "😀",
  "\ud800",
  "a".repeat(200),
]);

const value = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e9, max: 1e9 }),
  fc.constantFrom("", "x", "=1", "true", "null", "2026-10-01T00:00:00Z"),
);
const attributes = fc.dictionary(
  fc.oneof(fc.constantFrom(...words), fc.constantFrom(...signs), fc.string({ maxLength: 12 })),
  value,
  { minKeys: 5, maxKeys: 40 },
);

/** Stores surveys with the given attributes, and checks every way to read them. */
async function checkAttributes(surveys: readonly JsonObject[]): Promise<void> {
  const mirror = await makeMirror();
  const records = surveys.map((survey, n) => ({ ...survey, id: `s${n}` }));
  writeRead(mirror, "surveys", records, { whole: true });
  writeRead(mirror, "surveys", records.slice(1), { at: "2026-11-02T00:00:00.000Z", remove: ["s0"] });
  const columns = mirror.db
    .prepare("SELECT name, path FROM discovered_columns WHERE table_name = 'surveys' ORDER BY position")
    .all() as {
    name: string;
    path: string;
  }[];
  mirror.db.close();
  const home = makeHome();
  const run = async (...args: string[]) => {
    const done = await brandapi([...args, "--db", mirror.path], { home });
    expect(done.code, `${args.join(" ")}: ${done.err}`).toBe(0);
    return done.out;
  };
  const names = columns.map(({ name }) => name);
  const pathOf = new Map(columns.map(({ name, path }) => [name, (JSON.parse(path) as string[])[0] ?? ""]));
  const current = records.slice(1) as JsonObject[];
  const own = (record: JsonObject, name: string) => {
    const path = pathOf.get(name) ?? "";
    return Object.hasOwn(record, path) ? record[path] : null;
  };
  const asText = (cell: unknown) => (cell === null || cell === undefined ? "" : String(cell));

  const csv = parse(await run("export", "surveys", "--csv"), { columns: true }) as Record<string, string>[];
  const chosen = await run("export", "surveys", "--csv", "--columns", names.join(","));
  for (const [index, record] of current.entries())
    for (const name of names) expect(csv[index]?.[name], name).toBe(asText(own(record, name)));
  expect(chosen.split("\n")[0]?.split(",")).toEqual(names);

  const ndjson = (await run("export", "surveys", "--ndjson")).trim().split("\n");
  expect(ndjson.map((line) => JSON.parse(line))).toEqual(JSON.parse(JSON.stringify(current)));

  const singer = (await run("export", "surveys", "--singer"))
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const sent = singer.filter(({ type }) => type === "RECORD").map(({ record }) => record as JsonObject);
  expect(sent.length).toBeGreaterThanOrEqual(current.length);
  for (const name of names) expect(Object.hasOwn(singer[0].schema.properties, name), name).toBe(true);

  const file = join(home, "surveys.parquet");
  await run("export", "surveys", "-o", file);
  const typed = await askDuckDb(`DESCRIBE FROM '${file}'`);
  expect(typed.map(({ column_name }) => column_name)).toEqual([...names, "synced_at"]);
  expect(await askDuckDb(`SELECT id FROM '${file}' ORDER BY id`)).toEqual(current.map(({ id }) => ({ id })));

  await run("export", "surveys", "-o", join(home, "surveys.xlsx"));
  await run("export", "surveys", "--delta", home);
  await run("export", "surveys", "--csv", "--as-of", "2026-11-01T12:00:00Z");
  await run("export", "surveys", "--csv", "--include-removed");
  await run("tables", "surveys");
  await run("tables", "surveys", "--json");
  const quoted = names.map((name) => `"${name}"`);
  const all = `${quoted.map((name) => `${name} IS NULL`).join(" AND ")} OR id IS NOT NULL`;
  expect((await run("export", "surveys", "--ndjson", "--where", all)).trim().split("\n")).toHaveLength(
    current.length,
  );
  const selected = JSON.parse(
    await run("query", `SELECT ${quoted.join(", ")} FROM (SELECT * FROM surveys)`, "--json"),
  );
  expect(selected.map((row: JsonObject) => row.id)).toEqual(current.map(({ id }) => id));
  expect((await brandapi(["doctor", "--db", mirror.path], { home })).out).toContain("match the records");
}

test.each([
  ["is an SQL keyword or a word that the program uses", words],
  ["contains unusual characters", signs],
])("every format exports an undocumented attribute as a column even if its name %s", async (_, names) => {
  const record = (n: number) => Object.fromEntries(names.map((name, index) => [name, index + n]));
  await checkAttributes([record(0), record(1), record(2)]);
});

test("every format exports undocumented attributes with arbitrary names and scalar values", async () => {
  const surveys = fc.array(attributes, { minLength: 2, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(surveys, (records) => checkAttributes(records as JsonObject[])),
    { numRuns: 3 },
  );
});

test("migrating a mirror renames a column named `true` and keeps its values", async () => {
  const mirror = await makeMirror();
  writeRead(mirror, "surveys", [{ id: "a", true: 5, other: 1 }], { whole: true });
  mirror.db.exec(`ALTER TABLE surveys RENAME COLUMN true_2 TO "true";
    UPDATE discovered_columns SET name = 'true' WHERE name = 'true_2';
    UPDATE mirror_info SET value = 'older' WHERE name = 'shape:surveys'`);
  mirror.db.close();
  const run = await brandapi(["export", "surveys", "--csv", "--db", mirror.path]);
  expect(run.out.split("\n").slice(0, 2)).toEqual([
    "id,other,true_2,synced_at",
    "a,1,5,2026-11-01T00:00:00.000Z",
  ]);
});
