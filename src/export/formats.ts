import type { RowSource } from "../query/select.js";
import type { Bookmark } from "./changed-rows.js";

export interface Chunk {
  data: Uint8Array | string;
  /** The number of rows that end in this chunk. */
  rows: number;
  /** The name of the table, which can be omitted if only one table is exported. */
  table?: string;
}

export interface FormatOptions {
  excel: boolean;
  decimalComma?: boolean;
  /** The CSV delimiter, which is a comma by default. */
  delimiter?: string;
  /** The state from the previous Singer export. */
  bookmarks?: Readonly<Bookmarks> | undefined;
  warn(text: string): void;
}

/** The Singer state: for each stream, a bookmark and a hash of its columns. */
export type Bookmarks = Record<string, Bookmark & { columns: string }>;

export type RowSources = readonly [RowSource, ...RowSource[]];

/** Generates the output in chunks. Keeps only a few batches of rows in memory. */
export type Writer = (sources: RowSources, options: FormatOptions) => Iterable<Chunk>;

/** An export format. Its module exports the writer as `write`. */
interface FormatOf<Name extends string> {
  name: Name;
  flag: string;
  about: string;
  /** The file extensions that select the format. Files in a folder get the first extension. */
  extensions: readonly string[];
  /** Other extensions that are accepted if the format's flag is given. */
  alsoExtensions: readonly string[];
  /** True if the output can be printed to a terminal and compressed with gzip. */
  isText: boolean;
  isMultiTable: boolean;
  /** Imports the format's module only when needed, so that other commands start faster. */
  load(): Promise<{ write: Writer }>;
}

/** The export formats, in the order in which the help lists them. */
export const formats = [
  defineFormat("csv", "comma-separated values with a header row", [".csv", ".tsv"], () => import("./csv.js")),
  defineFormat("json", "one array of records, as returned by the API", [".json"], () => import("./json.js")),
  defineFormat(
    "ndjson",
    "one record per line, as returned by the API",
    [".ndjson", ".jsonl"],
    () => import("./ndjson.js"),
  ),
  defineFormat("xlsx", "a workbook, one sheet per table", [".xlsx"], () => import("./xlsx.js"), {
    isText: false,
    isMultiTable: true,
  }),
  defineFormat(
    "parquet",
    "for DuckDB, Spark, BigQuery and others",
    [".parquet"],
    () => import("./parquet.js"),
    {
      isText: false,
    },
  ),
  defineFormat("singer", "messages for Singer and Meltano targets", [], () => import("./singer.js"), {
    alsoExtensions: [".ndjson", ".jsonl"],
    isMultiTable: true,
  }),
];

export type FormatName = (typeof formats)[number]["name"];
export type Format = FormatOf<FormatName>;

/** Defines a format, by default a text format with one table per file. */
function defineFormat<Name extends string>(
  name: Name,
  about: string,
  extensions: readonly string[],
  load: FormatOf<Name>["load"],
  options: Partial<FormatOf<Name>> = {},
): FormatOf<Name> {
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
