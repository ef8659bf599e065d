import type { RowSource } from "../query/open-rows.js";

export type FormatName = "csv" | "json" | "ndjson" | "xlsx" | "parquet" | "singer";

interface FormatTraits {
  /** The format's name, which is also the name of its flag. */
  name: FormatName;
  about: string;
  /** The file extensions that select the format. In an export to a folder, files get the first extension. */
  extensions: readonly string[];
  /** Additional extensions that are accepted if the format's flag is given. */
  flagOnlyExtensions?: readonly string[];
  /** True if the output can be printed to a terminal and compressed with gzip. */
  isText: boolean;
  isMultiTable: boolean;
}

/** A format for tables and query results. */
interface TableFormat extends FormatTraits {
  name: Exclude<FormatName, "singer">;
  /** Imports the format's module on demand, so that other commands start faster. */
  load(): Promise<{ encode: Encoder }>;
}

/** The format for changes to tables since an earlier export. `createSingerEncoder` returns its encoder. */
interface SingerFormat extends FormatTraits {
  name: "singer";
}

export type Format = TableFormat | SingerFormat;

export const tableFormats: readonly TableFormat[] = [
  {
    name: "csv",
    about: "comma-separated values with a header row",
    extensions: [".csv", ".tsv"],
    isText: true,
    isMultiTable: false,
    load: () => import("./csv.js"),
  },
  {
    name: "json",
    about: "one array of records, as returned by the API",
    extensions: [".json"],
    isText: true,
    isMultiTable: false,
    load: () => import("./json.js"),
  },
  {
    name: "ndjson",
    about: "one record per line, as returned by the API",
    extensions: [".ndjson", ".jsonl"],
    isText: true,
    isMultiTable: false,
    load: () => import("./ndjson.js"),
  },
  {
    name: "xlsx",
    about: "a workbook, one sheet per table",
    extensions: [".xlsx"],
    isText: false,
    isMultiTable: true,
    load: () => import("./xlsx.js"),
  },
  {
    name: "parquet",
    about: "for DuckDB, Spark, BigQuery and others",
    extensions: [".parquet"],
    isText: false,
    isMultiTable: false,
    load: () => import("./parquet.js"),
  },
];

const singerFormat: SingerFormat = {
  name: "singer",
  about: "messages for Singer and Meltano targets",
  extensions: [],
  flagOnlyExtensions: [".ndjson", ".jsonl"],
  isText: true,
  isMultiTable: true,
};

/** The formats of `export`. The help lists them in this order. */
export const formats: readonly Format[] = [...tableFormats, singerFormat];

/** Converts tables to the output format, in chunks. Keeps only a few batches of rows in memory. */
export type Encoder = (sources: RowSources, options: EncoderOptions) => Iterable<Chunk>;

/** The tables to export. Unless `isMultiTable` is true for the format, this is a single table. */
export type RowSources = readonly [RowSource, ...RowSource[]];

export interface CsvOptions {
  excel: boolean;
  decimalComma: boolean;
  delimiter: string;
}

export interface EncoderOptions {
  /** The options for CSV, which other formats ignore. */
  csv: CsvOptions;
  warn(text: string): void;
}

export interface Chunk {
  data: Uint8Array | string;
  /** The number of rows in this chunk, and the name of their table. Both are omitted if the chunk contains no rows. */
  rows?: number;
  table?: string;
}
