import { ByteWriter, ParquetWriter } from "hyparquet-writer";
import type { ReadableColumn, Row, RowValue, Source } from "../../query/index.js";
import type { Chunk } from "../format.js";
import {
  asDay,
  asDecimal,
  asMicroseconds,
  decimalDigits,
  findStoredTypes,
  type StoredType,
} from "../stored-types.js";

/** A row group is held until it is whole: so many rows, or about so many letters. */
const groupRows = 20_000;
const groupLetters = 16e6;

/** What tells a file of this program's from any other, in the file's own metadata. */
export const ownMark = "brandapi.table";

/** A file's columns, settled before its first row. */
export interface Layout {
  name: string;
  columns: readonly ReadableColumn[];
  types: readonly StoredType[];
}

type SchemaElement = ConstructorParameters<typeof ParquetWriter>[0]["schema"][number];

/**
 * Parquet: timestamps in microseconds of UTC, days as dates, booleans, whole numbers, amounts as DECIMAL(18, 6) where
 * every value of the column has a place in it and as DOUBLE otherwise; JSON is text. The rows are read twice: first to
 * find the types, then to be written.
 */
export function* write(source: Source): Iterable<Chunk> {
  const layout = yield* layOut(source);
  yield* writeRows(layout, source.rows("values"));
}

/** Finds the types; the pieces that it yields are empty. */
export function* layOut(source: Source): Generator<Chunk, Layout> {
  const types = yield* findStoredTypes(source);
  return { name: source.name, columns: source.columns, types };
}

/** One file of rows that are laid out so. */
export function* writeRows(
  { name, columns, types }: Layout,
  batches: Iterable<readonly Row[]>,
): Iterable<Chunk> {
  const bytes = new ByteWriter();
  const file = new ParquetWriter({
    writer: bytes,
    schema: [
      { name: "root", num_children: columns.length },
      ...columns.map((column, index) => schemaOf(column.name, types[index] ?? "text")),
    ],
    kvMetadata: [{ key: ownMark, value: name }],
    createdBy: "brandapi",
  });
  const converters = types.map((type) => convert[type]);
  let group = converters.map((): unknown[] => []);
  let rows = 0;
  let letters = 0;
  const flush = (): Chunk => {
    const columnData = columns.map((column, index) => ({ name: column.name, data: group[index] ?? [] }));
    if (rows > 0) file.write({ columnData, rowGroupSize: rows });
    const chunk = { data: take(bytes), rows };
    group = converters.map(() => []);
    rows = 0;
    letters = 0;
    return chunk;
  };
  for (const batch of batches) {
    for (const row of batch) {
      for (const [index, converter] of converters.entries()) {
        const value = row[index] ?? null;
        if (typeof value === "string") letters += value.length;
        group[index]?.push(value === null ? null : converter(value));
      }
      rows += 1;
      if (rows >= groupRows || letters >= groupLetters) yield flush();
    }
    yield { data: "", rows: 0 };
  }
  yield flush();
  file.finish();
  yield { data: take(bytes), rows: 0 };
}

/** What was written since the last time; places in the file are counted on. */
function take(bytes: ByteWriter): Uint8Array {
  const taken = bytes.getBytes().slice();
  bytes.index = 0;
  return taken;
}

const convert: Readonly<Record<StoredType, (value: Exclude<RowValue, null>) => unknown>> = {
  text: (value) => String(value),
  timestamp: (value) => asMicroseconds(String(value)),
  date: (value) => asDay(String(value)),
  boolean: (value) => value === 1,
  integer: (value) => BigInt(value),
  decimal: (value) => asDecimal(value),
  double: (value) => Number(value),
};

const physical: Readonly<Record<StoredType, Omit<SchemaElement, "name">>> = {
  text: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  timestamp: {
    type: "INT64",
    converted_type: "TIMESTAMP_MICROS",
    logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MICROS" },
  },
  date: { type: "INT32", converted_type: "DATE" },
  boolean: { type: "BOOLEAN" },
  integer: { type: "INT64" },
  decimal: { type: "INT64", converted_type: "DECIMAL", ...decimalDigits },
  double: { type: "DOUBLE" },
};

function schemaOf(name: string, type: StoredType): SchemaElement {
  return { name, repetition_type: "OPTIONAL", ...physical[type] };
}
