import { expect, test } from "vitest";
import { recommendations } from "../../src/resources/recommendations.js";
import { listTableShapes } from "../../src/resources/table-shape.js";
import { gifts, surveyResults } from "../../src/resources/undocumented.js";
import type { Mirror } from "../../src/store/database.js";
import { loadColumns } from "../../src/store/discovered-columns.js";
import { createTables, Projection } from "../../src/store/projection.js";
import { rebuildTables } from "../../src/store/rebuild.js";
import { loadUnexpectedColumns } from "../../src/store/schema-issues.js";
import type { JsonObject } from "../../src/util/json-value.js";
import { makeMirror } from "../support/mirror.js";
import { rows, write } from "./record-mirror.js";

const giftColumns = (mirror: Mirror) =>
  loadColumns(mirror, listTableShapes(gifts)[0] ?? expect.fail()).map(({ name }) => name);
const long = "n".repeat(70);

test.each<[string, JsonObject, string[]]>([
  ["keeps letters, digits and underscores", { Abc_1: 1 }, ["Abc_1"]],
  ["has underscores in place of special characters", { "a-b c": 1, é: 1 }, ["a_b_c", "_"]],
  ["has an underscore before a leading digit", { "2x": 1 }, ["_2x"]],
  [
    "has at most 63 characters",
    { [long]: 1, [`${long}2`]: 2 },
    [long.slice(0, 63), `${long.slice(0, 61)}_2`],
  ],
  [
    "has a suffix if a different field already has a column with that name",
    { "a b": 1, a_b: 2, A_B: 3, C: 4, c: 5 },
    ["a_b", "a_b_2", "A_B_3", "C", "c_2"],
  ],
  [
    "has a suffix if the program adds a column with that name",
    { row_id: 1, Synced_at: 2 },
    ["row_id_2", "Synced_at_2"],
  ],
  [
    "has a suffix if SQLite treats the name as a literal",
    { true: 1, False: 1, null: 1, current_date: 1, current_time: 1, current_timestamp: 1 },
    ["true_2", "False_2", "null_2", "current_date_2", "current_time_2", "current_timestamp_2"],
  ],
  ["includes the names of up to two enclosing objects", { a: { b: { c: 1, d: { e: 1 } } } }, ["a_b_c"]],
])("the name of the column for an undocumented field %s", async (_, record, names) => {
  const mirror = await makeMirror();
  write(mirror, gifts, [{ id: "g1", ...record }]);
  expect(giftColumns(mirror)).toEqual(["id", ...names]);
});

test("each value is stored in the column of its field, even if the field first appears in a later record", async () => {
  const mirror = await makeMirror();
  write(mirror, gifts, [{ id: "g1" }, { id: "g2", Color: "red" }, { id: "g3", "c-d": 1, c: { d: 2 } }]);
  write(mirror, gifts, [{ id: "g4", color: "dark", Color: "blue", c: { d: 3 } }]);
  expect(rows(mirror, "SELECT id, Color, color_2, c_d, c_d_2 FROM gifts ORDER BY record_id")).toEqual([
    { id: "g1", Color: null, color_2: null, c_d: null, c_d_2: null },
    { id: "g2", Color: "red", color_2: null, c_d: null, c_d_2: null },
    { id: "g3", Color: null, color_2: null, c_d: 1, c_d_2: 2 },
    { id: "g4", Color: "blue", color_2: "dark", c_d: null, c_d_2: 3 },
  ]);
});

test.each([
  ["whose value is null", { field: null }],
  ["whose value is a list", { field: ["a"] }],
  ["whose name contains a quotation mark", { 'fie"ld': 1 }],
  ["whose name contains a backslash", { "fie\\ld": 1 }],
  ["whose name contains a control character", { "fie\u001fld": 1 }],
  ["whose name contains a lone surrogate", { "fie\ud800ld": 1 }],
  ["in an object whose name contains a quotation mark", { a: { 'fie"ld': 1 } }],
])("an undocumented field %s does not get a column", async (_, record) => {
  const mirror = await makeMirror();
  write(mirror, gifts, [{ id: "g1", ...record }]);
  expect(giftColumns(mirror)).toEqual(["id"]);
});

test("a sync prints one message for each field that is stored under a different column name, and a single message for all fields without a column", async () => {
  const mirror = await makeMirror();
  const deep = { a: { b: { c: { d: 1 } } } };
  expect(write(mirror, gifts, [{ id: 1, plain: 1, "x y": 1, "x-y": 2 }])).toEqual([
    "gifts: `x y` is stored in the `x_y` column",
    "gifts: `x-y` is stored in the `x_y_2` column",
  ]);
  expect(
    write(mirror, gifts, [
      { id: 2, ...deep },
      { id: 3, 'q"': 1 },
    ]),
  ).toEqual([expect.stringMatching(/^gifts: some fields, such as `a.b.c`, have no column/)]);
  expect(write(mirror, gifts, [{ id: 4, "x y": 3, ...deep }])).toEqual([]);
});

test("a field that has a column is reported if its value becomes an object too deeply nested for columns", async () => {
  const mirror = await makeMirror();
  expect(write(mirror, gifts, [{ id: 1, a: { b: { c: true } } }])).toEqual([]);
  expect(write(mirror, gifts, [{ id: 2, a: { b: { c: { d: 1 } } } }])).toEqual([
    expect.stringContaining("`a.b.c`"),
  ]);
});

test.each<[string, JsonObject, object]>([
  [
    "with the name and the value of a request parameter gets no second column",
    { survey_id: 17 },
    { survey_id: "17" },
  ],
  [
    "whose value is the string `undefined` gets a column",
    { note: "undefined" },
    { survey_id: "17", note: "undefined" },
  ],
  [
    "with the name of a request parameter, but a different value, gets a second column",
    { survey_id: "18" },
    { survey_id: "17", survey_id_2: "18" },
  ],
  [
    "in an object with the name of a request parameter gets a column",
    { survey_id: { id: "17" } },
    { survey_id: "17", survey_id_id: "17" },
  ],
])("a field %s", async (_, record, expected) => {
  const mirror = await makeMirror();
  write(mirror, surveyResults, [{ id: 1, ...record }], { parameters: { survey_id: "17" } });
  const select = "SELECT * FROM survey_results";
  const { id, synced_at, record_id, ...columns } = rows<JsonObject>(mirror, select)[0] ?? {};
  expect(columns).toEqual(expected);
  expect(rows(mirror, "SELECT min(position) AS first FROM discovered_columns")).toEqual([{ first: 0 }]);
});

test.each([
  ["only booleans", "boolean", [true, false]],
  ["strings and numbers", "text", ["a", 1]],
  ["booleans and numbers", "json", [true, 1]],
  ["strings and later booleans", "json", ["a", true, "b"]],
])("the column for an undocumented field with %s has the type %s", async (_, type, values) => {
  const mirror = await makeMirror();
  write(
    mirror,
    gifts,
    values.map((value, id) => ({ id, value, other: 1 })),
  );
  expect(
    rows(mirror, "SELECT name, type FROM discovered_columns WHERE name <> 'id' ORDER BY position"),
  ).toEqual([
    { name: "value", type },
    { name: "other", type: "number" },
  ]);
});

test("a declared column keeps its type, even if a record contains a boolean", async () => {
  const mirror = await makeMirror();
  const host = { id: "h" };
  write(mirror, recommendations, [
    { host, products: [{ id: "p", title: true, live: true }, { title: "P" }] },
  ]);
  expect(rows(mirror, "SELECT id, title, live FROM recommendation_products")).toEqual([
    { id: "p", title: null, live: 1 },
    { id: null, title: "P", live: null },
  ]);
  const [, shape = expect.fail()] = listTableShapes(recommendations);
  expect(loadColumns(mirror, shape).map(({ name }) => name)).toEqual(["host_id", "id", "title", "live"]);
  expect(loadUnexpectedColumns(mirror, "recommendations")).toMatchObject([
    { column: "title", found: "boolean" },
  ]);
});

test("if a user has added a column with the name of an undocumented field, the field is stored in that column", async () => {
  const mirror = await makeMirror();
  mirror.db.exec("ALTER TABLE gifts ADD COLUMN Color; ALTER TABLE gifts ADD COLUMN size");
  write(mirror, gifts, [{ color: "red", Size: 4 }]);
  expect(rows(mirror, "SELECT color, size FROM gifts")).toEqual([{ Color: "red", size: 4 }]);
});

test("a rebuild of the tables renames columns whose names SQLite treats as literals, such as `true`", async () => {
  const mirror = await makeMirror();
  write(mirror, gifts, [{ id: 1, live: true }]);
  mirror.db.exec("UPDATE discovered_columns SET name = 'True' WHERE name = 'live'");
  rebuildTables(mirror, [gifts]);
  expect(giftColumns(mirror)).toEqual(["id", "live"]);
});

test("if a record is written to temporary tables, its undocumented fields do not get columns", async () => {
  const mirror = await makeMirror();
  const shapes = listTableShapes(gifts);
  createTables(mirror, shapes, "temp");
  const record = {
    recordId: 1,
    value: { id: 1, color: "red" },
    parameters: {},
    sinceAt: "",
    removedAt: null,
  };
  mirror.transaction(() => new Projection(mirror, shapes, "temp").write(record, { isNew: true }));
  expect(giftColumns(mirror)).toEqual([]);
  expect(rows(mirror, "SELECT record_id FROM temp.gifts")).toEqual([{ record_id: 1 }]);
  expect(rows(mirror, "SELECT record_id FROM main.gifts")).toEqual([]);
});
