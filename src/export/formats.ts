import type { RowSource } from "../query/select.js";
import type { Bookmark } from "./changed-rows.js";

/** A piece of an export's output. */
export interface Chunk {
  data: Uint8Array | string;
  /** The number of rows that end in this piece. */
  rows: number;
  /** The name of the row source; can be omitted if there is only one. */
  table?: string;
}

export interface FormatOptions {
  excel: boolean;
  decimalComma?: boolean;
  /** The CSV delimiter; a comma by default. */
  delimiter?: string;
  /** The Singer state. */
  bookmarks?: Readonly<Bookmarks> | undefined;
  warn(text: string): void;
}

/** A bookmark and a hash of the columns for each Singer stream. */
export type Bookmarks = Record<string, Bookmark & { columns: string }>;

export type RowSources = readonly [RowSource, ...RowSource[]];

/** Generates the output. Keeps only a few batches in memory. */
export type Writer = (sources: RowSources, options: FormatOptions) => Iterable<Chunk>;

/** An export format. Its module exports the writer as `write`. */
export interface Format {
  name: string;
  flag: string;
  about: string;
  /** The `-o` extensions that select the format. Files in a folder get the first extension. */
  extensions: readonly string[];
  /** Other extensions that are allowed if the flag is given. */
  alsoExtensions: readonly string[];
  /** True if the output can be printed to a terminal and compressed (`.gz`). */
  isText: boolean;
  /** True if one file can contain several tables. */
  isMultiTable: boolean;
  /** Imports the format's module on demand, so that other commands start fast. */
  load(): Promise<{ write: Writer }>;
}

/** The export formats, in the order in which the help lists them. */
export const formats: readonly Format[] = [
  define("csv", "comma-separated values with a header row", [".csv", ".tsv"], () => import("./csv.js")),
  define("json", "one array of records, as returned by the API", [".json"], () => import("./json.js")),
  define(
    "ndjson",
    "one record per line, as returned by the API",
    [".ndjson", ".jsonl"],
    () => import("./ndjson.js"),
  ),
  define("xlsx", "a workbook, one sheet per table", [".xlsx"], () => import("./xlsx.js"), {
    isText: false,
    isMultiTable: true,
  }),
  define("parquet", "for DuckDB, Spark, BigQuery and others", [".parquet"], () => import("./parquet.js"), {
    isText: false,
  }),
  define("singer", "messages for Singer and Meltano targets", [], () => import("./singer.js"), {
    alsoExtensions: [".ndjson", ".jsonl"],
    isMultiTable: true,
  }),
];

/** Defines a format. By default, it is a text format with one table per file. */
function define(
  name: string,
  about: string,
  extensions: readonly string[],
  load: Format["load"],
  options: Partial<Format> = {},
): Format {
  return {
    name,
    flag: `--${name}`,
    about,
    extensions,
    alsoExtensions: [],
    isText: true,
    isMultiTable: false,
    load,
    ...options,
  };
}
