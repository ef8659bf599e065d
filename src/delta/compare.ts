import { hash } from "node:crypto";
import { join } from "node:path";
import { ConfigurationError } from "../errors.js";
import { type ColumnType, TypeFinder, typeOfDelta } from "../export/parquet.js";
import { parseJson } from "../util/json-value.js";
import { type DeltaLog, filesOfBrand, hasManyBrands } from "./log.js";
import { createDeltaTableError, type DataFile } from "./log-files.js";
import type { MonthlyRows } from "./monthly-rows.js";
import { openParquetFile, type ParquetFile, readDigest } from "./parquet-file.js";

export interface DeltaField {
  name: string;
  type: string;
  nullable: true;
  metadata: object;
}

/** The result of comparing a table in the mirror with the brand's files in the newest version of the Delta table. */
export interface DeltaComparison {
  /** The mirror's columns, with the names that they have in the Delta table. */
  columns: readonly { name: string }[];
  types: readonly ColumnType[];
  /** The mirror's row count and row digest for each month. */
  months: ReadonlyMap<string, { rows: number; digest: string }>;
  /** The columns of the Delta table before and after the export. */
  oldFields: readonly DeltaField[];
  fields: readonly DeltaField[];
  /** The brand's current files, keyed by month. The key `""` stands for rows without a month. */
  files: ReadonlyMap<string, DataFile>;
  /** The months to write: those that differ, or every month if a column's type changes. */
  differing: string[];
}

/**
 * Reads the mirror's table once, and compares each month's rows with the digest in the footer of that month's file.
 * @throws ConfigurationError if the Delta table belongs to a different brand or has a different layout
 */
export async function compareWithMirror(source: MonthlyRows, log: DeltaLog): Promise<DeltaComparison> {
  checkBrand(source, log);
  const oldFields = parseFields(log);
  // In a multi-brand table, a column's type is never narrowed, because the narrower type may not fit the values in
  // other brands' files.
  const sharedFields = new Map(
    hasManyBrands(log) ? oldFields.map((field) => [field.name.toLowerCase(), field]) : [],
  );
  const finder = new TypeFinder(source.columns, (name) => {
    const shared = sharedFields.get(name.toLowerCase());
    return shared && typeOfDelta(shared.type);
  });
  const months = new Map<string, { rows: number; digest: string }>();
  for (const batch of source.batches())
    for (const row of batch) {
      finder.add(row);
      const month = String(row.at(-1));
      const { rows, digest } = months.get(month) ?? { rows: 0, digest: "" };
      months.set(month, { rows: rows + 1, digest: hash("sha256", digest + JSON.stringify(row)) });
    }
  const types = finder.types();
  const columns = source.columns.map(({ name }) => ({
    name: sharedFields.get(name.toLowerCase())?.name ?? name,
  }));
  const ownFields = [...columns.map(({ name }) => name), ...source.partitionColumns].map((name, index) =>
    createField(name, types[index]?.delta ?? "string"),
  );
  const fields = mergeFields([...sharedFields.values()], ownFields);

  const files = filesOfBrand(log, source.mirrorState.brand);
  const isRetyped = listRetypedColumns(oldFields, fields).length > 0;
  const differing: string[] = [];
  for (const month of new Set([...files.keys(), ...months.keys()].sort())) {
    const digest = await readDigest(join(log.folder, files.get(month)?.path ?? ""));
    if (isRetyped || !digest || digest !== months.get(month)?.digest) differing.push(month);
  }
  return { columns, types, months, oldFields, fields, files, differing };
}

function checkBrand({ manyBrands, mirrorState: { brand } }: MonthlyRows, log: DeltaLog): void {
  const { folder, metaData } = log;
  if (manyBrands && brand === null)
    throw new ConfigurationError(
      `The mirror's brand is unknown, so the mirror cannot be exported to ${folder}.`,
      {
        hint: "run `brandapi sync` once",
      },
    );
  if (!metaData) return;
  if (manyBrands && !hasManyBrands(log))
    throw createDeltaTableError(folder, "is a single-brand table without a `brand_id` column");
  const lastBrand = [...log.brands.keys()].at(-1);
  if (!manyBrands && (hasManyBrands(log) || lastBrand !== brand))
    throw createDeltaTableError(folder, "belongs to a different brand");
}

function createField(name: string, type: string): DeltaField {
  return { name, type, nullable: true, metadata: {} };
}

function parseFields({ metaData }: DeltaLog): DeltaField[] {
  const { fields = [] } = parseJson<{ fields: DeltaField[] }>(metaData?.schemaString ?? "") ?? {};
  return fields;
}

/**
 * Returns the fields of `current`, followed by any new fields of `own`. For fields in both, the type comes from `own`.
 */
function mergeFields(current: readonly DeltaField[], own: readonly DeltaField[]): DeltaField[] {
  const ownByName = new Map(own.map((field) => [field.name, field]));
  const names = new Set(current.map(({ name }) => name));
  const missing = own.filter(({ name }) => !names.has(name));
  return [...current.map((field) => ownByName.get(field.name) ?? field), ...missing];
}

export function listRetypedColumns(
  oldFields: readonly DeltaField[],
  fields: readonly DeltaField[],
): string[] {
  const oldTypes = new Map(oldFields.map(({ name, type }) => [name, type]));
  return fields.flatMap(({ name, type }) => (oldTypes.has(name) && oldTypes.get(name) !== type ? name : []));
}

/**
 * Compares a month's rows, value by value, with the rows in that month's file.
 * @returns the number of rows if all are equal, otherwise a description of the first difference
 */
export async function compareRows(
  source: MonthlyRows,
  month: string,
  { columns, types }: DeltaComparison,
  path: string,
): Promise<number | string> {
  const file = await openParquetFile(path);
  const positions = columns.map(({ name }) => file.columns.indexOf(name));
  const storedRows = readStoredRows(file);
  let rows = 0;
  for (const batch of source.batches(month))
    for (const row of batch) {
      const { value: stored } = await storedRows.next();
      if (!stored) return `row ${rows + 1} is missing`;
      for (const [index, type] of types.entries()) {
        const value = row[index] ?? null;
        const expected = value === null ? null : type.convert(value);
        const actual = stored[positions[index] ?? -1] ?? null;
        if (actual !== expected) return `row ${rows + 1} has a different \`${columns[index]?.name}\``;
      }
      rows += 1;
    }
  return (await storedRows.next()).done ? rows : `has more than ${rows} rows`;
}

async function* readStoredRows(file: ParquetFile): AsyncGenerator<unknown[], undefined> {
  for await (const group of file.rowGroups()) yield* group;
}
