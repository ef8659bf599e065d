import { parse } from "csv-parse/sync";
import { expect } from "vitest";
import { tablesOf } from "../../src/resources/shape.js";
import type { JsonObject, Resource } from "../../src/resources/types.js";
import type { Brand } from "../scenarios/brand.js";
import { expectedRecords, identityOf, type Row, rowsOf, scalarsOf } from "./expected.js";

interface Mirrored {
  record_id: number;
  json: string;
  context: string | null;
}

/** The mirror's records, tables and exports of a resource against what the API serves at this moment. */
export async function expectFaithful(brand: Brand, resource: Resource): Promise<void> {
  const expected = await expectedRecords(brand.sandbox, resource);
  const rows = brand.sql<Mirrored>(
    "SELECT record_id, json, context FROM records WHERE resource = ? AND removed_at IS NULL",
    resource.name,
  );
  const mirrored = new Map(
    rows.map(({ record_id, json, context }) => {
      const record = JSON.parse(json) as JsonObject;
      const asked = context === null ? {} : (JSON.parse(context) as JsonObject);
      return [identityOf(resource, record, asked), { recordId: record_id, record }];
    }),
  );
  expect(expected.length, resource.name).toBeGreaterThan(0);
  expect([...mirrored.keys()].sort()).toEqual(expected.map(({ identity }) => identity).sort());
  const tables = new Map(
    tablesOf(resource).map(({ name, list }) => [
      name,
      readTable(brand, name, list ? "row_id >> 20" : "record_id"),
    ]),
  );
  for (const one of expected) {
    const held = mirrored.get(one.identity);
    if (!held) throw new Error(`missing: ${one.identity}`);
    expect(held.record, `${resource.name} ${one.identity}`).toEqual(one.record);
    const wanted = rowsOf(resource, one);
    const main = wanted.get(resource.table)?.[0];
    // What was asked for comes before a member of the same name.
    if (resource.open) wanted.set(resource.table, [{ ...scalarsOf(one.record), ...main }]);
    for (const [name, table] of tables)
      expect(
        (table.get(held.recordId) ?? []).map((row) => pick(row, wanted.get(name)?.[0])),
        `${name} of ${one.identity}`,
      ).toEqual((wanted.get(name) ?? []).map((row) => pick(row, wanted.get(name)?.[0])));
  }
  await expectExports(
    brand,
    resource,
    expected.map(({ record }) => record),
  );
}

/** `export --json` gives the API's records; CSV, read by another reader, gives the table. */
async function expectExports(
  brand: Brand,
  resource: Resource,
  expected: readonly JsonObject[],
): Promise<void> {
  const [main] = tablesOf(resource);
  if (main && resource.name !== "analytics-clicks") {
    const { code, out, err } = await brand.run(`export ${main.name} --json`);
    expect(err).toBe("");
    expect(code).toBe(0);
    expect(sorted(JSON.parse(out) as JsonObject[])).toEqual(sorted(expected));
  }
  for (const { name, list } of tablesOf(resource)) {
    const { out } = await brand.run(`export ${name} --csv`);
    const read = parse(out, { columns: true }) as Record<string, string>[];
    const rows = [...readTable(brand, name, list ? "row_id >> 20" : "record_id").values()].flat();
    const booleans = new Set(
      tablesOf(resource).flatMap(({ columns }) =>
        columns.filter(({ type }) => type === "boolean").map((column) => column.name),
      ),
    );
    expect(read.length, name).toBe(rows.length);
    const texts = rows.map((row) =>
      Object.fromEntries(
        Object.keys(read[0] ?? {}).map((column) => [column, cell(row[column], booleans.has(column))]),
      ),
    );
    const isOpen = tablesOf(resource).some((shape) => shape.name === name && shape.open);
    const plain = isOpen ? read.map(withNumbersForBooleans) : read;
    expect(sorted(plain), name).toEqual(sorted(texts));
  }
}

function readTable(brand: Brand, name: string, record: string): Map<number, Row[]> {
  const groups = new Map<number, Row[]>();
  const order = record === "record_id" ? record : "row_id";
  const isPresent = record === "record_id" ? "WHERE removed_at IS NULL" : "";
  for (const row of brand.sql<Row & { of: number }>(
    `SELECT ${record} AS "of", * FROM "${name}" ${isPresent} ORDER BY ${order}`,
  ))
    groups.set(row.of, [...(groups.get(row.of) ?? []), row]);
  return groups;
}

/** The columns of a row that another one has. */
function pick(row: Row, like: Row | undefined): Row {
  return Object.fromEntries(Object.keys(like ?? {}).map((column) => [column, row[column] ?? null]));
}

function cell(value: Row[string] | undefined, isBoolean: boolean): string {
  if (value === undefined || value === null) return "";
  if (isBoolean) return value === 1 ? "true" : "false";
  return String(value);
}

/** In open tables a column's type is what was seen first: here it does not matter. */
function withNumbersForBooleans(row: Record<string, string>): Record<string, string> {
  const plain = (text: string) => (text === "true" ? "1" : text === "false" ? "0" : text);
  return Object.fromEntries(Object.entries(row).map(([column, text]) => [column, plain(text)]));
}

function sorted<T>(list: readonly T[]): T[] {
  return list
    .map((item) => [JSON.stringify(item), item] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, item]) => item);
}
