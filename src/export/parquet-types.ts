import type { ParquetWriter } from "hyparquet-writer";
import { daysSince1970, readTimestamp } from "../lib/timestamp.js";
import type { ReadableColumn, Row, RowValue } from "../query/index.js";

type Value = Exclude<RowValue, null>;
export type SchemaElement = ConstructorParameters<typeof ParquetWriter>[0]["schema"][number];

/** How Parquet stores a column. */
export interface StoredType {
  schema: Omit<SchemaElement, "name">;
  /** Its name in a Delta table's schema. */
  delta: string;
  /** Returns the value as it is stored; undefined if the type has no place for it. */
  convert(value: Value): unknown;
}

const text: StoredType = {
  schema: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  delta: "string",
  convert: String,
};

const timestamp: StoredType = {
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

const date: StoredType = {
  schema: { type: "INT32", converted_type: "DATE" },
  delta: "date",
  convert: (value) => (typeof value === "string" ? daysSince1970(value) : undefined),
};

const boolean: StoredType = {
  schema: { type: "BOOLEAN" },
  delta: "boolean",
  convert: (value) => (value === 0 || value === 1 ? value === 1 : undefined),
};

const integer: StoredType = {
  schema: { type: "INT64" },
  delta: "long",
  convert(value) {
    if (typeof value === "bigint") return value;
    return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  },
};

/** Sums of amounts are rounded to six digits. One scale for all files, because a reader takes several as one table. */
const [precision, scale] = [18, 6];

const decimal: StoredType = {
  schema: { type: "INT64", converted_type: "DECIMAL", precision, scale },
  delta: `decimal(${precision},${scale})`,
  convert(value) {
    const [, whole, fraction = ""] = /^(-?\d{1,12})(?:\.(\d{1,6}))?$/.exec(String(value)) ?? [];
    if (typeof value === "string" || whole === undefined) return undefined;
    return BigInt(whole + fraction.padEnd(scale, "0"));
  },
};

const double: StoredType = {
  schema: { type: "DOUBLE" },
  delta: "double",
  convert: (value) => (typeof value === "string" ? undefined : Number(value)),
};

/** The types that a column of each kind can have, the best first; text takes what is left. */
const candidates: Readonly<Record<ReadableColumn["type"], readonly StoredType[]>> = {
  text: [],
  json: [],
  timestamp: [timestamp],
  date: [date],
  boolean: [boolean],
  integer: [integer, decimal, double],
  number: [decimal, double],
  any: [date, timestamp, integer, decimal, double],
};

/** Reads all rows, visits each, and returns for each column the best type that has a place for every value. */
export function findTypes(
  columns: readonly ReadableColumn[],
  batches: Iterable<readonly Row[]>,
  visit?: (row: Row) => void,
): readonly StoredType[] {
  const open = columns.map(({ type }) => [...candidates[type]]);
  // An expression without a single value is text.
  const isKnown = columns.map(({ type }) => type !== "any");
  for (const rows of batches)
    for (const row of rows) {
      visit?.(row);
      for (const [index, types] of open.entries()) {
        const value = row[index] ?? null;
        if (types.length === 0 || value === null) continue;
        isKnown[index] = true;
        while (types[0] && types[0].convert(value) === undefined) types.shift();
      }
    }
  return open.map(([best], index) => (isKnown[index] && best) || text);
}
