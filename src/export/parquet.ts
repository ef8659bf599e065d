import { asyncBufferFromFile, parquetMetadataAsync } from "hyparquet";
import { ByteWriter, ParquetWriter } from "hyparquet-writer";
import type { ReadableColumn } from "../query/readable-tables.js";
import type { Row, RowValue } from "../query/rows.js";
import type { RowSource } from "../query/select.js";
import { daysSince1970, readTimestamp } from "../util/timestamp.js";
import type { Chunk, RowSources } from "./formats.js";

type Value = Exclude<RowValue, null>;
export type SchemaElement = ConstructorParameters<typeof ParquetWriter>[0]["schema"][number];

/** A type that Parquet can store. */
export interface ColumnType {
  schema: Omit<SchemaElement, "name">;
  /** The name in the schema of a Delta table. */
  delta: string;
  /** Converts a value. Returns undefined if the type cannot represent it. */
  convert(value: Value): unknown;
}

const textType: ColumnType = {
  schema: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  delta: "string",
  convert: String,
};

const timestampType: ColumnType = {
  schema: {
    type: "INT64",
    converted_type: "TIMESTAMP_MICROS",
    logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MICROS" },
  },
  delta: "timestamp",
  convert(value) {
    const timestamp = typeof value === "string" ? readTimestamp(value) : undefined;
    return timestamp && BigInt(timestamp.ms) * 1_000n + BigInt(timestamp.micros);
  },
};

const dateType: ColumnType = {
  schema: { type: "INT32", converted_type: "DATE" },
  delta: "date",
  convert: (value) => (typeof value === "string" ? daysSince1970(value) : undefined),
};

const booleanType: ColumnType = {
  schema: { type: "BOOLEAN" },
  delta: "boolean",
  convert: (value) => (value === 0 || value === 1 ? value === 1 : undefined),
};

const integerType: ColumnType = {
  schema: { type: "INT64" },
  delta: "long",
  convert(value) {
    if (typeof value === "bigint") return value;
    return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  },
};

/** Sums of amounts are rounded to six decimals. All files have the same scale, because readers combine them as one table. */
const [precision, scale] = [18, 6];

const decimalType: ColumnType = {
  schema: { type: "INT64", converted_type: "DECIMAL", precision, scale },
  delta: `decimal(${precision},${scale})`,
  convert(value) {
    const [, whole, fraction = ""] = /^(-?\d{1,12})(?:\.(\d{1,6}))?$/.exec(String(value)) ?? [];
    if (typeof value === "string" || whole === undefined) return undefined;
    return BigInt(whole + fraction.padEnd(scale, "0"));
  },
};

const doubleType: ColumnType = {
  schema: { type: "DOUBLE" },
  delta: "double",
  convert: (value) => (typeof value === "string" ? undefined : Number(value)),
};

/** The types to try for a column, best first. A column that none fits is text. */
const candidateTypes: Readonly<Record<ReadableColumn["type"], readonly ColumnType[]>> = {
  text: [],
  json: [],
  timestamp: [timestampType],
  date: [dateType],
  boolean: [booleanType],
  integer: [integerType, decimalType, doubleType],
  number: [decimalType, doubleType],
  any: [dateType, timestampType, integerType, decimalType, doubleType],
};

/** Reads all rows and returns the best type for each column that fits all its values. @param visit called for each row */
export function findTypes(
  columns: readonly ReadableColumn[],
  batches: Iterable<readonly Row[]>,
  visit?: (row: Row) => void,
): readonly ColumnType[] {
  const remaining = columns.map(({ type }) => [...candidateTypes[type]]);
  // A column of a query result without any value is text.
  const isKnown = columns.map(({ type }) => type !== "any");
  for (const rows of batches)
    for (const row of rows) {
      visit?.(row);
      for (const [index, types] of remaining.entries()) {
        const value = row[index] ?? null;
        if (types.length === 0 || value === null) continue;
        isKnown[index] = true;
        while (types[0] && types[0].convert(value) === undefined) types.shift();
      }
    }
  return remaining.map(([best], index) => (isKnown[index] && best) || textType);
}

/** Limits of a row group, which has to be in memory: rows, and characters of text. */
const groupRows = 20_000;
const groupCharacters = 16e6;

/**
 * Writes one Parquet file: timestamps in microseconds of UTC, days as dates, booleans, integers, amounts as DECIMAL(18, 6) if
 * that fits every value of the column and as DOUBLE otherwise, JSON as text. The rows are read twice: first to find the
 * types, then to write them.
 */
export function* write([source]: RowSources): Iterable<Chunk> {
  const types = findTypes(source.columns, source.rows());
  yield* writeParquetFile(source, types, source.rows());
}

/** The key of the digest in the footer of a file. */
const digestKey = "brandapi.digest";

/** Reads the digest in the footer of a file. Returns undefined if there is no such file, or it has none. */
export async function readDigest(path: string): Promise<string | undefined> {
  const file = await asyncBufferFromFile(path).catch(() => undefined);
  const footer = file && (await parquetMetadataAsync(file).catch(() => undefined));
  return footer?.key_value_metadata?.find(({ key }) => key === digestKey)?.value;
}

/** Writes rows, which can be a part of a table, to one file. @param digest of the rows, for the footer */
export function* writeParquetFile(
  { name, columns }: Pick<RowSource, "name" | "columns">,
  types: readonly ColumnType[],
  batches: Iterable<readonly Row[]>,
  digest?: string,
): Iterable<Chunk> {
  const bytes = new ByteWriter();
  const file = new ParquetWriter({
    writer: bytes,
    schema: [
      { name: "root", num_children: columns.length },
      ...types.map(({ schema }, index) => ({
        name: columns[index]?.name ?? "",
        repetition_type: "OPTIONAL" as const,
        ...schema,
      })),
    ],
    kvMetadata: [
      { key: "brandapi.table", value: name },
      ...(digest === undefined ? [] : [{ key: digestKey, value: digest }]),
    ],
    createdBy: "brandapi",
  });
  let group = types.map((): unknown[] => []);
  let rows = 0;
  let characters = 0;
  const flush = (): Chunk => {
    const columnData = columns.map((column, index) => ({ name: column.name, data: group[index] ?? [] }));
    if (rows > 0) file.write({ columnData, rowGroupSize: rows });
    const chunk = { data: takeBytes(bytes), rows };
    group = types.map(() => []);
    rows = 0;
    characters = 0;
    return chunk;
  };
  for (const batch of batches)
    for (const row of batch) {
      for (const [index, type] of types.entries()) {
        const value = row[index] ?? null;
        if (typeof value === "string") characters += value.length;
        group[index]?.push(value === null ? null : type.convert(value));
      }
      rows += 1;
      if (rows >= groupRows || characters >= groupCharacters) yield flush();
    }
  yield flush();
  file.finish();
  yield { data: takeBytes(bytes), rows: 0 };
}

/** Returns the bytes since the last call. */
function takeBytes(bytes: ByteWriter): Uint8Array {
  const taken = bytes.getBytes().slice();
  bytes.index = 0;
  return taken;
}
