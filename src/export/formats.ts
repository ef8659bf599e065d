import type { Bookmark } from "../query/changed-rows.js";
import type { RowSource } from "../query/select.js";

/** A piece of an export's output. */
export interface Chunk {
  data: Uint8Array | string;
  /** The number of rows that end in this part. */
  rows: number;
  /** The name of the row source. Optional if there is only one. */
  table?: string;
}

export interface FormatOptions {
  excel: boolean;
  /** For CSV: decimal commas in numbers. */
  decimalComma?: boolean;
  /** For CSV: the delimiter. Default: a comma. */
  delimiter?: string;
  /** For Singer: the bookmarks of the last state. */
  bookmarks?: Readonly<Bookmarks> | undefined;
  warn(text: string): void;
}

/** The state of a Singer export: for each stream a bookmark and a hash of its columns. */
export type Bookmarks = Record<string, Bookmark & { columns: string }>;

export type RowSources = readonly [RowSource, ...RowSource[]];

/** Generates the output for rows. Keeps only a few batches in memory. */
export type Writer = (sources: RowSources, options: FormatOptions) => Iterable<Chunk>;

/** An export format. Its module exports the writer as `write`. */
export interface Format {
  name: string;
  flag: string;
  about: string;
  /** The extensions of `-o` that choose the format. Files in a folder get the first one. */
  extensions: readonly string[];
  /** Extensions of other formats that are allowed if the flag is given. */
  alsoExtensions: readonly string[];
  /** True if the output can be printed on a terminal and compressed (`.gz`). */
  isText: boolean;
  /** True if one file can contain several tables. */
  holdsMany: boolean;
  /** Imports the module of the format on demand, which keeps other commands fast. */
  load(): Promise<{ write: Writer }>;
}

/** The export formats, in the order of the help. */
export const formats: readonly Format[] = [
  define("csv", "comma-separated values, with a header", [".csv", ".tsv"], () => import("./csv.js")),
  define("json", "one array of records, as returned by the API", [".json"], () => import("./json.js")),
  define(
    "ndjson",
    "one record per line, as returned by the API",
    [".ndjson", ".jsonl"],
    () => import("./ndjson.js"),
  ),
  define("xlsx", "a workbook, one sheet per table", [".xlsx"], () => import("./xlsx.js"), {
    isText: false,
    holdsMany: true,
  }),
  define("parquet", "for DuckDB, Spark, BigQuery and others", [".parquet"], () => import("./parquet.js"), {
    isText: false,
  }),
  define("singer", "messages for Singer and Meltano targets", [], () => import("./singer.js"), {
    alsoExtensions: [".ndjson", ".jsonl"],
    holdsMany: true,
  }),
];

/** Returns a text format with one table per file. `options` overrides that. */
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
    holdsMany: false,
    load,
    ...options,
  };
}
