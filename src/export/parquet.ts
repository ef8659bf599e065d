import { ByteWriter, ParquetWriter } from "hyparquet-writer";
import type { Row, RowValue } from "../query/open-rows.js";
import type { Column } from "../resources/table-shape.js";
import { dayMs, daysSince1970, formatUtc, parseTimestampParts } from "../util/timestamps.js";
import type { Chunk, RowSources } from "./formats.js";

type Value = Exclude<RowValue, null>;
export type SchemaElement = ConstructorParameters<typeof ParquetWriter>[0]["schema"][number];

export interface ColumnType {
  schema: Omit<SchemaElement, "name">;
  /** The type's name in the schema of a Delta table. */
  delta: string;
  /**
   * Converts a value to its form in the file. Returns undefined if the type cannot represent the value.
   */
  convert(value: Value): unknown;
  /** Converts a stored value back to its original form, rounded to the precision of the column's type. */
  revert(stored: unknown): Value;
}

const textType: ColumnType = {
  schema: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  delta: "string",
  convert: String,
  revert: String,
};

const timestampType: ColumnType = {
  schema: {
    type: "INT64",
    converted_type: "TIMESTAMP_MICROS",
    logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MICROS" },
  },
  delta: "timestamp",
  convert(value) {
    const timestamp = typeof value === "string" ? parseTimestampParts(value) : undefined;
    return timestamp && BigInt(timestamp.ms) * 1_000n + BigInt(timestamp.micros);
  },
  revert(stored) {
    const all = BigInt(String(stored));
    const micros = ((all % 1_000n) + 1_000n) % 1_000n;
    return formatUtc({ ms: Number((all - micros) / 1_000n), micros: Number(micros) });
  },
};

const dateType: ColumnType = {
  schema: { type: "INT32", converted_type: "DATE" },
  delta: "date",
  convert: (value) => (typeof value === "string" ? daysSince1970(value) : undefined),
  revert: (stored) => new Date(Number(stored) * dayMs).toISOString().slice(0, 10),
};

const booleanType: ColumnType = {
  schema: { type: "BOOLEAN" },
  delta: "boolean",
  convert: (value) => (value === 0 || value === 1 ? value === 1 : undefined),
  revert: Number,
};

const integerType: ColumnType = {
  schema: { type: "INT64" },
  delta: "long",
  convert(value) {
    if (typeof value === "bigint") return value;
    return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  },
  revert: Number,
};

/**
 * All decimal columns in all files have the same precision and scale, because readers combine the files into one table.
 */
const [precision, scale] = [18, 6];

const decimalType: ColumnType = {
  schema: { type: "INT64", converted_type: "DECIMAL", precision, scale },
  delta: `decimal(${precision},${scale})`,
  convert(value) {
    const [, whole, fraction = ""] = /^(-?\d{1,12})(?:\.(\d{1,6}))?$/.exec(String(value)) ?? [];
    if (typeof value === "string" || whole === undefined) return undefined;
    return BigInt(whole + fraction.padEnd(scale, "0"));
  },
  revert: (stored) => Number(stored) / 10 ** scale,
};

const doubleType: ColumnType = {
  schema: { type: "DOUBLE" },
  delta: "double",
  convert: (value) => (typeof value === "string" ? undefined : Number(value)),
  revert: Number,
};

const allTypes = [textType, timestampType, dateType, booleanType, integerType, decimalType, doubleType];

export function typeOfDelta(name: string): ColumnType {
  return allTypes.find(({ delta }) => delta === name) ?? textType;
}

/** The types to try for each column, in order of preference. If none of them fits, the column is stored as text. */
const candidateTypes: Readonly<Record<Column["type"], readonly ColumnType[]>> = {
  text: [],
  json: [],
  timestamp: [timestampType],
  date: [dateType],
  boolean: [booleanType],
  integer: [integerType, decimalType, doubleType],
  number: [decimalType, doubleType],
  any: [dateType, timestampType, integerType, decimalType, doubleType],
};

/**
 * Returns the types to which an existing column can change. A `long` column cannot become a decimal, because a `long`
 * can have more digits than a decimal.
 */
function widerTypes(current: ColumnType): readonly ColumnType[] {
  if (current === integerType) return [integerType, doubleType];
  if (current === decimalType) return [decimalType, doubleType];
  return [current];
}

/** Finds, for each column, the first candidate type that fits all of its values. */
export class TypeFinder {
  readonly #candidates: ColumnType[][];
  /**
   * False for a column of a query result until a non-null value is found. A column that contains only nulls is stored
   * as text.
   */
  readonly #isKnown: boolean[];

  /** @param currentType returns a column's type in existing files, which can be widened but not narrowed */
  constructor(columns: readonly Column[], currentType?: (column: string) => ColumnType | undefined) {
    this.#isKnown = columns.map(({ type }) => type !== "any");
    this.#candidates = columns.map(({ name, type }) => {
      const current = currentType?.(name);
      const candidates = candidateTypes[type];
      return current ? widerTypes(current).filter((wider) => candidates.includes(wider)) : [...candidates];
    });
  }

  add(row: Row): void {
    for (const [index, types] of this.#candidates.entries()) {
      const value = row[index] ?? null;
      if (value === null) continue;
      this.#isKnown[index] = true;
      // Check every type, because a value that fits one type does not necessarily fit all later types in the list.
      const fits = (type: ColumnType) => type.convert(value) !== undefined;
      if (!types.every(fits)) this.#candidates[index] = types.filter(fits);
    }
  }

  types(): readonly ColumnType[] {
    return this.#candidates.map(([best], index) => (this.#isKnown[index] && best) || textType);
  }
}

/** The maximum number of rows and characters in a row group. Each row group is built in memory. */
const groupRows = 20_000;
const groupCharacters = 16e6;

/** Reads the rows twice: first to determine the column types, then to encode the rows. */
export function* encode([source]: RowSources): Iterable<Chunk> {
  const finder = new TypeFinder(source.columns);
  for (const rows of source.batches()) for (const row of rows) finder.add(row);
  yield* encodeParquet(source, finder.types(), source.batches());
}

/** A key and its value in the footer of a Parquet file. */
interface FooterEntry {
  key: string;
  value: string;
}

/** Encodes rows as a Parquet file. */
export function* encodeParquet(
  source: { name: string; columns: readonly { name: string }[] },
  types: readonly ColumnType[],
  batches: Iterable<readonly Row[]>,
  footer: readonly FooterEntry[] = [],
): Iterable<Chunk> {
  const encoder = new ParquetEncoder(source.name, source.columns, types, footer);
  for (const batch of batches) yield* encoder.add(batch);
  yield encoder.finish();
}

/** Encodes the rows of one file. Keeps only the current row group in memory. */
export class ParquetEncoder {
  readonly #bytes = new ByteWriter();
  readonly #file: ParquetWriter;
  #group: unknown[][];
  #rows = 0;
  #characters = 0;

  constructor(
    private readonly table: string,
    private readonly columns: readonly { name: string }[],
    private readonly types: readonly ColumnType[],
    footer: readonly FooterEntry[] = [],
  ) {
    this.#group = types.map(() => []);
    this.#file = new ParquetWriter({
      writer: this.#bytes,
      schema: [
        { name: "root", num_children: columns.length },
        ...types.map(({ schema }, index) => ({
          name: columns[index]?.name ?? "",
          repetition_type: "OPTIONAL" as const,
          ...schema,
        })),
      ],
      kvMetadata: [{ key: "brandapi.table", value: table }, ...footer],
      createdBy: "brandapi",
    });
  }

  *add(batch: readonly Row[]): Iterable<Chunk> {
    for (const row of batch) {
      for (const [index, type] of this.types.entries()) {
        const value = row[index] ?? null;
        if (typeof value === "string") this.#characters += value.length;
        this.#group[index]?.push(value === null ? null : type.convert(value));
      }
      this.#rows += 1;
      if (this.#rows < groupRows && this.#characters < groupCharacters) continue;
      const rows = this.#endGroup();
      yield { data: takeBytes(this.#bytes), rows, table: this.table };
    }
  }

  finish(): Chunk {
    const rows = this.#endGroup();
    this.#file.finish();
    return { data: takeBytes(this.#bytes), rows, table: this.table };
  }

  #endGroup(): number {
    const rows = this.#rows;
    const columnData = this.columns.map(({ name }, index) => ({ name, data: this.#group[index] ?? [] }));
    if (rows > 0) this.#file.write({ columnData, rowGroupSize: rows });
    this.#group = this.types.map(() => []);
    this.#rows = 0;
    this.#characters = 0;
    return rows;
  }
}

/** Returns the bytes that were written since the previous call. */
function takeBytes(bytes: ByteWriter): Uint8Array {
  const taken = bytes.getBytes().slice();
  bytes.index = 0;
  return taken;
}
