import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { compareRows, compareWithMirror } from "../../src/delta/compare.js";
import { exportDeltaTable } from "../../src/delta/export-table.js";
import { readDeltaLog } from "../../src/delta/log.js";
import { readLogVersion } from "../../src/delta/log-files.js";
import { type MonthlyRows, openMonthlyRows } from "../../src/delta/monthly-rows.js";
import type { Row } from "../../src/query/open-rows.js";
import { resolveTable } from "../../src/query/readable-tables.js";
import type { Column } from "../../src/resources/table-shape.js";
import { type Mirror, saveInfo } from "../../src/store/database.js";
import { insertRun, updateRun } from "../../src/store/runs.js";
import { makeHome } from "../support/home.js";
import { anOrder, makeMirror, writeRead } from "../support/mirror.js";
import { testDeps } from "../support/program.js";

const at = (day: number) => `2026-11-0${day}T00:00:00.000Z`;
const open = (mirror: Mirror, name: string, manyBrands?: boolean) =>
  openMonthlyRows(mirror, resolveTable(mirror, name), manyBrands === undefined ? {} : { manyBrands });

test("a Delta export groups rows by month in UTC, with a separate group for rows without a readable date", async () => {
  const mirror = await makeMirror();
  const dates = ["2026-10-01T00:00:00+02:00", "2026-10-31T23:59:59.999Z", "soon"];
  writeRead(
    mirror,
    "orders",
    dates.map((order_date, n) => anOrder(n, { order_date })),
  );
  const rows = open(mirror, "orders");
  const monthsIn = (month?: string) => [...rows.batches(month)].flat().map((row) => [row[0], row.at(-1)]);
  expect(monthsIn()).toEqual([
    ["order-0", "2026-09"],
    ["order-1", "2026-10"],
    ["order-2", ""],
  ]);
  expect(monthsIn("2026-10")).toEqual([["order-1", "2026-10"]]);
  expect(monthsIn("")).toEqual([["order-2", ""]]);
  const items = [...open(mirror, "order_line_items").batches()].flat();
  expect(items.map((row) => row.at(-1))).toEqual(["2026-09", "2026-10", ""]);
  const views = [...open(mirror, "sales_by_month").batches()].flat();
  expect(views.map((row) => row.at(-1))).toEqual(["", "2026-09", "2026-10"]);
});

test.each([
  ["single-brand", "orders", "is partitioned by month", ["id"], ["month", "day", "record_id"]],
  ["multi-brand", "orders", "is partitioned by brand_id and month", ["id"], ["month"]],
  ["single-brand", "sales_by_month", "is partitioned by month", ["currency"], ["month"]],
  ["single-brand", "recommendations", "is not partitioned", ["host_id"], []],
  ["multi-brand", "recommendations", "is partitioned by brand_id", ["host_id"], []],
  ["single-brand", "surveys", "is not partitioned", ["id", "Brand_ID", "month"], []],
  ["multi-brand", "surveys", "is partitioned by brand_id", ["id", "month"], ["Brand_ID"]],
] as const)("the %s Delta table for `%s` %s", async (layout, name, partitions, included, excluded) => {
  const mirror = await makeMirror();
  writeRead(mirror, "surveys", [{ id: "s", Brand_ID: 1, month: "2026-10" }]);
  const { columns, partitionColumns } = open(mirror, name, layout === "multi-brand");
  const partitioned = `is partitioned by ${partitionColumns.join(" and ")}`;
  expect(partitionColumns.length === 0 ? "is not partitioned" : partitioned).toBe(partitions);
  const names = columns.map((column) => column.name);
  expect(names).toEqual(expect.arrayContaining([...included]));
  expect(names.filter((name) => excluded.some((other) => other === name))).toEqual([]);
});

test("a Delta version of a view counts as verified only if all of the view's resources are verified, and contains the time of their oldest sync", async () => {
  const mirror = await makeMirror();
  const stateOf = (name: string) => open(mirror, name).mirrorState;
  expect(stateOf("orders")).toEqual({ brand: null, run: 0, verified: false, through: null });
  mirror.transaction(() => {
    saveInfo(mirror, "brand_id", "fern");
    saveInfo(mirror, "brand_name", "Fern & Co.");
  });
  writeRead(mirror, "orders", [anOrder(1)], { at: at(2) });
  expect(stateOf("orders")).toEqual({ brand: "fern", run: 1, verified: true, through: at(2) });
  expect(stateOf("hosts_by_month")).toEqual({ brand: "fern", run: 1, verified: false, through: null });
  writeRead(mirror, "analytics-clicks", [], { at: at(1) });
  writeRead(mirror, "roster", [], { at: at(3) });
  expect(stateOf("hosts_by_month")).toEqual({ brand: "fern", run: 2, verified: true, through: at(1) });
  const run = insertRun(mirror, "orders", at(4));
  updateRun(mirror, run, { finished_at: at(4), outcome: "done", verified: false });
  expect(stateOf("orders")).toEqual({ brand: "fern", run: 4, verified: false, through: at(2) });
  expect(stateOf("hosts_by_month")).toMatchObject({ run: 4, verified: false });
  updateRun(mirror, run, { verified: true, error: "The counts differ." });
  expect(stateOf("orders")).toMatchObject({ verified: false, through: at(4) });
});

/** Returns a table with the given rows. The last value in each row is its month. */
function tableOf(
  columns: Readonly<Record<string, Column["type"]>>,
  rows: readonly Row[],
  brand: string | null = "fern",
) {
  const source: MonthlyRows = {
    name: "plans",
    columns: Object.entries(columns).map(([name, type]) => ({ name, type, about: "" })),
    partitionColumns: ["brand_id", "month"],
    manyBrands: true,
    mirrorState: { brand, run: 1, verified: true, through: null },
    readDates: [],
    batches: (month) => [rows.filter((row) => month === undefined || row.at(-1) === month)],
  };
  return source;
}

const exportTo = async (folder: string, source: MonthlyRows) =>
  await exportDeltaTable(source, await readDeltaLog(folder), testDeps({ clock: { now: () => 5 } }));
const compareWith = async (folder: string, source: MonthlyRows) =>
  await compareWithMirror(source, await readDeltaLog(folder));
const typesIn = ({ fields }: { fields: readonly { name: string; type: string }[] }) =>
  fields.map(({ name, type }) => `${name} ${type}`);

test("a Delta export rewrites a month if any of its rows has changed, moved or disappeared, or if a column has a new type", async () => {
  const folder = makeHome();
  const columns = { id: "text", n: "integer" } as const;
  const rows: Row[] = [
    ["a", 1, "2026-09"],
    ["b", 2, "2026-09"],
    ["c", 3, "2026-10"],
    ["d", null, ""],
  ];
  expect(await exportTo(folder, tableOf(columns, rows))).toBe("version 0, 4 rows, months written: 3");
  expect(await exportTo(folder, tableOf(columns, rows))).toBe("nothing has changed");
  const differing = async (
    changed: readonly Row[],
    types: typeof columns | { id: "text"; n: "text" } = columns,
  ) => (await compareWith(folder, tableOf(types, changed))).differing;
  expect(await differing(rows)).toEqual([]);
  const [a, b, c, d] = rows as [Row, Row, Row, Row];
  expect(await differing([b, a, c, d])).toEqual(["2026-09"]);
  expect(await differing([a, b, d])).toEqual(["2026-10"]);
  expect(await differing([a, b, c])).toEqual([""]);
  expect(await differing([a, b, c, d, ["e", 1, "2026-11"]])).toEqual(["2026-11"]);
  expect(await differing([a, b, ["c", 3.5, "2026-10"], d])).toEqual(["", "2026-09", "2026-10"]);
  expect(await exportTo(folder, tableOf(columns, [b, c]))).toBe("version 1, 2 rows, months written: 2");
});

test("a multi-brand Delta table merges the columns of the brands by name, and keeps or widens their types", async () => {
  const folder = makeHome();
  const fern = tableOf({ id: "text", Size: "integer", rate: "number" }, [["a", 1, 1.5, "2026-10"]]);
  await exportTo(folder, fern);
  const narrow = tableOf(
    { size: "integer", color: "text", rate: "integer" },
    [[2, "red", 7, "2026-10"]],
    "moss",
  );
  const first = await compareWith(folder, narrow);
  expect(first.columns.map(({ name }) => name)).toEqual(["Size", "color", "rate"]);
  expect(typesIn(first)).toEqual([
    "id string",
    "Size long",
    "rate decimal(18,6)",
    "brand_id string",
    "month string",
    "color string",
  ]);
  expect([first.differing, first.files.size]).toEqual([["2026-10"], 0]);
  await exportTo(folder, narrow);
  const wide = tableOf(
    { size: "number", color: "text", rate: "number" },
    [[2.5, "red", 1e-9, "2026-10"]],
    "moss",
  );
  const second = await compareWith(folder, wide);
  expect(typesIn(second).slice(0, 3)).toEqual(["id string", "Size double", "rate double"]);
  const before = await readDeltaLog(folder);
  expect(await exportTo(folder, wide)).toBe("version 2, 1 row, months written: 1");
  const after = await readDeltaLog(folder);
  const kept = [...after.files.keys()].filter((path) => before.files.has(path));
  expect([after.files.size, kept, after.removedFiles.size]).toEqual([2, [], 2]);
  expect(typesIn(await compareWith(folder, fern)).slice(0, 3)).toEqual([
    "id string",
    "Size double",
    "rate double",
  ]);
  for (const { modificationTime, size, stats } of after.files.values())
    expect([modificationTime, size > 100, stats]).toEqual([5, true, '{"numRecords":1}']);
});

test("a Delta export that changes a column's type converts only those files of other brands that contain the column", async () => {
  const folder = makeHome();
  await exportTo(folder, tableOf({ id: "text" }, [["a", "2026-10"]]));
  const rowsOfReed: Row[] = [
    ["c", 1, "2026-10"],
    [null, null, "2026-10"],
  ];
  const reed = tableOf({ id: "text", n: "integer" }, rowsOfReed, "reed");
  await exportTo(folder, reed);
  await exportTo(folder, tableOf({ id: "text", n: "integer" }, [["b", 1, "2026-10"]], "moss"));
  const [unchanged = "", converted = ""] = (await readDeltaLog(folder)).files.keys();
  await exportTo(folder, tableOf({ id: "text", n: "integer" }, [["b", "x", "2026-10"]], "moss"));
  const { files } = await readDeltaLog(folder);
  expect([files.size, files.has(unchanged), files.has(converted)]).toEqual([3, true, false]);
  const comparison = await compareWith(folder, reed);
  const path = join(folder, comparison.files.get("2026-10")?.path ?? "");
  expect(await compareRows(reed, "2026-10", comparison, path)).toBe(2);
});

test("if a file of another brand is missing, a Delta export can add a column but cannot change a column's type", async () => {
  const folder = makeHome();
  await exportTo(folder, tableOf({ id: "text", n: "integer" }, [["a", 1, "2026-10"]]));
  const [path = ""] = (await readDeltaLog(folder)).files.keys();
  rmSync(join(folder, path));
  const more = tableOf({ id: "text", n: "integer", more: "integer" }, [["b", 1, 1, "2026-10"]], "moss");
  expect(await exportTo(folder, more)).toContain("version 1");
  const retyped = tableOf({ id: "text", n: "integer" }, [["b", "x", "2026-10"]], "moss");
  await expect(exportTo(folder, retyped)).rejects.toThrow(`its file ${path} is missing or damaged`);
});

test.each([
  [
    "the same rows",
    "no difference",
    [
      ["a", 1, "m"],
      ["b", null, "m"],
      ["x", 1, "n"],
    ],
    2,
  ],
  [
    "a changed value",
    "the changed row",
    [
      ["a", 1, "m"],
      ["b", 2, "m"],
    ],
    "row 2 has a different `n`",
  ],
  [
    "null in place of a value",
    "the row with the null",
    [
      ["a", null, "m"],
      ["b", null, "m"],
    ],
    "row 1 has a different `n`",
  ],
  [
    "an additional row",
    "the additional row",
    [
      ["a", 1, "m"],
      ["b", null, "m"],
      ["c", 1, "m"],
    ],
    "row 3 is missing",
  ],
  ["one row fewer", "an extra row in the file", [["a", 1, "m"]], "has more than 1 rows"],
  ["no rows", "an extra row in the file", [], "has more than 0 rows"],
] as const)(
  "comparing a Delta file with a mirror that has %s finds %s",
  async (_difference, _finding, rows, result) => {
    const folder = makeHome();
    const columns = { id: "text", n: "integer" } as const;
    await exportTo(
      folder,
      tableOf(columns, [
        ["a", 1, "m"],
        ["b", null, "m"],
      ]),
    );
    const comparison = await compareWith(
      folder,
      tableOf(columns, [
        ["a", 1, "m"],
        ["b", null, "m"],
      ]),
    );
    const path = join(folder, comparison.files.get("m")?.path ?? "");
    expect(await compareRows(tableOf(columns, rows), "m", comparison, path)).toBe(result);
  },
);

test("a Delta file contains the same values as the mirror, for every type, with timestamps to the microsecond", async () => {
  const folder = makeHome();
  const columns = {
    at: "timestamp",
    day: "date",
    yes: "boolean",
    n: "integer",
    x: "number",
    json: "json",
    any: "any",
  } as const;
  const row = (at: string): Row => [at, "2026-10-01", 1, 7, 0.1, "[1]", 1e-9, "m"];
  const rows = [row("2026-10-01T00:00:00.000001Z"), row("1969-12-31T23:59:59.999999Z")];
  await exportTo(folder, tableOf(columns, rows));
  const comparison = await compareWith(folder, tableOf(columns, rows));
  expect(comparison.differing).toEqual([]);
  const path = join(folder, comparison.files.get("m")?.path ?? "");
  expect(await compareRows(tableOf(columns, rows), "m", comparison, path)).toBe(2);
  const changed = tableOf(columns, [row("2026-10-01T00:00:00.000002Z")]);
  expect(await compareRows(changed, "m", comparison, path)).toBe("row 1 has a different `at`");
});

test("a Delta file with several row groups is compared with the mirror up to the last row", async () => {
  const folder = makeHome();
  const rows = Array.from({ length: 20_001 }, (_, n): Row => [n, "m"]);
  await exportTo(folder, tableOf({ n: "integer" }, rows));
  const comparison = await compareWith(folder, tableOf({ n: "integer" }, rows));
  const path = join(folder, comparison.files.get("m")?.path ?? "");
  const changed = tableOf({ n: "integer" }, [...rows.slice(0, -1), [0, "m"]]);
  expect(await compareRows(tableOf({ n: "integer" }, rows), "m", comparison, path)).toBe(20_001);
  expect(await compareRows(changed, "m", comparison, path)).toBe("row 20001 has a different `n`");
});

test("a version in a Delta log contains the time, the state of the mirror, and the removed and added files", async () => {
  const folder = makeHome();
  await exportTo(folder, tableOf({ id: "text" }, [["a", "2026-10"]]));
  await exportTo(
    folder,
    tableOf({ id: "text" }, [
      ["b", "2026-10"],
      ["c", "2026-10"],
    ]),
  );
  const [first] = readLogVersion(folder, 0).flatMap(({ add }) => add ?? []);
  const mirror = { brand: "fern", run: 1, verified: true, through: null, rows: 2, dates: {} };
  expect(readLogVersion(folder, 1)).toEqual([
    {
      commitInfo: {
        timestamp: 5,
        operation: "WRITE",
        engineInfo: expect.stringMatching(/^brandapi\//),
        mirror,
      },
    },
    { remove: { path: first?.path, deletionTimestamp: 5, dataChange: true } },
    { add: expect.objectContaining({ dataChange: true, stats: '{"numRecords":2}' }) },
  ]);
});

test("a Delta file is considered equal to the mirror even if its columns are in a different order", async () => {
  const folder = makeHome();
  await exportTo(folder, tableOf({ id: "text", n: "integer" }, [["a", 1, "m"]]));
  const reversed = tableOf({ n: "integer", id: "text" }, [[1, "a", "m"]]);
  const comparison = await compareWith(folder, reversed);
  const path = join(folder, comparison.files.get("m")?.path ?? "");
  expect(await compareRows(reversed, "m", comparison, path)).toBe(1);
});

test("an export of an empty table creates a Delta table, and later exports add a version only if a column is new", async () => {
  const folder = makeHome();
  expect(await exportTo(folder, tableOf({ id: "text" }, []))).toBe("version 0, 0 rows, months written: 0");
  const { id } = (await readDeltaLog(folder)).metaData ?? {};
  expect(await exportTo(folder, tableOf({ id: "text" }, []))).toBe("nothing has changed");
  expect(await exportTo(folder, tableOf({ id: "text", n: "integer" }, []))).toContain("version 1");
  const { metaData } = await readDeltaLog(folder);
  expect(metaData).toMatchObject({ id, schemaString: expect.stringContaining('"n","type":"long"') });
});

test("a Delta export is rejected if its brand is unknown or the table belongs to a different brand", async () => {
  const folder = makeHome();
  const rows: Row[] = [["a", "2026-10"]];
  await expect(exportTo(folder, tableOf({ id: "text" }, rows, null))).rejects.toThrow("brand is unknown");
  await exportTo(folder, tableOf({ id: "text" }, rows));
  const single = { ...tableOf({ id: "text" }, rows), manyBrands: false, partitionColumns: ["month"] };
  await expect(exportTo(folder, single)).rejects.toThrow("belongs to a different brand");
  const other = makeHome();
  expect(await exportTo(other, single)).toBe("version 0, 1 row, months written: 1");
  await expect(exportTo(other, tableOf({ id: "text" }, rows))).rejects.toThrow("is a single-brand table");
  const moss = { ...single, mirrorState: { ...single.mirrorState, brand: "moss" } };
  await expect(exportTo(other, moss)).rejects.toThrow("belongs to a different brand");
});
